// @ts-check
// What a reader may choose: the pattern of the sentence, its words, and which heads are on. No word can be typed that the grammar does not know.

import { DEGREE, outline, parts, refit, taken } from "../grammar.js";
import { button, element, unique } from "./element.js";

/** @typedef {import("../grammar.js").Grammar} Grammar */
/** @typedef {import("../grammar.js").Choice} Choice */
/** @typedef {{layer: number, head: number}} Head */

const FAMILIES = ["An animal and a thing", "Two animals", "Two things"];
const DEGREE_NAME = "how much";

/** @param {Grammar} grammar @param {Choice} choice at first @param {(choice: Choice) => void} changed @returns {HTMLElement[]} */
export function createWords(grammar, choice, changed) {
    const id = unique("pattern");
    const groups = grammar.families.map(({ patterns }, family) =>
        element("optgroup", { label: FAMILIES[family] }, ...patterns.map((_, at) => element("option", { value: `${family} ${at}` }, outline(grammar, family, at)))),
    );
    const pattern = element("select", { id }, ...groups);
    const line = element("div", { class: "who-words" });
    /** @type {[string, HTMLSelectElement][]} */
    let selects = [];

    /** @param {Choice} next */
    function take(next) {
        choice = next;
        for (const [slot, select] of selects) for (const option of select.options) option.disabled = taken(choice, slot).includes(option.value);
        changed(choice);
    }
    function build() {
        selects = [];
        const pieces = parts(grammar, choice).map((part) => {
            if ("word" in part) return element("span", {}, part.word);
            const { slot } = part;
            const select = element("select", { "aria-label": slot === DEGREE ? DEGREE_NAME : slot.toLowerCase() });
            for (const { name, words } of part.groups) {
                const options = words.map((word) => element("option", { value: word }, word || "–"));
                select.append(...(name ? [element("optgroup", { label: name }, ...options)] : options));
            }
            select.value = slot === DEGREE ? choice.degree : choice.filled[slot];
            select.addEventListener("change", () =>
                take(slot === DEGREE ? { ...choice, degree: select.value } : { ...choice, filled: { ...choice.filled, [slot]: select.value } }),
            );
            selects.push([slot, select]);
            return select;
        });
        line.replaceChildren(...pieces);
        for (const [slot, select] of selects) for (const option of select.options) option.disabled = taken(choice, slot).includes(option.value);
    }
    pattern.addEventListener("change", () => {
        const [family, at] = pattern.value.split(" ").map(Number);
        choice = refit(grammar, { ...choice, family, pattern: at });
        build();
        take(choice);
    });
    build();
    return [
        element("div", { class: "lab-field" }, element("label", { for: id }, "Pattern"), pattern),
        element("fieldset", {}, element("legend", {}, "Words"), line),
    ];
}

/** A box for each head, in on. @param {number} layers @param {number} count of heads in each @param {() => void} changed */
export function createHeads(layers, count, changed) {
    const boxes = Array.from({ length: layers }, () => Array.from({ length: count }, () => element("input", { type: "checkbox", checked: true })));
    for (const box of boxes.flat()) box.addEventListener("change", changed);
    const rows = boxes.map((row, layer) => {
        const labels = row.map((box, head) => element("label", { class: "lab-check" }, box, `head ${head}`));
        return element("fieldset", {}, element("legend", {}, `Layer ${layer}: heads that are on`), element("div", { class: "lab-row who-heads" }, ...labels));
    });
    const all = button("All heads on", () => {
        for (const box of boxes.flat()) box.checked = true;
        changed();
    });
    const isOff = (/** @type {number} */ layer, /** @type {number} */ head) => !boxes[layer][head].checked;
    /** @returns {Head[]} */
    const off = () => boxes.flatMap((row, layer) => row.flatMap((_, head) => (isOff(layer, head) ? [{ layer, head }] : [])));
    return { elements: [element("div", { class: "lab-row" }, ...rows, all)], isOff, off };
}
