// @ts-check
// The names of rows and columns around a map, as many as fit.

import { element, text, width } from "./svg_text.js";

const SIZE = 12;
const LINE = 14;
const HEADING = 30; // the map's title stands above
const SLOPE = Math.SQRT1_2; // names of columns rise at 45 degrees where they do not fit level

/**
 * @param {{queries: string[], keys: string[], columnsAre: string, cellWidth: number, cellHeight: number, colour: string}} wanted
 * @returns {{left: number, top: number, right: number, steps: {queries: number, keys: number}, labels: string[]}} where the map begins, what stands
 *   out behind it, every how many-th name is drawn, and the names
 */
export function axes({ queries, keys, columnsAre, cellWidth, cellHeight, colour }) {
    const longest = Math.max(...keys.map((key) => width(key, SIZE)));
    const level = longest + 4 <= cellWidth;
    const steps = { queries: Math.ceil(LINE / cellHeight), keys: level ? 1 : Math.ceil(LINE / SLOPE / cellWidth) };
    const left = Math.max(...queries.map((query) => width(query, SIZE)), width("query", SIZE)) + 12;
    const top = HEADING + LINE + 8 + Math.ceil(level ? LINE : longest * SLOPE + LINE);
    const style = { "font-size": SIZE, fill: colour };
    const rows = queries.map((query, i) => element("text", { ...style, x: left - 6, y: top + (i + 0.5) * cellHeight + 4, "text-anchor": "end" }, [text(query)]));
    const columns = keys.map((key, j) => {
        const x = left + (j + 0.5) * cellWidth;
        /** @type {Record<string, string | number>} */
        const place = level ? { x, y: top - 6, "text-anchor": "middle" } : { transform: `translate(${x} ${top - 6}) rotate(-45)` };
        return element("text", { ...style, ...place }, [text(key)]);
    });
    const titles = [
        element("text", { ...style, "font-style": "italic", x: left, y: HEADING + LINE }, [text(columnsAre)]),
        element("text", { ...style, "font-style": "italic", x: left - 6, y: HEADING + LINE, "text-anchor": "end" }, ["query"]),
    ];
    const labels = [...titles, ...rows.filter((_, i) => i % steps.queries === 0), ...columns.filter((_, j) => j % steps.keys === 0)];
    return { left, top, right: level ? 12 : Math.max(12, Math.ceil(longest * SLOPE)), steps, labels };
}
