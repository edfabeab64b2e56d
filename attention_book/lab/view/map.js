// @ts-check
// The enlarged map: pixels, labels that stay in sight while it scrolls, a cell to move in, and what each row comes to.

import { NAMES } from "../legend.js";
import { fixed } from "../print.js";
import { createCursor } from "./cursor.js";
import { element, tell, token } from "./element.js";
import { sizes } from "./layout.js";
import { write } from "./numbers.js";
import { paint } from "./pixels.js";
import { hiding, sentenceOf } from "./shown.js";

/** @typedef {import("./shown.js").Shown} Shown */
/** @typedef {import("./cursor.js").Place} Place */

/** @param {{choose: (place: Place) => void, point: (place: Place | null) => void}} listener */
export function createMap({ choose, point }) {
    const across = element("div", { class: "lab-across", "aria-hidden": "true" });
    const down = element("div", { class: "lab-down", "aria-hidden": "true" });
    const facts = element("div", { class: "lab-facts", "aria-hidden": "true" });
    const pixels = element("canvas", { class: "lab-pixels", "aria-hidden": "true" });
    const numbers = element("canvas", { class: "lab-numbers", "aria-hidden": "true" });
    const ring = element("div", { class: "lab-ring", "aria-hidden": "true", hidden: true });
    const chosen = element("div", { class: "lab-chosen", "aria-hidden": "true", hidden: true });
    const cells = element("div", { class: "lab-cells" }, pixels, numbers, ring, chosen);
    const corner = element("div", { class: "lab-corner", "aria-hidden": "true" });
    const scroll = element("div", { class: "lab-map" }, element("div", { class: "lab-plane" }, corner, across, down, cells, facts));
    const fit = element("input", { type: "checkbox" });
    const fitting = element("label", { class: "lab-fit lab-check", hidden: true }, fit, "The whole map at once");
    /** @type {Shown | null} */
    let on = null;
    let cell = 24;
    let wide = 0;

    const cursor = createCursor(cells, { moved: (place) => moveTo(place), chosen: choose });

    /** @param {Place} place */
    function moveTo(place) {
        if (!on) return;
        const { state } = on;
        cursor.put(place, sentenceOf(on, place.row, place.column), state.row === place.row && state.column === place.column, cell);
        mark(place);
        point(place);
    }

    /** Light up the names of a cell. @param {Place | null} place */
    function mark(place) {
        for (const [list, at] of /** @type {[Element, number | undefined][]} */ ([[across, place?.column], [down, place?.row]])) {
            list.querySelector(".on")?.classList.remove("on");
            if (at !== undefined) list.children[at]?.classList.add("on");
        }
    }

    /** @param {MouseEvent} event @returns {Place | null} */
    function under(event) {
        if (!on) return null;
        const box = cells.getBoundingClientRect();
        const [rows, columns] = on.maps[on.head].shape;
        const [row, column] = [Math.floor((event.clientY - box.top) / cell), Math.floor((event.clientX - box.left) / cell)];
        return row >= 0 && column >= 0 && row < rows && column < columns ? { row, column } : null;
    }

    cells.addEventListener("pointermove", (event) => {
        const place = event.pointerType === "touch" ? null : under(event);
        ring.hidden = !place;
        if (!place) return;
        ring.style.translate = `${place.column * cell}px ${place.row * cell}px`;
        mark(place);
        point(place);
    });
    cells.addEventListener("pointerleave", () => {
        ring.hidden = true;
        mark(null);
        point(null);
    });
    cells.addEventListener("click", (event) => {
        const place = under(event);
        if (!place) return;
        cursor.element.focus({ preventScroll: true });
        moveTo(place);
        choose(place);
    });
    fit.addEventListener("change", () => on && show(on));
    new ResizeObserver(() => {
        if (on && scroll.clientWidth !== wide) show(on);
    }).observe(scroll);

    /** Sizes and names. @param {Shown} next */
    function lay(next) {
        on = next;
        const { state, rows, columns } = on;
        wide = scroll.clientWidth;
        const laid = sizes(on, wide, fit.checked, getComputedStyle(scroll).fontFamily);
        cell = laid.cell;
        fitting.hidden = !laid.scrolls;
        for (const [name, value] of Object.entries({ "--cell": cell, "--names": laid.names, "--heads": laid.heads })) scroll.style.setProperty(name, `${value}px`);
        scroll.classList.toggle("lab-upright", laid.upright);
        scroll.classList.toggle("lab-nameless", cell < 12);
        label(across, columns);
        label(down, rows);
        tell(corner, state.view === "output" ? "queries \u2193" : "keys \u2192\nqueries \u2193");
        cells.style.width = `${columns.length * cell}px`;
        cells.style.height = `${rows.length * cell}px`;
    }

    /** @param {Shown} on */
    function draw(on) {
        paint(pixels, on.maps[on.head], on.scale, hiding(on, on.head));
        write(numbers, on, cell);
    }

    /** What each row comes to, and the cell to move in. @param {Shown} on */
    function say(on) {
        const { state, rows, columns, maps, head, liked } = on;
        const named = maps.length > 1 ? `${NAMES[state.view]}s of head ${head}` : state.view;
        const words = liked.map(({ key, sum }) => `${fixed(sum)}, most to ${rows[key]}`);
        label(facts, state.view === "weights" ? words : []);
        cursor.resize(rows.length, columns.length, `${named}, rows are queries, columns are ${state.view === "output" ? "coordinates" : "keys"}`);
        chosen.hidden = state.row < 0;
        chosen.style.translate = `${state.column * cell}px ${state.row * cell}px`;
        const place = state.row >= 0 ? { row: state.row, column: state.column } : cursor.place;
        const inside = { row: Math.min(place.row, rows.length - 1), column: Math.min(place.column, columns.length - 1) };
        cursor.put(inside, sentenceOf(on, inside.row, inside.column), state.row >= 0, cell);
    }
    const parts = [lay, draw, say];
    /** @param {Shown} on */
    const show = (on) => parts.forEach((part) => part(on));
    return { element: element("div", {}, fitting, scroll), parts };
}

/** Names along an edge; made anew only where they changed. @param {HTMLElement} list @param {string[]} names */
function label(list, names) {
    while (list.children.length > names.length) list.lastElementChild?.remove();
    names.forEach((name, i) => {
        const place = list.children[i] ?? list.appendChild(element("span", {}, token("")));
        if (place.firstElementChild) tell(place.firstElementChild, name);
    });
}
