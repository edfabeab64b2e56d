// @ts-check
// The map on show as a PNG. Painted, not made from the SVG: a strict policy lets no page load a picture that it made itself.

import { THEMES } from "../colours.js";
import { element } from "./element.js";
import { write } from "./numbers.js";
import { paint } from "./pixels.js";
import { hiding } from "./shown.js";

/** @typedef {import("./shown.js").Shown} Shown */

const LARGEST = 4096;
const [TEXT, NAMES, EDGE, LINE] = [14, 110, 12, 20];

/** @param {Shown} on @param {boolean} dark @param {string} family of the font @returns {Promise<Blob | null>} */
export function picture(on, dark, family) {
    const { maps, head, rows, columns, state, scale } = on;
    const cell = Math.max(1, Math.min(56, Math.floor((LARGEST - NAMES) / Math.max(rows.length, columns.length))));
    const [width, height] = [columns.length * cell, rows.length * cell];
    const legible = cell >= 12;
    const across = Math.max(NAMES + width, 480) + EDGE;
    const canvas = element("canvas", { width: across, height: NAMES + height + 2 * LINE + 2 * EDGE });
    const context = canvas.getContext("2d");
    if (!context) return Promise.resolve(null);
    const theme = dark ? THEMES.dark : THEMES.light;
    context.fillStyle = theme.ground;
    context.fillRect(0, 0, canvas.width, canvas.height);
    const pixels = element("canvas");
    paint(pixels, maps[head], scale, hiding(on, head));
    context.imageSmoothingEnabled = false;
    context.drawImage(pixels, NAMES, NAMES, width, height);
    const numbers = element("canvas");
    write(numbers, on, cell);
    if (!numbers.hidden && numbers.width) context.drawImage(numbers, NAMES, NAMES, width, height);
    context.fillStyle = theme.text;
    context.font = `${Math.min(TEXT, cell)}px ${family}`;
    context.textBaseline = "middle";
    if (legible) {
        context.textAlign = "end";
        rows.forEach((name, i) => context.fillText(name, NAMES - 6, NAMES + (i + 0.5) * cell, NAMES - 10));
        context.textAlign = "start";
        columns.forEach((name, j) => {
            context.save();
            context.translate(NAMES + (j + 0.5) * cell, NAMES - 6);
            context.rotate(-Math.PI / 2);
            context.fillText(name, 0, 0, NAMES - 10);
            context.restore();
        });
    }
    context.textAlign = "start";
    context.font = `${TEXT}px ${family}`;
    const title = maps.length > 1 ? `${state.view} of head ${head}` : state.view;
    const notes = [`Attention: ${title}. Rows are queries, columns are ${state.view === "output" ? "coordinates" : "keys"}.`, `Colours: ${scale.sentence}.`];
    notes.forEach((note, k) => context.fillText(note, EDGE, NAMES + height + EDGE + (k + 0.5) * LINE, across - 2 * EDGE));
    return new Promise((resolve) => canvas.toBlob(resolve));
}
