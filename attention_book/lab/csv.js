// @ts-check
// The map on show as a table of comma-separated values (RFC 4180): tokens as headers, numbers as float32.

import { mapOf, rowOf } from "./cells.js";
import { short } from "./python.js";

/** @typedef {import("./modules.js").Trace} Trace */
/** @typedef {import("./state.js").State} State */

// What a spreadsheet would compute; behind apostrophes too, so that taking one away always gives the token back.
const FORMULA = /^[\s\x1c-\x1f\x85']*[=+\-@\t\r\n＝＋－＠]/;

/**
 * @param {Trace} trace @param {Pick<State, "view" | "head">} state @returns {string}
 */
export function csv(trace, { view, head }) {
    const map = mapOf(trace, view, head);
    const columns = view === "output" ? Array.from({ length: map.shape[1] }, (_, c) => `output ${c}`) : trace.tokens;
    const lines = [["query", ...columns.map(field)].join(",")];
    trace.tokens.forEach((token, i) => lines.push([field(token), ...Array.from(rowOf(map, i), written)].join(",")));
    return lines.map((line) => `${line}\r\n`).join("");
}

/**
 * A text as one field. An apostrophe before it keeps a spreadsheet from computing it; half a surrogate pair, which no file can hold, stands as <U+D800>.
 * @param {string} text @returns {string}
 */
export function field(text) {
    const safe = (FORMULA.test(text) ? `'${text}` : text).replace(/\p{Cs}/gu, (half) => `<U+${half.charCodeAt(0).toString(16).toUpperCase()}>`);
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** @param {number} value @returns {string} */
function written(value) {
    return Number.isFinite(value) ? short(value) : Number.isNaN(value) ? "nan" : value < 0 ? "-inf" : "inf";
}
