// @ts-check
// The map on show as an SVG that stands by itself.

import { mapOf } from "./cells.js";
import { HATCH, HIDDEN } from "./colours.js";
import { legend } from "./legend.js";
import { fixed } from "./print.js";
import { axes } from "./svg_axes.js";
import { bar, cells, numbers } from "./svg_cells.js";
import { element, text, width } from "./svg_text.js";
import { visible } from "./visible.js";

/** @typedef {import("./modules.js").Trace} Trace */
/** @typedef {import("./state.js").State} State */
/** @typedef {import("./colours.js").Colours} Colours */

const MOST_NUMBERS = 20; // cells a side: beyond, nobody reads them
const LARGEST = 640; // pixels a side, of a map without numbers
const SIZE = 11; // pixels of a number
const LONGEST = 14; // characters of a label
const LINE = 18;

/**
 * @param {Trace} trace @param {Pick<State, "view" | "head">} state @param {Colours} colours of what surrounds the cells @returns {string}
 */
export function drawing(trace, { view, head }, colours) {
    const map = mapOf(trace, view, head);
    const masked = view === "masked" || view === "weights" ? mapOf(trace, "masked", head) : null;
    const scale = legend(trace, view);
    const heads = trace[view].shape.length > 2 ? trace[view].shape[0] : 1;
    const [rows, columns] = map.shape;
    const legible = Math.max(rows, columns) <= MOST_NUMBERS;
    const side = Math.max(1, Math.floor(LARGEST / Math.max(rows, columns)));
    const widest = legible ? Math.max(...Array.from(map.data, (number) => width(fixed(number), SIZE))) : 0;
    const size = { width: legible ? Math.max(44, widest + 10) : side, height: legible ? 30 : side };
    const queries = trace.tokens.map((token) => visible(token, LONGEST));
    const keys = view === "output" ? Array.from({ length: columns }, (_, c) => String(c)) : queries;
    const frame = axes({ queries, keys, columnsAre: view === "output" ? "output" : "key", cellWidth: size.width, cellHeight: size.height, colour: colours.text });
    const box = { left: frame.left, top: frame.top, ...size };
    const bottom = frame.top + rows * size.height + 14;
    const title = `Attention: ${view}${heads > 1 ? ` of head ${head} of ${heads}` : ""}, ${rows} ${rows === 1 ? "token" : "tokens"}`;
    const hidden = masked !== null && masked.data.includes(-Infinity);
    const notes = [`Rows are queries, columns are ${view === "output" ? "the numbers of each output" : "keys"}.`, `Colours: ${scale.sentence}.`];
    if (hidden) notes.push("Hatched: hidden, a later token.");
    if (map.data.some(Number.isNaN)) notes.push("Red: not a number.");
    if (!legible) notes.push("The numbers are left out: the cells are too small.");
    for (const [what, step] of Object.entries(frame.steps)) if (step > 1) notes.push(`One name for every ${step} ${what === "keys" && view === "output" ? "columns" : what}.`);
    const across = Math.ceil(frame.left + Math.max(columns * size.width + frame.right, 280, ...[title, ...notes].map((line) => width(line, 14))));
    const down = bottom + 48 + notes.length * LINE;
    const note = (/** @type {string} */ words, /** @type {number} */ k) => element("text", { x: frame.left, y: bottom + 48 + k * LINE, "font-size": 12, fill: colours.text }, [text(words)]);
    const root = { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${across} ${down}`, width: across, height: down, role: "img", "font-family": "sans-serif" };
    const picture = element("svg", root, [
        element("title", {}, [text(title)]),
        element("desc", {}, [text(notes.join(" "))]),
        ...(hidden ? [hatching()] : []),
        element("rect", { width: across, height: down, fill: colours.ground }),
        element("text", { x: 12, y: 20, "font-size": 14, fill: colours.text }, [text(title)]),
        ...frame.labels,
        cells(map, masked, scale, box),
        ...(legible ? numbers(map, masked, scale, box, SIZE) : []),
        ...bar(scale, frame.left, bottom, colours.text),
        ...notes.map(note),
    ]);
    return `${picture}\n`;
}

/** Grey with lighter lines, as the book's figures show what is hidden. */
function hatching() {
    return element("defs", {}, [
        element("pattern", { id: "attention-hidden", width: 6, height: 6, patternUnits: "userSpaceOnUse" }, [
            element("rect", { width: 6, height: 6, fill: HIDDEN }),
            element("path", { d: "M-1 7L7 -1", stroke: HATCH }),
        ]),
    ]);
}
