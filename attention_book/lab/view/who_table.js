// @ts-check
// One model's table: what each head of the last layer gives from "it" to every word, as colour and number.

import { fixed } from "../print.js";
import { element, tell } from "./element.js";

/** @typedef {import("../grammar.js").Sentence} Sentence */
/** @typedef {import("../trained.js").Answer} Answer */

const LEVELS = 64; // shades of a cell, as in tables.py

/** @param {string} name of the weights @param {number} layer */
export function createTable(name, layer) {
    const caption = element("caption");
    const head = element("tr");
    const body = element("tbody");
    const table = element("table", {}, caption, element("thead", {}, head), body);
    const scroll = element("div", { class: "lab-scroll", tabindex: 0, role: "group", "aria-label": `${name}: what each head gives` }, table);

    /** @param {Sentence} sentence @param {string[]} words @param {Answer} answer @param {(head: number) => boolean} off */
    function show({ tokens, it, right, wrong }, words, { probabilities, weights }, off) {
        const [heads, n] = weights[layer].shape;
        const of = (/** @type {number} */ at) => `${tokens[at]} ${fixed(probabilities[words.indexOf(tokens[at])])}`;
        tell(caption, `${name}: weights from “it” to each word. Answer: ${of(right)}, ${of(wrong)}`);
        fill(head, [element("td"), ...Array.from({ length: heads }, (_, h) => element("th", { scope: "col" }, `head ${h}${off(h) ? " off" : ""}`))]);
        while (body.rows.length > n) body.deleteRow(-1);
        tokens.forEach((token, j) => {
            const row = body.rows[j] ?? body.insertRow();
            if (row.cells.length !== heads + 1) row.replaceChildren(element("th", { scope: "row" }), ...Array.from({ length: heads }, () => element("td")));
            tell(row.cells[0], token);
            row.cells[0].className = j === right || j === wrong ? "who-noun" : "";
            for (let h = 0; h < heads; h++) {
                const weight = weights[layer].data[(h * n + it) * n + j];
                tell(row.cells[h + 1], fixed(weight));
                // The same cell takes another shade, so that the colour is seen to move.
                row.cells[h + 1].className = `m${Math.round(weight * (LEVELS - 1))}${off(h) ? " who-off" : ""}`;
            }
        });
    }
    return { element: scroll, show };
}

/** @param {HTMLElement} row @param {HTMLElement[]} cells */
function fill(row, cells) {
    if (row.textContent !== cells.map((cell) => cell.textContent).join("")) row.replaceChildren(...cells);
}
