// @ts-check
// The enlarged map as a real table, built only when it is opened. Of a large map it holds a part, which two lists choose.

import { share } from "../legend.js";
import { fixed } from "../print.js";
import { visible } from "../visible.js";
import { element, token } from "./element.js";
import { labelled } from "./fields.js";
import { hiding } from "./shown.js";

/** @typedef {import("./shown.js").Shown} Shown */

const MOST = 40; // a side, at once; as attention_book.tables shows
const LEVELS = 64;

export function createTable() {
    const which = { row: element("select"), column: element("select") };
    const choices = { row: labelled("Queries", which.row), column: labelled("Keys", which.column) };
    const place = element("div", { class: "lab-scroll", tabindex: 0, role: "group", "aria-label": "Table" });
    const box = element("details", { class: "lab-table" }, element("summary", {}, "The numbers as a table"), element("div", { class: "lab-row" }, choices.row, choices.column), place);
    /** @type {Shown | null} */
    let on = null;
    let stale = true;

    function build() {
        if (!on || !box.open || !stale) return;
        stale = false;
        place.replaceChildren(tableOf(on, Number(which.row.value), Number(which.column.value)));
    }
    box.addEventListener("toggle", build);
    for (const select of Object.values(which)) {
        select.addEventListener("change", () => {
            stale = true;
            build();
        });
    }

    /** @param {Shown} next */
    function show(next) {
        on = next;
        stale = true;
        parts(choices.row, which.row, on.rows.length, on.state.row);
        parts(choices.column, which.column, on.columns.length, on.state.row < 0 ? -1 : on.state.column);
        build();
    }
    return { element: box, show };
}

/** Offer the parts of a long side; a chosen cell brings its part along. @param {HTMLElement} field @param {HTMLSelectElement} select @param {number} count @param {number} chosen */
function parts(field, select, count, chosen) {
    const starts = Array.from({ length: Math.ceil(count / MOST) }, (_, k) => k * MOST);
    field.hidden = starts.length < 2;
    const kept = chosen < 0 ? Number(select.value) : Math.floor(chosen / MOST) * MOST;
    if (select.options.length !== starts.length || Number(select.dataset.count) !== count) {
        select.replaceChildren(...starts.map((start) => element("option", { value: start }, `${start} to ${Math.min(start + MOST, count) - 1}`)));
        select.dataset.count = String(count);
    }
    select.value = String(starts.includes(kept) ? kept : 0);
}

/** @param {Shown} on @param {number} top @param {number} first */
function tableOf(on, top, first) {
    const { state, trace, maps, head, scale, liked } = on;
    const rows = trace.tokens.map((name) => visible(name)); // in full
    const columns = state.view === "output" ? on.columns : rows;
    const masked = hiding(on, head);
    const what = maps.length > 1 ? `${state.view} of head ${head}` : state.view;
    const summed = state.view === "weights";
    const names = columns.slice(first, first + MOST).map((name) => element("th", { scope: "col" }, token(name)));
    const more = summed ? ["row sum", "likes most"].map((words) => element("th", { scope: "col" }, words)) : [];
    const body = rows.slice(top, top + MOST).map((name, k) => {
        const row = top + k;
        const start = row * columns.length;
        const cells = Array.from(maps[head].data.subarray(start + first, start + Math.min(first + MOST, columns.length)), (number, j) => {
            const hidden = masked?.data[start + first + j] === -Infinity;
            const level = Math.round(share(number, scale) * (LEVELS - 1));
            return element("td", { class: hidden ? "lab-hidden" : Number.isFinite(number) ? `m${level}` : "lab-fault" }, fixed(number));
        });
        const facts = summed ? [element("td", {}, fixed(liked[row].sum)), element("td", {}, token(rows[liked[row].key]))] : [];
        return element("tr", {}, element("th", { scope: "row" }, token(name)), ...cells, ...facts);
    });
    const across = state.view === "output" ? "columns are coordinates" : "columns are keys";
    return element(
        "table",
        {},
        element("caption", {}, `${what}: rows are queries, ${across}`),
        element("thead", {}, element("tr", {}, element("td"), ...names, ...more)),
        element("tbody", {}, ...body),
    );
}
