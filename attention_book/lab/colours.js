// @ts-check
// The colours of a map: viridis, as in the book's figures and tables.

/** @typedef {[red: number, green: number, blue: number]} Rgb from 0 to 255 */
/** @typedef {{ground: string, text: string}} Colours of what surrounds the cells */

const STOPS = "440154 47186a 472c7b 424085 3a528b 32628d 2c728e 26818e 20908c 1e9f88 28ae7f 3ebc73 5ec961 83d34b addc30 d7e219 fde724"
    .split(" ")
    .map((stop) => /** @type {Rgb} */ ([0, 2, 4].map((at) => parseInt(stop.slice(at, at + 2), 16))));

export const HIDDEN = "#8c8c8c"; // a grey that stands out from white pages and from dark ones
export const HATCH = "#c4c4c4";
export const FAULT = "#d7301f"; // a red that viridis does not have, for what is no number
export const THEMES = { light: { ground: "#ffffff", text: "#111111" }, dark: { ground: "#131416", text: "#ececec" } };

/** The colour of a share of the scale; what lies beyond takes the colour of its end. @param {number} share @returns {Rgb} */
export function viridis(share) {
    const place = Math.min(Math.max(share, 0), 1) * (STOPS.length - 1);
    const k = Math.min(Math.floor(place), STOPS.length - 2);
    return /** @type {Rgb} */ (STOPS[k].map((from, c) => Math.round(from + (STOPS[k + 1][c] - from) * (place - k))));
}

/** @param {Rgb} rgb @returns {string} */
export function css(rgb) {
    return `#${rgb.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

/** The ink, dark or light, that stands out more from a colour. @param {Rgb} rgb @returns {string} */
export function ink(rgb) {
    const [red, green, blue] = rgb.map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18 ? "#010101" : "#ffffff"; // relative luminance, WCAG 2
}
