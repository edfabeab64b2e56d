// @ts-check
// What one lab is locked to, as the page writes it; and numbers that are given in place of drawn ones.

/** @typedef {import("../state.js").State} State */
/** @typedef {import("../state.js").View} View */

/**
 * @typedef {object} Lock
 * @property {State} state where it starts
 * @property {import("../state.js").AttentionName[]} attentions
 * @property {View[]} views
 * @property {string[]} controls names of what may be changed
 * @property {boolean} slide whether the slide of d_k belongs to it
 * @property {boolean} own whether the address of the page holds its state
 * @property {string} page address of the page that holds all of the lab; empty where there is none
 * @property {Given} [given]
 */

/**
 * A step that follows from another: times a number, and -inf where a key is later, or where a bit is 1 (base64).
 * @typedef {{is: "scores" | "scaled", times?: number, hidden?: string}} Derived
 */
/**
 * A trace of any module; the numbers are float32 in base64.
 * @typedef {Record<"query" | "key" | "value" | "scores" | "scaled" | "masked" | "weights" | "output", {shape: number[], data: string} | Derived>
 *   & {tokens: string[], scale: number}} Given
 */

/** @param {HTMLElement} place @returns {Lock} */
export function lockOf(place) {
    const given = place.querySelector("script.lab-given");
    return { ...JSON.parse(place.dataset.lab ?? "{}"), ...(given ? { given: JSON.parse(given.textContent ?? "") } : {}) };
}
