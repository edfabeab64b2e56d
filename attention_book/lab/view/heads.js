// @ts-check
// All heads side by side on one scale; choosing one enlarges it.

import { element, tell, unique } from "./element.js";
import { paint } from "./pixels.js";
import { hiding } from "./shown.js";

/** @typedef {import("./shown.js").Shown} Shown */

const MOMENT = 12; // milliseconds

/** @param {(head: number) => void} choose */
export function createHeads(choose) {
    const name = unique("heads");
    const legend = element("legend");
    const list = element("div", { class: "lab-heads-list" });
    const box = element("fieldset", { class: "lab-heads", hidden: true }, legend, list);
    let later = 0;
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
        clearTimeout(later);
        paintFrom(on, 0);
    }

    /** As many as fit into a moment, the others right after, so that the page never waits. @param {Shown} on @param {number} first */
    function paintFrom(on, first) {
        const begun = performance.now();
        for (let h = first; h < on.maps.length; h++) {
            if (performance.now() - begun > MOMENT) {
                later = window.setTimeout(() => paintFrom(on, h));
                return;
            }
            paint(/** @type {HTMLCanvasElement} */ (list.children[h].querySelector("canvas")), on.maps[h], on.scale, hiding(on, h));
        }
    }
    return { element: box, show };
}

/** @param {string} name @param {number} head */
function one(name, head) {
    const input = element("input", { type: "radio", name, value: head });
    return element("label", { class: "lab-head" }, element("canvas", { "aria-hidden": "true" }), element("span", {}, input, ` head ${head}`));
}
