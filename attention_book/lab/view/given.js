// @ts-check
// A trace that was given: shown as it is, and driven on from its query, key and value.

import { hideLater, softmax } from "../attention.js";
import { joinHeads } from "../projection.js";
import { rowsTimesRows, tensor, transpose } from "../tensor.js";
import { mapOf } from "../cells.js";

/** @typedef {import("../modules.js").Trace} Trace */
/** @typedef {import("../state.js").State} State */
/** @typedef {import("../tensor.js").Tensor} Tensor */
/** @typedef {import("./lock.js").Given} Given */

const NAMES = /** @type {const} */ (["query", "key", "value", "scores", "scaled", "masked", "weights", "output"]);

/** As tensors; a step that follows from another is made of it, as `attention_book.lab.packed` says. @param {Given} given @returns {Trace} */
export function traceOf(given) {
    const steps = /** @type {Trace} */ ({ tokens: given.tokens, scale: given.scale, parameters: {} });
    for (const name of NAMES) {
        const step = given[name];
        steps[name] = "is" in step ? derived(steps[step.is], step) : tensor(step.shape, new Float32Array(bytesOf(step.data).buffer));
    }
    return { ...steps, x: steps.query };
}

/** @param {Tensor} from @param {import("./lock.js").Derived} how @returns {Tensor} */
function derived({ shape, data }, { times, hidden }) {
    const factor = Math.fround(times ?? 1);
    const made = tensor(shape, times === undefined ? data : data.map((number) => number * factor));
    if (hidden === "later") return hideLater(made);
    if (hidden === undefined) return made;
    const bits = bytesOf(hidden);
    return tensor(shape, made.data.map((number, i) => ((bits[i >> 3] >> (i & 7)) & 1 ? -Infinity : number)));
}

/** In a loop: `Uint8Array.from` with a function took seconds for a large trace. @param {string} base64 @returns {Uint8Array} */
function bytesOf(base64) {
    const characters = atob(base64);
    const bytes = new Uint8Array(characters.length);
    for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i);
    return bytes;
}

/**
 * The given numbers where the switches stand as they stood; else what follows from the given scores, mask and values.
 * @param {Trace} given @param {State} first @param {State} state @returns {Trace}
 */
export function driven(given, first, state) {
    if (state.causal === first.causal && state.scale === first.scale && state.temperature === first.temperature) return given;
    const { scores, value, weights: traced } = given;
    const scale = (state.scale ? given.scale : 1) / state.temperature;
    const scaled = tensor(scores.shape, scores.data.map((score) => score * Math.fround(scale)));
    const masked = tensor(scores.shape, scaled.data.map((score, i) => (state.causal && given.masked.data[i] === -Infinity ? -Infinity : score)));
    const weights = softmax(masked);
    const trace = { ...given, scale, scaled, masked, weights };
    const heads = traced.shape.length > 2 ? traced.shape[0] : 1;
    const [n, e] = [traced.shape[traced.shape.length - 2], value.shape[value.shape.length - 1]];
    const context = tensor([heads, n, e]);
    for (let h = 0; h < heads; h++) context.data.set(rowsTimesRows(mapOf(trace, "weights", h), transpose(valueOf(value, h))).data, h * n * e);
    return { ...trace, output: joinHeads(context) };
}

/** @param {Tensor} value @param {number} h @returns {Tensor} */
function valueOf({ shape, data }, h) {
    const [n, e] = shape.slice(-2);
    const start = shape.length > 2 ? h * n * e : 0;
    return tensor([n, e], data.subarray(start, start + n * e));
}
