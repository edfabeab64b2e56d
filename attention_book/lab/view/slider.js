// @ts-check
// A slider on a logarithmic scale, with its number beside it.

import { element, unique } from "./element.js";

/** @typedef {{least: number, most: number, marked?: number, round: (value: number) => number, write: (value: number) => string}} Range */

const STEPS = 1000;

/**
 * `joined` tells a change that belongs to the one before: a slider's way is one step and not a hundred.
 * @param {string} words @param {Range} range @param {(value: number, joined: boolean) => void} moved
 * @returns {import("./fields.js").Field<number>}
 */
export function slider(words, { least, most, marked, round, write }, moved) {
    const toPlace = (/** @type {number} */ value) => Math.round((STEPS * Math.log(value / least)) / Math.log(most / least));
    const toValue = (/** @type {number} */ place) => round(least * (most / least) ** (place / STEPS));
    const marks = element("datalist", { id: unique("marks") }, marked ? element("option", { value: toPlace(marked), label: String(marked) }) : null);
    const input = element("input", { type: "range", id: unique("slider"), min: 0, max: STEPS, step: 1, list: marks.id });
    const number = element("output", { for: input.id });
    const ticks = [least, marked, most].map((value) => (value === undefined ? null : element("span", {}, String(value))));
    const box = element("div", { class: "lab-slider" }, element("div", {}, element("label", { for: input.id }, words), " ", number), input);
    let value = least;
    let moving = false;

    input.addEventListener("input", () => {
        const place = Number(input.value);
        // Half a thumb's width around the mark is the mark itself.
        const next = marked && Math.abs(place - toPlace(marked)) < 8 ? marked : toValue(place);
        if (next === value) return;
        moved(next, moving);
        moving = true;
    });
    input.addEventListener("change", () => {
        moving = false;
        show(value);
    });

    /** @param {number} next */
    function show(next) {
        value = next;
        if (!moving) input.value = String(toPlace(next));
        number.textContent = write(next);
        input.setAttribute("aria-valuetext", write(next));
    }
    return { element: element("div", { class: "lab-sliding" }, box, element("div", { class: "lab-ticks", "aria-hidden": "true" }, ...ticks), marks), show };
}
