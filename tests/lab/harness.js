// @ts-check
// Runs the lab's engine for the tests: a job in, its answer out, both plain JSON. Numbers travel as their bits.

import { attention, hideLater, softmax } from "/lab/attention.js";
import { fma } from "/lab/fma.js";
import { manualSeed } from "/lab/generator.js";
import { attend, draw, run } from "/lab/modules.js";
import { fixed } from "/lab/print.js";
import { recheck } from "/lab/recheck.js";
import * as random from "/lab/random.js";
import { tensor } from "/lab/tensor.js";
import * as other from "/other_draws.js";

const STEPS = ["x", "query", "key", "value", "scores", "scaled", "masked", "weights", "output"];

/** The bytes of a typed array, in hex. */
const hex = (array) => {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
};
const bytes = (text) => Uint8Array.from({ length: text.length / 2 }, (_, i) => parseInt(text.slice(2 * i, 2 * i + 2), 16)).buffer;
const plain = ({ shape, data }) => ({ shape, hex: hex(data) });
const all = (tensors) => Object.fromEntries(Object.entries(tensors).map(([name, each]) => [name, plain(each)]));

const flat = (count) => [count];
const DRAWS = {
    u64: (g, count) => ({ u64hex: Array.from({ length: count }, () => [g.u32(), g.u32()].map((word) => word.toString(16).padStart(8, "0")).join("")) }),
    rand: (g, ...shape) => plain(random.rand(g, shape)),
    randn: (g, ...shape) => plain(random.randn(g, shape)),
    uniform: (g, count, low, high) => plain(random.uniform(g, flat(count), low, high)),
    normal: (g, count, mean, std) => plain(random.normal(g, flat(count), mean, std)),
    embedding: (g, rows, width) => plain(random.embedding(g, rows, width)),
    dropout_of_ones: (g, count, p) => plain(random.dropout(g, tensor(flat(count), new Float32Array(count).fill(1)), p)),
    dropout: (g, values, p) => plain(random.dropout(g, tensor(flat(values.length), Float32Array.from(values)), p)),
    linear: (g, i, o, bias) => {
        const layer = random.linear(g, i, o, bias);
        return all(layer.bias ? layer : { weight: layer.weight });
    },
    mha: (g, width) => all(other.multiheadAttention(g, width)),
    bernoulli_: (g, count, p) => plain(other.bernoulli(g, count, p)),
    bernoulli_tensor: (g, count, p) => plain(other.bernoulliOfTensor(g, count, p)),
    exponential: (g, count, rate) => plain(other.exponential(g, count, rate)),
    randint: (g, ...range) => ({ int: other.randint(g, ...range) }),
    randperm: (g, n) => ({ int: other.randperm(g, n) }),
    multinomial: (g, p, count) => ({ int: other.multinomial(g, p, count) }),
    old_intel_dropout: (g, count, keep) => ({ int: other.oldIntelDropout(g, count, keep) }),
};

const settingsOf = (settings) => ({ ...settings, seed: BigInt(settings.seed) });
const told = (trace) => ({ tokens: trace.tokens, scale: trace.scale, parameters: all(trace.parameters), ...all(Object.fromEntries(STEPS.map((name) => [name, trace[name]]))) });
/** Additions of which each waits for the one before: about 4 cycles each on any processor, so 15 million take 20 ms at 3 GHz. */
const chain = (length) => {
    let sum = 0.5;
    for (let i = 0; i < length; i++) sum += 1e-9;
    return sum;
};
const caught = (work) => {
    try {
        return work();
    } catch (error) {
        return { complaint: error.message };
    }
};

const JOBS = {
    draws: ({ seed, ops }) => caught(() => {
        const generator = manualSeed(BigInt(seed));
        return ops.map(([name, ...rest]) => DRAWS[name](generator, ...rest));
    }),
    trace: ({ settings }) => caught(() => told(run(settingsOf(settings)))),
    attendAgain: ({ drawn, settings }) => settings.map((each) => told(attend(draw(settingsOf(drawn)), settingsOf(each)))),
    context: ({ settings }) => {
        const { query, key, value, scale } = run(settingsOf(settings));
        return plain(attention({ query, key, value, scale, causal: settings.causal }).output);
    },
    softmax: ({ shape, hex: text }) => plain(softmax(tensor(shape, new Float32Array(bytes(text))))),
    hideLater: ({ shape, hex: text }) => plain(hideLater(tensor(shape, new Float32Array(bytes(text))))),
    fma: ({ a, b, c }) => {
        const [x, y, z] = [a, b, c].map((text) => new Float32Array(bytes(text)));
        return hex(x.map((number, i) => fma(number, y[i], z[i])));
    },
    fixed: ({ hex: text, digits }) => Array.from(new Float64Array(bytes(text)), (number) => fixed(number, digits)),
    recheck: ({ pins }) => Array.from(recheck(pins)),
    worker: ({ settings }) => new Promise((resolve) => {
        const worker = new Worker("/lab/worker.js", { type: "module" });
        worker.onmessage = ({ data }) => {
            worker.terminate();
            resolve({ id: data.id, complaint: data.complaint, output: data.output && plain(data.output.output) });
        };
        worker.postMessage({ id: 7, job: "trace", input: settingsOf(settings) });
    }),
    time: ({ settings, again, rounds }) => {
        const [whole, changes] = [settingsOf(settings), again.map(settingsOf)];
        const drawn = draw(whole);
        const works = {
            run: () => run(whole),
            attend: (i) => attend(drawn, changes[i % changes.length]),
            chain: () => chain(15e6),
        };
        const best = { run: Infinity, attend: Infinity, chain: Infinity };
        for (let i = 0; i < rounds; i++) {
            for (const [name, work] of Object.entries(works)) {
                const start = performance.now();
                work(i);
                best[name] = Math.min(best[name], performance.now() - start);
            }
        }
        return best;
    },
};

/** Does one job. */
export const answer = (job) => JOBS[job.job](job);
