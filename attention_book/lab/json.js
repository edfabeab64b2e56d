// @ts-check
// A trace as one line of JSON, as attention_book.Trace.to_json writes it.

import { repr } from "./python.js";

/** @typedef {import("./modules.js").Trace} Trace */
/** @typedef {import("./tensor.js").Tensor} Tensor */

const STEPS = /** @type {const} */ (["query", "key", "value", "scores", "scaled", "masked", "weights", "output"]);

/**
 * Each tensor as its shape and its numbers, row by row; JSON has no infinity and no NaN, so they stand as "-inf", "inf" and "nan".
 * @param {Trace} trace @returns {string}
 */
export function json(trace) {
    const tokens = trace.tokens.map((token) => JSON.stringify(token)).join(", ");
    const steps = STEPS.map((name) => `"${name}": ${written(trace[name])}`).join(", ");
    return `{"tokens": [${tokens}], ${steps}, "scale": ${number(trace.scale)}}`;
}

/** @param {Tensor} tensor */
function written({ shape, data }) {
    return `{"shape": [${shape.join(", ")}], "data": [${Array.from(data, number).join(", ")}]}`;
}

/** @param {number} value */
function number(value) {
    return Number.isFinite(value) ? repr(value) : Number.isNaN(value) ? '"nan"' : value < 0 ? '"-inf"' : '"inf"';
}
