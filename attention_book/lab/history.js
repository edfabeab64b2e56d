// @ts-check
// Undo, redo and reset, as functions from one history to the next; nothing is changed in place.

/** @typedef {import("./state.js").State} State */
/** `past` and `future` hold the nearest state last. @typedef {{past: readonly State[], now: State, future: readonly State[]}} History */

export const MOST_STEPS = 200;

/** A history that begins with this state. @param {State} state @returns {History} */
export function begin(state) {
    return { past: [], now: state, future: [] };
}

/**
 * The history after a change. `joined` replaces the present one, so that a slider's way is one step and not a hundred.
 * @param {History} history @param {State} state @param {boolean} [joined] @returns {History}
 */
export function record(history, state, joined = false) {
    if (same(history.now, state)) return history;
    return { past: joined ? history.past : [...history.past, history.now].slice(-MOST_STEPS), now: state, future: [] };
}

/** One step back; the same history where there is none. @param {History} history @returns {History} */
export function undo({ past, now, future }) {
    return past.length ? { past: past.slice(0, -1), now: past[past.length - 1], future: [...future, now] } : { past, now, future };
}

/** One step forward again. @param {History} history @returns {History} */
export function redo({ past, now, future }) {
    return future.length ? { past: [...past, now], now: future[future.length - 1], future: future.slice(0, -1) } : { past, now, future };
}

/** Back to a first state; itself a step that can be undone. @param {History} history @param {State} first @returns {History} */
export function reset(history, first) {
    return record(history, first);
}

/** Whether two states show the same. @param {State} one @param {State} other */
export function same(one, other) {
    return /** @type {(keyof State)[]} */ (Object.keys(one)).every((name) => Object.is(one[name], other[name]));
}
