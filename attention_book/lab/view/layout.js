// @ts-check
// How large the cells of the enlarged map are, and how its names stand.

/** @typedef {import("./shown.js").Shown} Shown */

const [SMALLEST, LARGEST] = [24, 60]; // a thumb hits 24 pixels
const ROOMY = 560; // from this width on the facts about each row stand beside it, else one scrolls to them
const TEXT = 13;

/**
 * @param {Shown} on @param {number} width of the box @param {boolean} whole whether all of the map is to be seen at once @param {string} family of the font
 * @returns {{cell: number, names: number, heads: number, upright: boolean, scrolls: boolean}} pixels: a cell, room for names of rows and columns;
 *     whether names of columns stand upright; whether the map is wider than its box at the smallest size for a thumb
 */
export function sizes({ rows, columns, state }, width, whole, family) {
    const roomy = width >= ROOMY;
    const names = Math.min(Math.max(widest(rows, family), 50) + 12, roomy ? 140 : 84);
    const facts = roomy && state.view === "weights" ? 56 + Math.min(widest(rows, family) + 68, 150) : 0;
    const least = (width - names - 2) / columns.length;
    const roomFor = Math.floor((width - names - facts - 2) / columns.length);
    const scrolls = least < SMALLEST;
    const cell = whole && scrolls ? Math.max(least, 1) : Math.min(Math.max(roomFor, SMALLEST), LARGEST);
    const longest = widest(columns, family);
    const upright = longest + 6 > cell;
    return { cell, names, heads: upright ? Math.min(longest + 10, 110) : 32, upright, scrolls };
}

/** @type {CanvasRenderingContext2D | null} */
let ruler = null;
/** @type {Map<string, number>} what was measured of late: names seldom change */
const measured = new Map();

/** @param {string[]} names @param {string} family */
function widest(names, family) {
    ruler ??= document.createElement("canvas").getContext("2d");
    if (!ruler) return 80;
    const key = [family, ...names].join("\n");
    const known = measured.get(key);
    if (known !== undefined) return known;
    ruler.font = `${TEXT}px ${family}`;
    let most = 0;
    for (const name of names) most = Math.max(most, ruler.measureText(name).width);
    if (measured.size > 20) measured.clear();
    measured.set(key, Math.ceil(most));
    return Math.ceil(most);
}
