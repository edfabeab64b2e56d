// @ts-check
// Small drawings over d_k, and bars. Colours and lines are the style sheet's.

import { drawn } from "./element.js";

const [WIDTH, HEIGHT] = [320, 170];
const BOX = { left: 34, right: 312, top: 10, bottom: 146 };

/** @param {number} d from 1 to 1024, on a logarithmic axis */
const across = (d) => BOX.left + ((BOX.right - BOX.left) * Math.log2(d)) / 10;

/**
 * Curves over d_k from 1 to 1024, and a line that says where the slide is.
 * @param {{lines: Record<string, ArrayLike<number>>, points?: Record<string, ArrayLike<number>>, most: number, ticks: number[], logarithmic?: boolean}} what
 *     place d - 1 holds the value at d; each name is a class
 */
export function createChart({ lines, points = {}, most, ticks, logarithmic = false }) {
    const place = (/** @type {number} */ value) => BOX.bottom - (BOX.bottom - BOX.top) * (logarithmic ? Math.max(Math.log2(Math.max(value, 0.5)) + 1, 0) / (Math.log2(most) + 1) : value / most);
    const marker = drawn("line", { class: "lab-marker", y1: BOX.top, y2: BOX.bottom });
    const svg = drawn("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });
    for (const tick of ticks) {
        svg.append(drawn("line", { class: "lab-grid", x1: BOX.left, x2: BOX.right, y1: place(tick), y2: place(tick) }));
        svg.append(drawn("text", { x: BOX.left - 5, y: place(tick) + 4, "text-anchor": "end" }, String(tick)));
    }
    for (const d of [1, 4, 16, 64, 256, 1024]) svg.append(drawn("text", { x: across(d), y: BOX.bottom + 17, "text-anchor": "middle" }, String(d)));
    for (const [name, values] of Object.entries(lines)) svg.append(drawn("path", { class: `lab-line lab-${name}`, d: path(values, place) }));
    for (const [name, values] of Object.entries(points)) {
        for (let d = 1; d <= 1024; d *= 2) svg.append(drawn("circle", { class: `lab-point lab-${name}`, cx: across(d), cy: place(values[d - 1]), r: 3.5 }));
    }
    svg.append(marker);
    return {
        element: svg,
        /** @param {number} d @param {string} words what the drawing shows there */
        show(d, words) {
            marker.setAttribute("x1", String(across(d)));
            marker.setAttribute("x2", String(across(d)));
            svg.setAttribute("aria-label", words);
        },
    };
}

/** A line through so many of the values that the eye sees no difference. @param {ArrayLike<number>} values @param {(value: number) => number} place */
function path(values, place) {
    let drawnTo = -1;
    let text = "";
    for (let d = 1; d <= values.length; d++) {
        if (across(d) - drawnTo < 1.5 && d < values.length) continue;
        drawnTo = across(d);
        text += `${text ? "L" : "M"}${drawnTo.toFixed(1)} ${place(values[d - 1]).toFixed(1)}`;
    }
    return text;
}

/** Bars from 0 to 1. @param {string} name class @param {number} count */
export function createBars(name, count) {
    const svg = drawn("svg", { viewBox: `0 0 ${WIDTH} 110`, role: "img" });
    for (const tick of [0, 0.5, 1]) {
        svg.append(drawn("line", { class: "lab-grid", x1: BOX.left, x2: BOX.right, y1: 100 - tick * 90, y2: 100 - tick * 90 }));
        svg.append(drawn("text", { x: BOX.left - 5, y: 104 - tick * 90, "text-anchor": "end" }, String(tick)));
    }
    const step = (BOX.right - BOX.left) / count;
    const bars = Array.from({ length: count }, (_, i) => drawn("rect", { class: `lab-bar lab-${name}`, x: BOX.left + i * step + 2, width: step - 4 }));
    svg.append(...bars);
    return {
        element: svg,
        /** @param {ArrayLike<number>} values @param {string} words */
        show(values, words) {
            bars.forEach((bar, i) => {
                bar.setAttribute("y", String(100 - values[i] * 90));
                bar.setAttribute("height", String(values[i] * 90));
            });
            svg.setAttribute("aria-label", words);
        },
    };
}
