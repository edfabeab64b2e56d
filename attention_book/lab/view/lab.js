// @ts-check
// One lab: it owns the state, and hands it to the parts.

import { begin, record, redo, reset, undo } from "../history.js";
import { extremes } from "../legend.js";
import { read, write } from "../link.js";
import { program } from "../pytorch.js";
import { refusal } from "../refusal.js";
import { change } from "../state.js";
import { createActions } from "./actions.js";
import { PATIENCE, createAsk } from "./ask.js";
import { createCode } from "./code.js";
import { createComputer } from "./compute.js";
import { createControls } from "./controls.js";
import { element, tell } from "./element.js";
import { radios } from "./fields.js";
import { driven, traceOf } from "./given.js";
import { createHeads } from "./heads.js";
import { createLegend } from "./legend.js";
import { createMap } from "./map.js";
import { sentenceOf, shown } from "./shown.js";
import { createSlide } from "./slide.js";
import { createSteps } from "./steps.js";
import { createTable } from "./table.js";
import { createTurns } from "./turns.js";

/** @typedef {import("../state.js").State} State */
/** @typedef {import("../history.js").History} History */

const AT_ONCE = 2 ** 16; // weights that are drawn within a frame
const ADDRESS_DELAY = 200; // browsers allow a page few changes of its address a second

/** @param {HTMLElement} place @param {import("./lock.js").Lock} lock @param {import("./begin_worker.js").Source} source */
export function createLab(place, lock, source) {
    const given = lock.given ? traceOf(lock.given) : null;
    const complaint = element("p", { class: "lab-complaint", role: "alert", hidden: true });
    const progress = element("p", { class: "lab-progress", role: "status" });
    const reading = element("p", { class: "lab-reading", role: "status" });
    const controls = createControls(lock, set);
    const views = radios("Show", Object.fromEntries(lock.views.map((view) => [view, view])), (view) => set({ view: /** @type {any} */ (view) }), "lab-views");
    const heads = createHeads((head) => set({ head }));
    const map = createMap({ choose: ({ row, column }) => set({ row, column }), point });
    const legend = createLegend();
    const steps = createSteps(() => set({ row: -1, column: 0 }));
    const table = createTable();
    const code = given ? null : createCode("The same in PyTorch", "attention.py");
    const slide = lock.slide ? createSlide((d_k, joined) => set({ d_k }, joined), lock.state.d_k !== 64, createAsk(source)) : null;
    const actions = createActions({
        undo: () => go(undo(history)),
        redo: () => go(redo(history)),
        reset: () => go(reset(history, lock.state)),
        ask: createAsk(source),
        link: lock.page ? () => new URL(lock.page, location.href).href.replace(/#.*/, "") + write(history.now) : null,
    });
    const computer = createComputer(createAsk(source), arrived, failed);
    const turns = createTurns();
    const first = lock.own && location.hash.includes("=") ? read(location.hash) : { state: lock.state, complaint: null };
    let history = begin(first.state);
    /** @type {import("./shown.js").Shown | null} */
    let on = null;
    let [waiting, naming] = [0, 0];

    /**
     * Change the state, or say why not.
     * @param {Partial<State>} changes @param {boolean} [joined] whether it belongs to the change before @returns {string | null}
     */
    function set(changes, joined = false) {
        const next = change(history.now, changes);
        const refused = refusal(next);
        complain(refused && !("text" in changes) ? refused : null);
        if (!refused) go(record(history, next, joined));
        return refused;
    }

    /** @param {History} next */
    function go(next) {
        const same = next.now === history.now && on;
        history = next;
        if (same) return;
        controls.show(history.now);
        views.show(history.now.view);
        slide?.show(history.now);
        name();
        if (on && on.trace && alike(on.state, history.now)) {
            arrived(history.now, on.trace);
            return;
        }
        place.setAttribute("aria-busy", "true");
        clearTimeout(waiting);
        waiting = window.setTimeout(() => tell(progress, "Computing…"), PATIENCE);
        if (given) arrived(history.now, driven(given, lock.state, history.now));
        else computer.run(history.now);
    }

    /** Draw what was computed, with what has been chosen since. @param {State} state @param {import("./shown.js").Trace} trace */
    function arrived(state, trace) {
        /** @type {import("./shown.js").Shown} */
        let now;
        /** @type {((now: import("./shown.js").Shown) => void)[]} */
        const parts = [heads.show, ...map.parts, legend.show, steps.show, table.show];
        place.setAttribute("aria-busy", "true");
        turns(
            [
                () => void extremes(trace[state.view]),
                () => (now = on = shown(state, trace, Boolean(given))),
                ...parts.map((part) => () => part(now)),
                () => {
                    code?.show(() => program(state));
                    actions.show(now, history);
                    point(state.row < 0 ? null : { row: state.row, column: state.column });
                    if (alike(state, history.now)) ready();
                },
            ],
            trace.weights.data.length <= AT_ONCE,
        );
    }

    /** Nothing is being waited for. */
    function ready() {
        clearTimeout(waiting);
        tell(progress, "");
        place.removeAttribute("aria-busy");
    }

    /** Say what a cell holds. @param {{row: number, column: number} | null} cell */
    function point(cell) {
        if (!on) return;
        const { state, liked, rows } = on;
        const at = cell ?? (state.row < 0 ? null : { row: state.row, column: state.column });
        if (!at) return tell(reading, "Point at a cell to read it.");
        const favourite = state.view === "output" ? "" : `; it likes ${rows[liked[at.row].key]} most`;
        tell(reading, sentenceOf(on, at.row, at.column) + favourite);
    }

    /** What can not be computed is not waited for. @param {string} sentence */
    function failed(sentence) {
        ready();
        complain(sentence);
    }

    /** @param {string | null} sentence */
    function complain(sentence) {
        complaint.hidden = !sentence;
        tell(complaint, sentence ?? "");
    }

    /** The state goes into the address of the lab's own page. */
    function name() {
        if (!lock.own) return;
        clearTimeout(naming);
        naming = window.setTimeout(() => {
            const hash = write(history.now);
            if (hash !== location.hash) window.history.replaceState(null, "", hash || location.pathname + location.search);
        }, ADDRESS_DELAY);
    }

    if (lock.own) {
        addEventListener("hashchange", ({ newURL }) => {
            const { hash } = new URL(newURL); // the address itself may already say the state before once more
            if (hash && !hash.includes("=")) return; // a heading of the page
            const { state, complaint: wrong } = read(hash);
            complain(wrong);
            go(record(history, state));
        });
    }
    place.replaceChildren(
        controls.element, complaint, views.element, heads.element, reading, map.element, legend.element, progress,
        steps.element, table.element, ...(slide ? [slide.element] : []), ...(code ? [code.element] : []), actions.element,
    );
    place.classList.add("lab-live");
    go(history);
    complain(first.complaint);
}

/** Whether two states have the same numbers, and differ only in what is shown of them. @param {State} one @param {State} other */
function alike(one, other) {
    const names = /** @type {(keyof State)[]} */ (["example", "text", "attention", "seed", "d_model", "d_out", "heads", "causal", "scale", "temperature"]);
    return names.every((key) => one[key] === other[key]);
}
