// @ts-check
// Query, key and value of each class: its layers, drawn in the order in which PyTorch constructs them.

import { Generator } from "./generator.js";
import { linear, rand } from "./random.js";
import { rowsTimesRows, tensor, transpose } from "./tensor.js";

/** @typedef {import("./tensor.js").Tensor} Tensor */
/** @typedef {import("./modules.js").Settings} Settings */
/** @typedef {{parameters: Record<string, Tensor>, query: Tensor, key: Tensor, value: Tensor}} Projected */

const LAYERS = ["W_query", "W_key", "W_value"];

/**
 * Draws a class's parameters and projects the tokens.
 *
 * @param {Generator} generator @param {Tensor} x `(n, d)` @param {Settings} settings @returns {Projected}
 */
export function projection(generator, x, { example, attention, d_model, d_out: narrow, heads }) {
    const width = example === "journey" ? narrow : d_model;
    const three = (/** @type {string} */ before) => linears(generator, x, width, before);
    switch (attention) {
        case "simple":
            return { parameters: {}, query: x, key: x, value: x };
        case "SelfAttention_v1":
            return matrices(generator, x, width);
        case "SelfAttention_v2":
        case "CausalAttention":
            return three("");
        case "MultiHeadAttentionWrapper":
            return stack(Array.from({ length: heads }, (_, h) => three(`heads.${h}.`)));
        case "MultiHeadAttention":
            return split(generator, three(""), width, heads, example === "journey");
        default:
            throw new RangeError(`attention is ${JSON.stringify(attention)}; give one of the book's classes, or simple`);
    }
}

/** `nn.Parameter(torch.rand(d_in, d_out))` three times. @param {Generator} generator @param {Tensor} x @param {number} width @returns {Projected} */
function matrices(generator, x, width) {
    const drawn = LAYERS.map((name) => [name, rand(generator, [x.shape[1], width])]);
    return named(Object.fromEntries(drawn), (name) => rowsTimesRows(x, transpose(Object.fromEntries(drawn)[name])));
}

/**
 * `nn.Linear(d_in, d_out, bias=False)` three times.
 *
 * @param {Generator} generator @param {Tensor} x @param {number} width @param {string} before the names @returns {Projected}
 */
function linears(generator, x, width, before) {
    /** @type {Record<string, Tensor>} */
    const parameters = {};
    for (const name of LAYERS) parameters[`${before}${name}.weight`] = linear(generator, x.shape[1], width, false).weight;
    return named(parameters, (name) => rowsTimesRows(x, parameters[`${before}${name}.weight`]));
}

/** @param {Record<string, Tensor>} parameters @param {(name: string) => Tensor} project @returns {Projected} */
function named(parameters, project) {
    const [query, key, value] = LAYERS.map(project);
    return { parameters, query, key, value };
}

/** Separate heads side by side, `(h, n, d)`. @param {Projected[]} heads @returns {Projected} */
function stack(heads) {
    const joined = (/** @type {"query" | "key" | "value"} */ name) => {
        const all = tensor([heads.length, ...heads[0][name].shape]);
        heads.forEach((head, h) => all.data.set(head[name].data, h * head[name].data.length));
        return all;
    };
    const parameters = Object.assign({}, ...heads.map((head) => head.parameters));
    return { parameters, query: joined("query"), key: joined("key"), value: joined("value") };
}

/**
 * One projection cut into heads, and the last layer, which is drawn after it.
 *
 * @param {Generator} generator @param {Projected} whole @param {number} width @param {number} heads @param {boolean} bias @returns {Projected}
 */
function split(generator, { parameters, query, key, value }, width, heads, bias) {
    if (width % heads) throw new RangeError(`d_out ${width} is not divisible by ${heads} heads; each head takes an equal share of the width`);
    const last = linear(generator, width, width, bias);
    const outProj = { "out_proj.weight": last.weight, ...(last.bias && { "out_proj.bias": last.bias }) };
    const cut = (/** @type {Tensor} */ x) => splitHeads(x, heads);
    return { parameters: { ...parameters, ...outProj }, query: cut(query), key: cut(key), value: cut(value) };
}

/** `(n, h * d)` to `(h, n, d)`. @param {Tensor} x @param {number} heads @returns {Tensor} */
export function splitHeads({ shape: [n, width], data }, heads) {
    const d = width / heads;
    const out = tensor([heads, n, d]);
    for (let h = 0; h < heads; h++) {
        for (let i = 0; i < n; i++) out.data.set(data.subarray(i * width + h * d, i * width + (h + 1) * d), (h * n + i) * d);
    }
    return out;
}

/** `(h, n, d)` to `(n, h * d)`. @param {Tensor} x @returns {Tensor} */
export function joinHeads({ shape: [heads, n, d], data }) {
    const out = tensor([n, heads * d]);
    for (let h = 0; h < heads; h++) {
        for (let i = 0; i < n; i++) out.data.set(data.subarray((h * n + i) * d, (h * n + i + 1) * d), (i * heads + h) * d);
    }
    return out;
}
