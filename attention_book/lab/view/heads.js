// @ts-check
// All heads side by side on one scale; choosing one enlarges it.

import { element, tell, unique } from "./element.js";
import { paint } from "./pixels.js";
import { hiding } from "./shown.js";
import { createTurns } from "./turns.js";

/** @typedef {import("./shown.js").Shown} Shown */

/** @param {(head: number) => void} choose */
export function createHeads(choose) {
    const name = unique("heads");
    const legend = element("legend");
    const list = element("div", { class: "lab-heads-list" });
    const box = element("fieldset", { class: "lab-heads", hidden: true }, legend, list);
    const turns = createTurns();
    box.addEventListener("change", (event) => choose(Number(/** @type {HTMLInputElement} */ (event.target).value)));

    /** @param {Shown} on */
    function show(on) {
        const count = on.maps.length;
        box.hidden = count < 2;
        if (count < 2) return;
        tell(legend, `${count} heads, one scale for all`);
        while (list.children.length > count) list.lastElementChild?.remove();
        while (list.children.length < count) list.append(one(name, list.children.length));
        for (const input of list.querySelectorAll("input")) input.checked = Number(input.value) === on.head;
        turns(on.maps.map((map, h) => () => paint(/** @type {HTMLCanvasElement} */ (list.children[h].querySelector("canvas")), map, on.scale, hiding(on, h))));
    }
    return { element: box, show };
}

/** @param {string} name @param {number} head */
function one(name, head) {
    const input = element("input", { type: "radio", name, value: head });
    return element("label", { class: "lab-head" }, element("canvas", { "aria-hidden": "true" }), element("span", {}, input, ` head ${head}`));
}
