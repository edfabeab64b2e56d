// @ts-check
// Computes the book's pins again and counts how many numbers agree: what is drawn bit for bit, what is computed within rounding.

import { manualSeed } from "./generator.js";
import { run } from "./modules.js";
import { dropout, embedding, linear, normal, rand, randn, uniform } from "./random.js";
import { tensor } from "./tensor.js";

/** @typedef {import("./tensor.js").Tensor} Tensor */
/** @typedef {{shape: number[], data: (number | string)[]}} Plain */
/** @typedef {{seed: string, steps: {line: string, op: [string, ...number[]], tensors: Record<string, Plain>}[]}} DrawPin */
/** @typedef {{name: string, lines: string[], settings: any, scale: number, drawn: Record<string, Plain>, steps: Record<string, Plain>}} TracePin */
/** @typedef {{within: {drawn: number, computed: number}, draws: DrawPin[], traces: TracePin[]}} Pins as `attention_book/lab/pins.py` writes them */
/** @typedef {{name: string, exact: number, near: number, apart: number, first: string}} Found numbers of one pin, and the first that does not agree */

/** @typedef {import("./generator.js").Generator} Generator */

/** @type {Record<string, (generator: Generator, ...sizes: any[]) => Record<string, Tensor>>} */
const DRAWS = {
    rand: (generator, ...shape) => ({ drawn: rand(generator, shape) }),
    randn: (generator, ...shape) => ({ drawn: randn(generator, shape) }),
    uniform: (generator, count, low, high) => ({ drawn: uniform(generator, [count], low, high) }),
    normal: (generator, count, mean, std) => ({ drawn: normal(generator, [count], mean, std) }),
    embedding: (generator, rows, width) => ({ weight: embedding(generator, rows, width) }),
    dropout: (generator, count, p) => ({ drawn: dropout(generator, tensor([count], new Float32Array(count).fill(1)), p) }),
    linear: (generator, i, o, withBias) => {
        const { weight, bias } = linear(generator, i, o, withBias);
        return { weight, ...(bias && { bias }) };
    },
};

/** One pin after the other, so that a page can breathe between them. @param {Pins} pins @returns {Iterable<Found>} */
export function* recheck({ within, draws, traces }) {
    for (const { seed, steps } of draws) {
        const found = nothing(`Draws of seed ${seed}`);
        const generator = manualSeed(BigInt(seed));
        for (const { line, op: [name, ...sizes], tensors } of steps) {
            const own = DRAWS[name](generator, ...sizes);
            for (const part of Object.keys(tensors)) compare(found, part === "drawn" ? line : `${line}.${part}`, own[part], tensors[part], within.drawn);
        }
        yield found;
    }
    for (const { name, settings, drawn, steps } of traces) {
        const found = nothing(name);
        const trace = run({ ...settings, seed: BigInt(settings.seed) });
        /** @type {Record<string, Tensor>} */
        const own = { x: trace.x, ...trace.parameters };
        for (const part of Object.keys(drawn)) compare(found, part, own[part], drawn[part], within.drawn);
        for (const step of /** @type {(keyof typeof trace)[]} */ (Object.keys(steps))) {
            compare(found, step, /** @type {Tensor} */ (trace[step]), steps[step], within.computed);
        }
        yield found;
    }
}

/** @param {string} name @returns {Found} */
function nothing(name) {
    return { name, exact: 0, near: 0, apart: 0, first: "" };
}

/** @param {Found} found @param {string} what @param {Tensor | undefined} own @param {Plain} pinned @param {number} within */
function compare(found, what, own, pinned, within) {
    pinned.data.forEach((written, place) => {
        const right = Math.fround(written === "-inf" ? -Infinity : Number(written));
        const here = own?.data[place];
        if (here !== undefined && Object.is(here, right)) found.exact += 1;
        else if (here !== undefined && Math.abs(here - right) <= within) found.near += 1;
        else {
            found.apart += 1;
            found.first ||= `${what}[${index(place, pinned.shape).join(", ")}] is ${told(here)} here and ${told(right)} in the book`;
        }
    });
}

/** The place of a number, axis by axis. @param {number} place @param {number[]} shape @returns {number[]} */
function index(place, shape) {
    /** @type {number[]} */
    const places = [];
    for (let axis = shape.length - 1, rest = place; axis >= 0; axis--) {
        places.unshift(rest % shape[axis]);
        rest = Math.floor(rest / shape[axis]);
    }
    return places;
}

/** As many digits as tell one float32 from the next. @param {number | undefined} number @returns {string} */
function told(number) {
    return number === undefined ? "missing" : String(Number(number.toPrecision(9)));
}
