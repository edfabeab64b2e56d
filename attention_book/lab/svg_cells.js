// @ts-check
// The cells of a map, their numbers, and the bar of its colours.

import { FAULT, css, ink, viridis } from "./colours.js";
import { share } from "./legend.js";
import { fixed } from "./print.js";
import { element, text } from "./svg_text.js";

/** @typedef {import("./tensor.js").Tensor} Tensor */
/** @typedef {import("./legend.js").Legend} Legend */
/** @typedef {{left: number, top: number, width: number, height: number}} Box of the first cell */

export const HATCHED = "url(#attention-hidden)";
const SHADES = 255;
const PALETTE = Array.from({ length: SHADES + 1 }, (_, k) => viridis(k / SHADES));
const [HIDDEN_MARK, FAULT_MARK] = [SHADES + 1, SHADES + 2];
const COLOURS = [...PALETTE.map(css), HATCHED, FAULT];
const BAR = { width: 256, height: 12 };

/**
 * One path for each colour, in units of a cell: a quarter of a million rectangles would be too much for a file.
 * @param {Tensor} map @param {Tensor | null} masked scores that are -inf where a cell is hidden @param {Legend} scale @param {Box} box @returns {string}
 */
export function cells(map, masked, scale, { left, top, width, height }) {
    const [rows, columns] = map.shape;
    const marks = Int16Array.from(map.data, (_, k) => mark(map, masked, scale, k));
    const paths = Array.from({ length: COLOURS.length }, () => /** @type {string[]} */ ([]));
    for (let i = 0; i < rows; i++) {
        let start = 0;
        for (let j = 1; j <= columns; j++) {
            const colour = marks[i * columns + start];
            if (j < columns && marks[i * columns + j] === colour) continue;
            paths[colour].push(`M${start} ${i}h${j - start}v1h${start - j}z`);
            start = j;
        }
    }
    const drawn = paths.flatMap((pieces, colour) => (colour === HIDDEN_MARK || !pieces.length ? [] : [element("path", { fill: COLOURS[colour], d: pieces.join("") })]));
    const hidden = paths[HIDDEN_MARK].join("").replace(/M(\d+) (\d+)h(\d+)v1h-\d+z/g, (_, x, y, run) => `M${x * width} ${y * height}h${run * width}v${height}h${-run * width}z`);
    return [
        hidden && element("path", { transform: `translate(${left} ${top})`, fill: HATCHED, d: hidden }), // in pixels, or the hatching would be stretched
        element("g", { transform: `translate(${left} ${top}) scale(${width} ${height})`, "shape-rendering": "crispEdges" }, drawn),
    ].join("");
}

/** The numbers, each in the ink that stands out from its cell. @param {Tensor} map @param {Tensor | null} masked @param {Legend} scale @param {Box} box @param {number} size @returns {string[]} */
export function numbers(map, masked, scale, { left, top, width, height }, size) {
    const columns = map.shape[1];
    return Array.from(map.data, (number, k) => {
        const place = { x: left + ((k % columns) + 0.5) * width, y: top + (Math.floor(k / columns) + 0.5) * height + size / 3, "text-anchor": "middle" };
        const colour = mark(map, masked, scale, k);
        const stroke = colour === HIDDEN_MARK ? "#010101" : colour === FAULT_MARK ? "#ffffff" : ink(PALETTE[colour]);
        return element("text", { ...place, "font-size": size, fill: stroke }, [text(fixed(number))]);
    });
}

/** The colours from the lowest to the highest, with both numbers. @param {Legend} scale @param {number} x @param {number} y @param {string} colour of the text @returns {string[]} */
export function bar({ low, high }, x, y, colour) {
    const stops = Array.from({ length: 17 }, (_, k) => element("stop", { offset: k / 16, "stop-color": css(viridis(low < high ? k / 16 : 0.5)) }));
    const style = { y: y + BAR.height + 14, "font-size": 11, fill: colour };
    return [
        element("defs", {}, [element("linearGradient", { id: "attention-scale" }, stops)]),
        element("rect", { x, y, ...BAR, fill: "url(#attention-scale)" }),
        element("text", { ...style, x }, [text(fixed(low))]),
        element("text", { ...style, x: x + BAR.width, "text-anchor": "end" }, [text(fixed(high))]),
    ];
}

/** The place of a cell's colour in `COLOURS`. @param {Tensor} map @param {Tensor | null} masked @param {Legend} scale @param {number} k @returns {number} */
function mark({ data }, masked, scale, k) {
    if (masked && masked.data[k] === -Infinity) return HIDDEN_MARK;
    return Number.isNaN(data[k]) ? FAULT_MARK : Math.round(share(data[k], scale) * SHADES);
}
