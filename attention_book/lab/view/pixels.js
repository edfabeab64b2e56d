// @ts-check
// A matrix as pixels, one for each number: a byte says its shade, and the browser enlarges the picture.

import { FAULT, HIDDEN, viridis } from "../colours.js";

/** @typedef {import("../tensor.js").Tensor} Tensor */

const [HIDDEN_BYTE, FAULT_BYTE] = [254, 255];
const SHADES = 253; // the bytes 0 to 253
const LITTLE = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1;

/** @param {number} red @param {number} green @param {number} blue */
const pixel = (red, green, blue) => (LITTLE ? 0xff000000 | (blue << 16) | (green << 8) | red : (red << 24) | (green << 16) | (blue << 8) | 0xff) >>> 0;
/** @param {string} hex */
const ofHex = (hex) => pixel(parseInt(hex.slice(1, 3), 16), parseInt(hex.slice(3, 5), 16), parseInt(hex.slice(5), 16));
const PALETTE = Uint32Array.from({ length: 256 }, (_, byte) => (byte === HIDDEN_BYTE ? ofHex(HIDDEN) : byte === FAULT_BYTE ? ofHex(FAULT) : pixel(...viridis(byte / SHADES))));

/**
 * A byte for each number: its shade, or that it is hidden, or no number.
 * @param {Tensor} map @param {{low: number, high: number}} scale @param {Tensor | null} masked scores that are -inf where a cell is hidden
 * @returns {Uint8Array}
 */
export function bytes({ data }, { low, high }, masked) {
    const out = new Uint8Array(data.length);
    const factor = high > low ? SHADES / (high - low) : 0;
    const middle = high > low ? 0.5 : SHADES / 2;
    for (let i = 0; i < data.length; i++) {
        const place = (data[i] - low) * factor + middle;
        if (masked && masked.data[i] === -Infinity) out[i] = HIDDEN_BYTE;
        else out[i] = place >= 0 ? Math.min(place, SHADES) : Number.isNaN(place) ? FAULT_BYTE : 0;
    }
    return out;
}

/** Paint them. @param {HTMLCanvasElement} canvas @param {Tensor} map @param {{low: number, high: number}} scale @param {Tensor | null} masked */
export function paint(canvas, map, scale, masked) {
    const [rows, columns] = map.shape;
    if (canvas.width !== columns) canvas.width = columns;
    if (canvas.height !== rows) canvas.height = rows;
    const context = canvas.getContext("2d");
    if (!context) return;
    const picture = context.createImageData(columns, rows);
    const pixels = new Uint32Array(picture.data.buffer);
    const shades = bytes(map, scale, masked);
    for (let i = 0; i < shades.length; i++) pixels[i] = PALETTE[shades[i]];
    context.putImageData(picture, 0, 0);
}
