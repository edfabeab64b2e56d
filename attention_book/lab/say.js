// @ts-check
// A map in words: one cell, and what each query likes most.

import { isHidden, numberAt } from "./cells.js";
import { NAMES } from "./legend.js";
import { fixed } from "./print.js";
import { visible } from "./visible.js";

/** @typedef {import("./modules.js").Trace} Trace */
/** @typedef {import("./state.js").View} View */

/**
 * A cell as a screen reader says it: "query journey, key starts, weight 0.2333".
 * @param {Trace} trace @param {number} h @param {number} row @param {number} column @param {View} view @returns {string}
 */
export function say(trace, h, row, column, view) {
    const number = fixed(numberAt(trace, view, h, row, column));
    const query = `query ${visible(trace.tokens[row])}`;
    if (view === "output") return `${query}, ${NAMES[view]} ${column}, ${number}`;
    const hidden = isHidden(trace, view, h, row, column) ? ", hidden: a later token" : "";
    return `${query}, key ${visible(trace.tokens[column])}, ${NAMES[view]} ${number.replace("-inf", "minus infinity")}${hidden}`;
}

/**
 * For each head and query: the key that it likes most, the first of equals; that key's weight; and the sum of its row.
 * @param {import("./tensor.js").Tensor} weights @returns {{key: number, weight: number, sum: number}[][]}
 */
export function liked(weights) {
    const [rows, columns] = weights.shape.slice(-2);
    const heads = weights.shape.length > 2 ? weights.shape[0] : 1;
    return Array.from({ length: heads }, (_, h) =>
        Array.from({ length: rows }, (_, i) => {
            const row = weights.data.subarray((h * rows + i) * columns, (h * rows + i + 1) * columns);
            let [key, sum] = [0, 0];
            for (let j = 0; j < columns; j++) {
                if (row[j] > row[key]) key = j;
                sum += row[j];
            }
            return { key, weight: row[key], sum };
        }),
    );
}
