// @ts-check
// What one does with a view: take it back, share it, take it away.

import { csv } from "../csv.js";
import { drawing } from "../drawing.js";
import { THEMES } from "../colours.js";
import { json } from "../json.js";
import { button, element, tell } from "./element.js";
import { copy, download } from "./files.js";
import { picture } from "./picture.js";

/** @typedef {import("./shown.js").Shown} Shown */

/** @param {{undo: () => void, redo: () => void, reset: () => void, link: (() => string) | null}} what link: the address of the view, or null where there is none */
export function createActions({ undo, redo, reset, link }) {
    const told = element("span", { role: "status" });
    const address = element("a", { class: "lab-address", hidden: true });
    const [back, forth] = [button("Undo", undo), button("Redo", redo)];
    /** @type {Shown | null} */
    let on = null;
    const name = () => `attention_${on?.state.view}`;
    /** @type {Record<string, () => void | Promise<void>>} */
    const files = {
        CSV: () => void (on && download(`${name()}.csv`, "text/csv", csv(on.trace, on.state))),
        JSON: () => void (on && download("attention.json", "application/json", json(on.trace))),
        SVG: () => void (on && download(`${name()}.svg`, "image/svg+xml", drawing(on.trace, on.state, isDark(box) ? THEMES.dark : THEMES.light))),
        PNG: async () => {
            const made = on && (await picture(on, isDark(box), getComputedStyle(box).fontFamily));
            if (made) download(`${name()}.png`, "image/png", made);
            else tell(told, "Your browser makes no picture of this size; take the SVG.");
        },
    };
    const share = link && button("Share", () => void offer(link()));
    const box = element(
        "div",
        { class: "lab-actions" },
        element("div", { class: "lab-row", role: "group", "aria-label": "History" }, back, forth, button("Reset", reset)),
        element("div", { class: "lab-row", role: "group", "aria-label": "Share and export" }, share, ...Object.entries(files).map(([kind, make]) => button(kind, () => void make(), { title: `Download as ${kind}` }))),
        element("p", { class: "lab-told" }, told, " ", address),
    );

    /** @param {string} to */
    async function offer(to) {
        address.hidden = false;
        address.href = to;
        tell(address, to);
        tell(told, (await copy(to, address)) ? "The link is copied:" : "The link is selected, press Ctrl+C:");
    }

    /** @param {Shown} next @param {{past: readonly unknown[], future: readonly unknown[]}} history */
    function show(next, { past, future }) {
        on = next;
        back.disabled = past.length === 0;
        forth.disabled = future.length === 0;
        address.hidden = true;
        tell(told, "");
    }
    return { element: box, show };
}

/** Whether the ground is darker than its text. @param {Element} place */
function isDark(place) {
    const [red = 0, green = 0, blue = 0] = (getComputedStyle(place).color.match(/[\d.]+/g) ?? []).map(Number);
    return red + green + blue > 384;
}
