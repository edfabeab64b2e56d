// @ts-check
// The one cell of a map that the keyboard is in: of all its cells only this one is an element, so that a large map costs nothing.

import { element } from "./element.js";

/** @typedef {{row: number, column: number}} Place */

const PAGE = 10;

/**
 * Where a key leads from a cell, or null where it leads nowhere.
 * @param {string} key @param {boolean} control @param {Place} from @param {number} rows @param {number} columns @returns {Place | null}
 */
export function step(key, control, { row, column }, rows, columns) {
    const end = { row: rows - 1, column: columns - 1 };
    const inside = (/** @type {number} */ to, /** @type {number} */ last) => Math.min(Math.max(to, 0), last);
    switch (key) {
        case "ArrowUp": return { row: inside(row - 1, end.row), column };
        case "ArrowDown": return { row: inside(row + 1, end.row), column };
        case "ArrowLeft": return { row, column: inside(column - 1, end.column) };
        case "ArrowRight": return { row, column: inside(column + 1, end.column) };
        case "PageUp": return { row: inside(row - PAGE, end.row), column };
        case "PageDown": return { row: inside(row + PAGE, end.row), column };
        case "Home": return control ? { row: 0, column: 0 } : { row, column: 0 };
        case "End": return control ? end : { row, column: end.column };
        default: return null;
    }
}

/**
 * The cell as a grid of that size sees it.
 * @param {HTMLElement} grid @param {{moved: (place: Place) => void, chosen: (place: Place) => void}} listener
 */
export function createCursor(grid, { moved, chosen }) {
    const cell = element("div", { role: "gridcell", tabindex: 0, class: "lab-cursor" });
    const row = element("div", { role: "row" }, cell);
    grid.setAttribute("role", "grid");
    grid.append(row);
    let place = { row: 0, column: 0 };
    let size = [1, 1];

    cell.addEventListener("keydown", (event) => {
        if (event.altKey || event.metaKey) return;
        if (event.key === "Enter" || event.key === " ") {
            event.preventDefault();
            chosen(place);
            return;
        }
        const next = step(event.key, event.ctrlKey, place, size[0], size[1]);
        if (!next) return;
        event.preventDefault();
        moved(next);
        cell.scrollIntoView({ block: "nearest", inline: "nearest" });
    });

    return {
        element: cell,
        get place() {
            return place;
        },
        /** @param {Place} to @param {string} words @param {boolean} selected @param {number} cellSize */
        put(to, words, selected, cellSize) {
            place = to;
            row.setAttribute("aria-rowindex", String(to.row + 1));
            cell.setAttribute("aria-colindex", String(to.column + 1));
            cell.setAttribute("aria-label", words);
            cell.setAttribute("aria-selected", String(selected));
            cell.style.translate = `${to.column * cellSize}px ${to.row * cellSize}px`;
        },
        /** @param {number} rows @param {number} columns @param {string} words */
        resize(rows, columns, words) {
            size = [rows, columns];
            grid.setAttribute("aria-rowcount", String(rows));
            grid.setAttribute("aria-colcount", String(columns));
            grid.setAttribute("aria-label", words);
        },
    };
}
