// @ts-check
// Puts a lab in the place of each still one.

import { createLab } from "./lab.js";
import { lockOf } from "./lock.js";

/** @param {import("./begin_worker.js").Source} source */
export function start(source) {
    for (const place of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".lab[data-lab]"))) createLab(place, lockOf(place), source);
}
