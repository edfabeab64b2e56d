// @ts-check
// The slide of d_k: one draw of queries and keys, read to more and more numbers, with and without the scale.

import { fixed } from "../print.js";
import { slideProgram } from "../pytorch.js";
import { TOKENS, WIDEST, bars } from "../slide.js";
import { createBars, createChart } from "./chart.js";
import { createCode } from "./code.js";
import { element, tell } from "./element.js";
import { slider } from "./slider.js";

/** @typedef {import("../state.js").State} State */
/** @typedef {import("../jobs.js").Output<"slide">} Answer */

/** @param {(d_k: number, joined: boolean) => void} moved @param {boolean} open @param {import("./ask.js").Ask} ask */
export function createSlide(moved, open, ask) {
    const field = slider("d_k", { least: 1, most: WIDEST, round: Math.round, write: (value) => String(value) }, moved);
    const two = { unscaled: createBars("unscaled", TOKENS), scaled: createBars("scaled", TOKENS) };
    const sentence = element("p", { class: "lab-slide-sentence", role: "status" });
    const drawings = element("div", { class: "lab-charts" });
    const code = createCode("The slide in PyTorch", "slide_d_k.py");
    const intro = `A query and ${TOKENS} keys, each number drawn from a normal distribution. Only the first d_k numbers count. The scores spread as the root of d_k: what does softmax make of that?`;
    const box = element(
        "details",
        { class: "lab-slide", open },
        element("summary", {}, "Slide d_k from 1 to 1024: why divide by its root?"),
        element("p", {}, intro),
        field.element,
        element("div", { class: "lab-charts" }, figure("Not scaled", two.unscaled.element), figure("Divided by the root of d_k", two.scaled.element)),
        sentence,
        drawings,
        code.element,
    );
    /** @type {State | null} */
    let state = null;
    let [seed, asked] = ["", ""];
    /** @type {Answer | null} */
    let answer = null;
    /** @type {Record<string, ReturnType<typeof createChart>>} */
    let charts = {};

    /** What is shown stays until the new numbers are there. @param {string} wanted */
    async function load(wanted) {
        asked = wanted;
        box.setAttribute("aria-busy", "true");
        const told = await ask("slide", BigInt.asUintN(64, BigInt(wanted)));
        if (asked !== wanted) return;
        seed = wanted;
        answer = told;
        redraw(told);
        box.removeAttribute("aria-busy");
        redrawIfOpen();
    }

    /** @param {Answer} answer */
    function redraw({ all }) {
        charts = {
            largest: createChart({ lines: all.largest, most: 1, ticks: [0, 0.5, 1] }),
            entropy: createChart({ lines: all.entropy, most: Math.log(TOKENS), ticks: [0, 1, 2] }),
            spread: createChart({ lines: { theory: all.theory }, points: { unscaled: all.spread }, most: 64, ticks: [1, 4, 16], logarithmic: true }),
        };
        drawings.replaceChildren(
            figure(`Largest weight, mean of ${TOKENS} queries; dashed: scaled`, charts.largest.element),
            figure("Entropy of the weights, mean in nats; dashed: scaled", charts.entropy.element),
            figure("Standard deviation of the scores; line: the root of d_k", charts.spread.element),
        );
    }

    function redrawIfOpen() {
        if (!state || !box.open) return;
        if (state.seed !== asked) void load(state.seed);
        if (!answer || state.seed !== seed) return;
        const { drawn, all } = answer;
        const d = state.d_k;
        const now = bars(drawn, d);
        const at = d - 1;
        for (const name of /** @type {const} */ (["unscaled", "scaled"])) {
            two[name].show(now[name], `${TOKENS} weights, ${name}, at d_k ${d}: the largest is ${fixed(Math.max(...now[name]))}`);
        }
        const { largest, entropy, spread, theory } = all;
        charts.largest.show(d, `The mean largest weight over d_k; at ${d}: unscaled ${fixed(largest.unscaled[at])}, scaled ${fixed(largest.scaled[at])}`);
        charts.entropy.show(d, `The mean entropy over d_k; at ${d}: unscaled ${fixed(entropy.unscaled[at])}, scaled ${fixed(entropy.scaled[at])}`);
        charts.spread.show(d, `The standard deviation of the scores over d_k; at ${d}: measured ${fixed(spread[at])}, in theory ${fixed(theory[at])}`);
        tell(
            sentence,
            `At d_k ${d} the scores spread by ${fixed(spread[at])}; theory says ${fixed(theory[at])}. Not scaled, the largest weight is ${fixed(largest.unscaled[at])} and the entropy ` +
                `${fixed(entropy.unscaled[at])}; scaled, ${fixed(largest.scaled[at])} and ${fixed(entropy.scaled[at])}.`,
        );
        const shown = state;
        code.show(() => slideProgram(shown));
    }
    box.addEventListener("toggle", redrawIfOpen);

    /** @param {State} next */
    function show(next) {
        state = next;
        field.show(next.d_k);
        redrawIfOpen();
    }
    return { element: box, show };
}

/** @param {string} words @param {Element} drawing */
function figure(words, drawing) {
    return element("figure", {}, element("figcaption", {}, words), drawing);
}
