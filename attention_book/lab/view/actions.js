// @ts-check
// What one does with a view: take it back, share it, take it away.

import { THEMES } from "../colours.js";
import { PATIENCE } from "./ask.js";
import { button, element, tell } from "./element.js";
import { copy, download } from "./files.js";
import { picture } from "./picture.js";

/** @typedef {import("./shown.js").Shown} Shown */
/** @typedef {import("../file.js").Kind | "PNG"} Kind */

const KINDS = /** @type {const} */ (["CSV", "JSON", "SVG", "PNG"]);

/**
 * @param {{undo: () => void, redo: () => void, reset: () => void, ask: import("./ask.js").Ask, link: (() => string) | null}} what ask: who writes the
 *   files; link: the address of the view, or null where there is none
 */
export function createActions({ undo, redo, reset, ask, link }) {
    const told = element("span", { role: "status" });
    const address = element("a", { class: "lab-address", href: "#", hidden: true });
    const [back, forth] = [button("Undo", undo), button("Redo", redo)];
    /** @type {Shown | null} */
    let on = null;
    /** @type {Set<Kind>} being written: a second press adds nothing */
    const busy = new Set();

    /** A large file takes seconds: a line says so. @param {Kind} kind */
    async function take(kind) {
        if (!on || busy.has(kind)) return;
        busy.add(kind);
        const name = `${kind === "JSON" ? "attention" : `attention_${on.state.view}`}.${kind.toLowerCase()}`;
        const line = `Writing the ${kind}\u2026`;
        const waiting = setTimeout(() => tell(told, line), PATIENCE);
        try {
            download(name, await made(on, kind));
            if (told.textContent === line) tell(told, `The ${kind} is written.`);
        } catch (error) {
            tell(told, error instanceof Error ? error.message : String(error));
        }
        clearTimeout(waiting);
        busy.delete(kind);
    }

    /** @param {Shown} shown @param {Kind} kind @returns {Promise<Blob>} */
    async function made(shown, kind) {
        const { state, settings, trace, given } = shown;
        const dark = isDark(box);
        if (kind !== "PNG") return ask("file", { kind, numbers: given ? { trace } : { settings }, chosen: state, colours: dark ? THEMES.dark : THEMES.light });
        const blob = await picture(shown, dark, getComputedStyle(box).fontFamily);
        if (!blob) throw new RangeError("Your browser makes no picture of this size; take the SVG.");
        return blob;
    }

    const share = link && button("Share", () => void offer(link()));
    const box = element(
        "div",
        { class: "lab-actions" },
        element("div", { class: "lab-row", role: "group", "aria-label": "History" }, back, forth, button("Reset", reset)),
        element("div", { class: "lab-row", role: "group", "aria-label": "Share and export" }, share, ...KINDS.map((kind) => button(kind, () => void take(kind), { title: `Download as ${kind}` }))),
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
