// @ts-check
// How one cell comes about, step by step: the name, the sentence, the numbers, the line of Python.

import { explain } from "../explain.js";
import { fixed } from "../print.js";
import { button, element } from "./element.js";
import { sentenceOf } from "./shown.js";

/** @typedef {import("./shown.js").Shown} Shown */

/** @param {() => void} close */
export function createSteps(close) {
    const box = element("section", { class: "lab-steps", "aria-label": "Step by step" });

    /** @param {Shown} on */
    function show(on) {
        const { trace, settings, state, given } = on;
        if (state.row < 0) {
            box.replaceChildren(element("p", { class: "lab-hint" }, "Click or tap a cell, or move to it with the arrows and press Enter: then every step to its number stands here."));
            return;
        }
        const steps = explain(trace, settings, state.head, state.row, state.column, state.view);
        const heading = element("p", { class: "lab-steps-heading" }, element("strong", {}, capital(sentenceOf(on, state.row, state.column))), button("Close", close));
        box.replaceChildren(heading, element("ol", {}, ...(given ? steps.map(asGiven) : steps).map((step) => element("li", {}, ...parts(step)))));
    }
    return { element: box, show };
}

/** @param {import("../explain.js").Step} step */
function parts({ name, sentence, numbers, python }) {
    return [
        element("div", {}, element("b", {}, name), " ", element("span", { dir: "auto" }, sentence)),
        element("div", numbers.length > 40 ? { class: "lab-numbers-line", tabindex: 0, role: "group", "aria-label": name } : { class: "lab-numbers-line" }, ...numbers.map((number) => element("span", {}, fixed(number)))),
        element("code", {}, python),
    ];
}

/** @param {string} sentence */
function capital(sentence) {
    return sentence[0].toUpperCase() + sentence.slice(1);
}

/** Numbers that were given have a scale and a mask of any kind. @param {import("../explain.js").Step} step */
function asGiven(step) {
    if (step.name === "scaled") return { ...step, sentence: "The score times the scale." };
    if (step.name === "masked") return { ...step, sentence: step.numbers[0] === -Infinity ? "The query may not look at this key: minus infinity." : "The query may look at this key: nothing changes." };
    return step;
}
