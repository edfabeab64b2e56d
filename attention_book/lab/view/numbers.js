// @ts-check
// What is written into the cells of the enlarged map: their numbers where they fit, the hatching of hidden ones, and each row's favourite.

import { HATCH, ink, viridis } from "../colours.js";
import { share } from "../legend.js";
import { fixed } from "../print.js";
import { hiding } from "./shown.js";

/** @typedef {import("./shown.js").Shown} Shown */

const LARGEST = 2048; // pixels a side: a larger map has no room for numbers, and would take a picture of many megabytes
const [SMALLEST_TEXT, LARGEST_TEXT, LEAST_CELL] = [10.5, 14, 28];

/** @param {HTMLCanvasElement} canvas @param {Shown} on @param {number} cell pixels a side */
export function write(canvas, on, cell) {
    const map = on.maps[on.head];
    const [rows, columns] = map.shape;
    canvas.hidden = Math.max(rows, columns) * cell > LARGEST;
    const context = canvas.getContext("2d");
    if (canvas.hidden || !context) return;
    const density = Math.min(devicePixelRatio || 1, 2);
    const [width, height] = [Math.round(columns * cell * density), Math.round(rows * cell * density)];
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
    context.setTransform(density, 0, 0, density, 0, 0);
    context.clearRect(0, 0, columns * cell, rows * cell);
    const masked = hiding(on, on.head);
    const style = fitting(context, map.data, cell);
    context.textAlign = "center";
    context.textBaseline = "middle";
    map.data.forEach((number, i) => {
        const [row, column] = [Math.floor(i / columns), i % columns];
        const favourite = on.state.view !== "output" && on.liked[row].key === column;
        const hidden = masked?.data[i] === -Infinity;
        if (!style && !favourite && !hidden) return;
        const [x, y] = [column * cell, row * cell];
        if (hidden) hatch(context, x, y, cell);
        context.fillStyle = hidden || !Number.isFinite(number) ? "#010101" : ink(viridis(share(number, on.scale)));
        if (style) {
            context.font = style.font;
            context.fillText(fixed(number, style.digits), x + cell / 2, y + cell / 2);
        }
        if (favourite) dot(context, x, y, cell);
    });
}

/**
 * As many digits as there is room for, at a size that can be read.
 * @param {CanvasRenderingContext2D} context @param {Float32Array} numbers @param {number} cell @returns {{font: string, digits: number} | null}
 */
function fitting(context, numbers, cell) {
    if (cell < LEAST_CELL) return null;
    const family = getComputedStyle(context.canvas).fontFamily;
    for (const digits of [4, 3, 2]) {
        const longest = numbers.reduce((length, number) => Math.max(length, fixed(number, digits).length), 0);
        context.font = `100px ${family}`;
        const size = Math.min(LARGEST_TEXT, ((cell - 6) / context.measureText("0".repeat(longest)).width) * 100);
        if (size >= SMALLEST_TEXT) return { font: `${size}px ${family}`, digits };
    }
    return null;
}

/** @param {CanvasRenderingContext2D} context @param {number} x @param {number} y @param {number} cell */
function hatch(context, x, y, cell) {
    context.strokeStyle = HATCH;
    context.beginPath();
    for (const part of [0.25, 0.75]) {
        context.moveTo(x, y + cell * part);
        context.lineTo(x + cell * part, y);
        context.moveTo(x + cell * part, y + cell);
        context.lineTo(x + cell, y + cell * part);
    }
    context.stroke();
}

/** In the corner, in the ink of its cell. @param {CanvasRenderingContext2D} context @param {number} x @param {number} y @param {number} cell */
function dot(context, x, y, cell) {
    context.beginPath();
    context.arc(x + cell - 5, y + 5, 2.5, 0, 2 * Math.PI);
    context.fill();
}
