// @ts-check
// What is on show: a trace, and which of its maps. No document here.

import { mapOf } from "../cells.js";
import { legend } from "../legend.js";
import { liked, say } from "../say.js";
import { settings } from "../state.js";
import { visible } from "../visible.js";

/** @typedef {import("../modules.js").Trace} Trace */
/** @typedef {import("../state.js").State} State */
/** @typedef {import("../tensor.js").Tensor} Tensor */

/**
 * `maps`: one matrix for each head, or the one output of all; `head`: which of them is enlarged.
 * @typedef {object} Shown
 * @property {State} state
 * @property {Trace} trace
 * @property {import("../state.js").Settings} settings
 * @property {Tensor[]} maps
 * @property {number} head
 * @property {string[]} rows names of the queries, as they can be seen
 * @property {string[]} columns names of the keys, or numbers of the output's coordinates
 * @property {import("../legend.js").Legend} scale
 * @property {boolean} given whether its numbers were given and not drawn: then a cell may be hidden for any reason
 * @property {{key: number, weight: number, sum: number}[]} liked of each query, in the head that is enlarged
 */

const LONGEST = 24;

/** @param {State} state @param {Trace} trace @param {boolean} [given] @returns {Shown} */
export function shown(state, trace, given = false) {
    const { view } = state;
    const count = trace[view].shape.length > 2 ? trace[view].shape[0] : 1;
    const maps = Array.from({ length: count }, (_, h) => mapOf(trace, view, h));
    const rows = trace.tokens.map((name) => visible(name, LONGEST));
    const columns = view === "output" ? Array.from({ length: maps[0].shape[1] }, (_, k) => String(k)) : rows;
    const head = Math.min(state.head, count - 1);
    const weights = mapOf(trace, "weights", state.head);
    return { state, trace, settings: settings(state), maps, head, rows, columns, scale: legend(trace, view), given, liked: liked(weights)[0] };
}

/** Whether the keys that a query may not look at are to be seen in these maps. @param {Shown} on @param {number} h @returns {Tensor | null} */
export function hiding({ state: { view }, trace }, h) {
    return view === "masked" || view === "weights" ? mapOf(trace, "masked", h) : null;
}

/** A cell in words. @param {Shown} on @param {number} row @param {number} column */
export function sentenceOf({ state, trace, given }, row, column) {
    const words = say(trace, state.head, row, column, state.view);
    return given ? words.replace(": a later token", "") : words;
}
