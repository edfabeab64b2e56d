// @ts-check
// The scale of a map's colours, the same for all heads, and the sentence that says what it is.

import { fixed } from "./print.js";

/** @typedef {import("./modules.js").Trace} Trace */
/** @typedef {import("./state.js").View} View */
/** @typedef {{low: number, high: number, sentence: string}} Legend */

export const FEW_TOKENS = 20; // as in attention_book.reading: above, 0 to 1 would show a map as one dark square

/** The name of one number of a view. @type {Record<View, string>} */
export const NAMES = { scores: "score", scaled: "scaled score", masked: "masked score", weights: "weight", output: "output" };

/** @type {WeakMap<Float32Array, {least: number, most: number, hidden: boolean, fault: boolean}>} */
const seen = new WeakMap();

/**
 * The least and the most finite number, and whether any is -inf or none at all. In one pass, by index: a map may have millions of numbers.
 * @param {import("./tensor.js").Tensor} map @returns {{least: number, most: number, hidden: boolean, fault: boolean}}
 */
export function extremes({ data }) {
    const known = seen.get(data);
    if (known) return known;
    let [least, most, hidden, fault] = [Infinity, -Infinity, false, false];
    for (let i = 0; i < data.length; i++) {
        const number = data[i];
        if (number < least) {
            if (number === -Infinity) hidden = true;
            else least = number;
        }
        if (number > most && number < Infinity) most = number;
        if (number !== number) fault = true;
    }
    const found = { least, most, hidden, fault };
    seen.set(data, found);
    return found;
}

/**
 * The ends of the scale, and what it says of itself.
 * @param {Trace} trace @param {View} view @returns {Legend}
 */
export function legend(trace, view) {
    const { least, most } = extremes(trace[view]);
    if (view === "weights") return ofWeights(trace.tokens.length, most);
    const heads = trace[view].shape.length > 2 ? trace[view].shape[0] : 1;
    const whose = heads > 1 ? `the range of all ${heads} heads together` : "the range of this map";
    return { low: least, high: most, sentence: `${NAMES[view]}, ${fixed(least)} to ${fixed(most)}, ${whose}` };
}

/** @param {number} count @param {number} most @returns {Legend} */
function ofWeights(count, most) {
    if (count <= FEW_TOKENS) return { low: 0, high: 1, sentence: "weight, 0 to 1" };
    const high = 4 / count;
    const beyond = most > high ? `; weights go up to ${fixed(most)}, and those beyond the scale take the colour of its end` : "";
    return { low: 0, high, sentence: `weight, 0 to ${fixed(high)}, four times an even share${beyond}` };
}

/** Where a number lies between the ends, from 0 to 1; in the middle where both ends are one. @param {number} number @param {Legend} scale @returns {number} */
export function share(number, { low, high }) {
    return high > low ? Math.min(Math.max((number - low) / (high - low), 0), 1) : 0.5;
}
