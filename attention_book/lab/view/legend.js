// @ts-check
// What the colours mean: a strip from the least to the most, and a sentence that tells the truth about it.

import { extremes } from "../legend.js";
import { fixed } from "../print.js";
import { tensor } from "../tensor.js";
import { element, tell } from "./element.js";
import { paint } from "./pixels.js";

/** @typedef {import("./shown.js").Shown} Shown */

const STEPS = 128;

/** The strip, the sentence, and what stands for hidden and for no number. */
export function createLegend() {
    const strip = element("canvas", { class: "lab-strip", "aria-hidden": "true" });
    const low = element("span");
    const high = element("span");
    const sentence = element("span", { class: "lab-scale" });
    const hidden = element("span", { class: "lab-key" }, element("i", { class: "lab-hidden" }), "hidden");
    const fault = element("span", { class: "lab-key" }, element("i", { class: "lab-fault" }), "not a number");
    const dot = element("span", { class: "lab-key" }, element("i", { class: "lab-dot" }), "liked most in its row");
    const ends = element("span", { class: "lab-ends", "aria-hidden": "true" }, low, strip, high);
    const box = element("p", { class: "lab-legend" }, ends, sentence, hidden, fault, dot);
    const ramp = tensor([1, STEPS], Float32Array.from({ length: STEPS }, (_, i) => i / (STEPS - 1)));
    paint(strip, ramp, { low: 0, high: 1 }, null);

    /** @param {Shown} on */
    function show({ scale, state: { view }, trace }) {
        tell(low, short(scale.low));
        tell(high, short(scale.high));
        tell(sentence, `Colours: ${scale.sentence}.`);
        hidden.hidden = !(view === "masked" || view === "weights") || !extremes(trace.masked).hidden;
        fault.hidden = !extremes(trace[view]).fault;
        dot.hidden = view === "output";
    }
    return { element: box, show };
}

/** @param {number} value */
function short(value) {
    return Number.isInteger(value) ? String(value) : fixed(value);
}
