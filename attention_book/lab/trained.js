// @ts-check
// The model that says who "it" is: as training left it, and as its seed drew it. The steps are those of `attention_book/trained/export.py`.

import { attention } from "./attention.js";
import { manualSeed } from "./generator.js";
import { joinHeads, splitHeads } from "./projection.js";
import { linear, normal, randn } from "./random.js";
import { rowsTimesRows, tensor } from "./tensor.js";

/** @typedef {import("./tensor.js").Tensor} Tensor */
/** @typedef {{shape: number[], data: string}} Packed float16, the lower byte first, in base64 */
/** @typedef {{words: number, d_model: number, num_heads: number, num_layers: number, context_length: number, epsilon: number, seed: number}} Sizes */
/** @typedef {{config: Sizes, parameters: Record<string, Tensor>}} Model its parameters by their names in PyTorch */
/** @typedef {{probabilities: Float64Array, weights: Tensor[]}} Answer one probability for each word; for each layer the weights `(h, n, n)` */

const PROJECTIONS = ["W_query", "W_key", "W_value", "out_proj"];

/** The model of a file. @param {{config: Sizes, weights: Record<string, Packed>}} content @returns {Model} */
export function trained({ config, weights }) {
    const parameters = Object.fromEntries(Object.entries(weights).map(([name, packed]) => [name, unpack(packed)]));
    return { config, parameters };
}

/** The same model before training, drawn as PyTorch draws it. @param {Sizes} config @returns {Model} */
export function untrained(config) {
    const { words, d_model, num_layers, context_length, seed } = config;
    const generator = manualSeed(BigInt(seed));
    const tables = { "embedding.weight": [words, d_model], "positions.weight": [context_length, d_model] };
    /** @type {Record<string, Tensor>} */
    const parameters = {};
    for (const shape of Object.values(tables)) randn(generator, shape); // `nn.Embedding` draws, and the model draws again over it
    for (const [name, shape] of Object.entries(tables)) parameters[name] = normal(generator, shape, 0, 1 / Math.sqrt(d_model));
    for (let layer = 0; layer < num_layers; layer++) {
        addNorm(parameters, `blocks.${layer}.norm`, d_model);
        for (const name of PROJECTIONS) parameters[`blocks.${layer}.attention.${name}.weight`] = linear(generator, d_model, d_model, false).weight;
    }
    addNorm(parameters, "norm", d_model);
    parameters["unembedding.weight"] = linear(generator, d_model, words, false).weight;
    return { config, parameters };
}

/**
 * What the model answers at the place of "it", and where each head looked.
 *
 * @param {Model} model @param {number[]} ids the words' numbers @param {number} it the place of "it"
 * @param {(layer: number, head: number) => boolean} [off] heads that hand over nothing @returns {Answer}
 */
export function answer({ config, parameters }, ids, it, off = () => false) {
    const { d_model, num_heads, num_layers, context_length, epsilon } = config;
    if (ids.length > context_length) throw new RangeError(`the sentence has ${ids.length} words but the model reads ${context_length}; shorten it`);
    const [embedding, positions] = [parameters["embedding.weight"].data, parameters["positions.weight"].data];
    const x = tensor([ids.length, d_model]);
    ids.forEach((id, i) => {
        for (let d = 0; d < d_model; d++) x.data[i * d_model + d] = embedding[id * d_model + d] + positions[i * d_model + d];
    });
    const weights = [];
    for (let layer = 0; layer < num_layers; layer++) {
        const read = norm(x, parameters, `blocks.${layer}.norm`, epsilon);
        const project = (/** @type {string} */ name, /** @type {Tensor} */ of) => rowsTimesRows(of, parameters[`blocks.${layer}.attention.${name}.weight`]);
        const [query, key, value] = PROJECTIONS.slice(0, 3).map((name) => splitHeads(project(name, read), num_heads));
        const steps = attention({ query, key, value, scale: 1 / Math.sqrt(d_model / num_heads), causal: false });
        const size = steps.output.data.length / num_heads;
        for (let h = 0; h < num_heads; h++) if (off(layer, h)) steps.output.data.fill(0, h * size, (h + 1) * size);
        const found = project("out_proj", joinHeads(steps.output));
        found.data.forEach((number, at) => (x.data[at] += number));
        weights.push(steps.weights);
    }
    const last = norm(tensor([1, d_model], x.data.slice(it * d_model, (it + 1) * d_model)), parameters, "norm", epsilon);
    return { probabilities: shares(rowsTimesRows(last, parameters["unembedding.weight"]).data), weights };
}

/** Each row less its mean, over its spread, times a weight, plus a bias. @param {Tensor} x @param {Record<string, Tensor>} parameters @param {string} name @param {number} epsilon @returns {Tensor} */
function norm({ shape, data }, parameters, name, epsilon) {
    const width = shape[1];
    const [weight, bias] = [parameters[`${name}.weight`].data, parameters[`${name}.bias`].data];
    const out = tensor(shape);
    for (let start = 0; start < data.length; start += width) {
        const row = Array.from(data.subarray(start, start + width));
        const mean = row.reduce((sum, number) => sum + number, 0) / width;
        const spread = Math.sqrt(row.reduce((sum, number) => sum + (number - mean) ** 2, 0) / width + epsilon);
        row.forEach((number, d) => (out.data[start + d] = ((number - mean) / spread) * weight[d] + bias[d]));
    }
    return out;
}

/** Softmax in double: with as many words as a vocabulary has, probabilities are small. @param {Float32Array} scores @returns {Float64Array} */
function shares(scores) {
    const largest = scores.reduce((most, score) => Math.max(most, score), -Infinity);
    const raised = Float64Array.from(scores, (score) => Math.exp(score - largest));
    const sum = raised.reduce((total, each) => total + each, 0);
    return raised.map((each) => each / sum);
}

/** @param {Record<string, Tensor>} parameters @param {string} name @param {number} width */
function addNorm(parameters, name, width) {
    parameters[`${name}.weight`] = tensor([width], new Float32Array(width).fill(1));
    parameters[`${name}.bias`] = tensor([width]);
}

/** @param {Packed} packed @returns {Tensor} */
function unpack({ shape, data }) {
    const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
    const words = new Uint16Array(bytes.length / 2).map((_, i) => bytes[2 * i] | (bytes[2 * i + 1] << 8));
    return tensor(shape, Float32Array.from(words, half));
}

/** The number that 16 bits stand for: 1 of sign, 5 of exponent, 10 of fraction. @param {number} bits @returns {number} */
function half(bits) {
    const [sign, exponent, fraction] = [bits >> 15 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
    if (exponent === 31) return fraction ? NaN : sign * Infinity;
    return sign * (exponent ? (1 + fraction / 1024) * 2 ** (exponent - 15) : fraction * 2 ** -24);
}
