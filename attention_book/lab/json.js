// @ts-check
// A trace as one line of JSON, as attention_book.Trace.to_json writes it.

import { repr } from "./python.js";

/** @typedef {import("./modules.js").Trace} Trace */
/** @typedef {import("./tensor.js").Tensor} Tensor */

const STEPS = /** @type {const} */ (["query", "key", "value", "scores", "scaled", "masked", "weights", "output"]);
const PIECE = 1024; // numbers that are joined at once

/**
 * Each tensor as its shape and its numbers, row by row; JSON has no infinity and no NaN, so they stand as "-inf", "inf" and "nan".
 * @param {Trace} trace @returns {string}
 */
export function json(trace) {
    return pieces(trace).join("");
}

/** The same in pieces: all of a large trace are hundreds of megabytes, and a browser holds no text of any length. @param {Trace} trace @returns {string[]} */
export function pieces(trace) {
    const out = [`{"tokens": [${trace.tokens.map((token) => JSON.stringify(token)).join(", ")}]`];
    for (const name of STEPS) {
        out.push(`, "${name}": `);
        write(trace[name], out);
    }
    out.push(`, "scale": ${number(trace.scale)}}`);
    return out;
}

/** @param {Tensor} tensor @param {string[]} out */
function write({ shape, data }, out) {
    out.push(`{"shape": [${shape.join(", ")}], "data": [`);
    for (let start = 0; start < data.length; start += PIECE) {
        out.push(start ? ", " : "", Array.from(data.subarray(start, start + PIECE), number).join(", "));
    }
    out.push("]}");
}

/** @param {number} value */
function number(value) {
    return Number.isFinite(value) ? repr(value) : Number.isNaN(value) ? '"nan"' : value < 0 ? '"-inf"' : '"inf"';
}
