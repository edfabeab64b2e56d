// @ts-check
// One number of one map of a trace.

import { head } from "./attention.js";

/** @typedef {import("./modules.js").Trace} Trace */
/** @typedef {import("./state.js").View} View */
/** @typedef {import("./tensor.js").Tensor} Tensor */

/** The map of one head as a matrix; the output is one for all heads. @param {Trace} trace @param {View} view @param {number} h @returns {Tensor} */
export function mapOf(trace, view, h) {
    return head(trace[view], trace[view].shape.length > 2 ? h : 0);
}

/** One row of a matrix. @param {Tensor} matrix @param {number} row @returns {Float32Array} */
export function rowOf({ shape: [, columns], data }, row) {
    return data.subarray(row * columns, (row + 1) * columns);
}

/** The vector of one token in one head. @param {Tensor} tensor `(n, d)` or `(h, n, d)` @param {number} h @param {number} row @returns {number[]} */
export function vectorAt(tensor, h, row) {
    return Array.from(rowOf(head(tensor, tensor.shape.length > 2 ? h : 0), row));
}

/** @param {Trace} trace @param {View} view @param {number} h @param {number} row @param {number} column @returns {number} */
export function numberAt(trace, view, h, row, column) {
    return rowOf(mapOf(trace, view, h), row)[column];
}

/** Whether a cell of this map shows a key that its query may not look at. @param {Trace} trace @param {View} view @param {number} h @param {number} row @param {number} column */
export function isHidden(trace, view, h, row, column) {
    return (view === "masked" || view === "weights") && numberAt(trace, "masked", h, row, column) === -Infinity;
}
