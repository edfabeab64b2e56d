// @ts-check
// What the steps of a cell say about its scale, its mask, its exponential and its end.

import { fixed } from "./print.js";

/** @typedef {import("./modules.js").Trace} Trace */
/** @typedef {import("./state.js").Settings} Settings */

/** @param {Settings} settings @param {Trace} trace @returns {string} */
export function scaling({ scale, temperature }, trace) {
    const width = trace.query.shape[trace.query.shape.length - 1];
    const root = scale ? `divided by the root of d_k = ${width}` : "";
    const heat = temperature === 1 ? "" : `divided by the temperature ${temperature}`;
    if (!root && !heat) return "There is no scale: the score stays as it is.";
    return `The score is ${[root, heat].filter(Boolean).join(" and ")}, that is, multiplied by ${fixed(trace.scale)}.`;
}

/** @param {Settings} settings @param {number} row @param {number} column @param {string} asks @param {string} answers @returns {string} */
export function masking({ causal }, row, column, asks, answers) {
    if (!causal) return "There is no mask: every query may look at every key.";
    if (column > row) return `“${answers}” comes later than “${asks}”, so it is hidden: minus infinity.`;
    return column === row ? `“${asks}” may look at itself: nothing changes.` : `“${answers}” comes earlier than “${asks}”, so it may be seen: nothing changes.`;
}

/** @param {number} masked @param {number} largest @returns {string} */
export function raising(masked, largest) {
    if (masked === -Infinity) return "e to the power of minus infinity is 0.";
    if (masked === largest) return `It is the row's largest, ${fixed(largest)}: less itself it is 0, and e to the power of 0 is 1.`;
    return `e to the power of what remains when the row's largest, ${fixed(largest)}, is subtracted, so that nothing overflows.`;
}

/** @param {Trace} trace @param {string} asks @param {number} count @returns {string} */
export function ending(trace, asks, count) {
    const whole = `The parts of all ${count} keys, added up: the context vector of “${asks}”`;
    if (trace.value.shape.length < 3) return `${whole}.`;
    return `${whole} in this head; the output joins those of all heads${"out_proj.weight" in trace.parameters ? " and passes them through the last layer" : ""}.`;
}
