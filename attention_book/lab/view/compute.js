// @ts-check
// Small inputs are computed at once, large ones in a worker, so that the page never waits.

import { attend, draw } from "../modules.js";
import { settings } from "../state.js";
import { beginWorker } from "./begin_worker.js";

/** @typedef {import("../state.js").State} State */
/** @typedef {import("../modules.js").Trace} Trace */
/** @typedef {import("./begin_worker.js").Source} Source */

const SMALL = 3e6; // multiplications: a few milliseconds

/** How many multiplications a state costs, roughly. @param {State} state */
function cost(state) {
    const { tokens, d_model, d_out, heads, example } = settings(state);
    const n = tokens.length;
    const width = example === "journey" ? d_out : d_model;
    const stack = state.attention === "MultiHeadAttentionWrapper" ? heads : 1;
    return stack * (4 * n * width * (example === "journey" ? 3 : width) + 2 * n * n * width) + 10 * heads * n * n;
}

/** @param {Source} source @param {(state: State, trace: Trace) => void} done @param {(sentence: string) => void} failed */
export function createComputer(source, done, failed) {
    /** @type {Worker | null} */
    let worker = null;
    /** @type {{id: number, state: State} | null} what the worker is busy with */
    let busy = null;
    /** @type {State | null} what it shall do next: only the newest counts */
    let next = null;
    let drawnFor = "";
    /** @type {import("../modules.js").Drawn | null} */
    let drawn = null;
    let count = 0;
    let refused = false;

    /** @param {State} state */
    function here(state) {
        const wanted = settings(state);
        const { causal, scale, temperature, ...rest } = wanted;
        const key = JSON.stringify({ ...rest, seed: String(rest.seed) });
        if (key !== drawnFor || !drawn) [drawnFor, drawn] = [key, draw(wanted)];
        done(state, attend(drawn, wanted));
    }

    function feed() {
        if (busy || !next) return;
        busy = { id: (count += 1), state: next };
        next = null;
        worker ??= begin();
        if (worker) worker.postMessage({ id: busy.id, settings: settings(busy.state) });
        else setTimeout(alone);
    }

    /** Without a worker: late, so that what was typed is drawn first. */
    function alone() {
        if (!busy) return;
        const { state } = busy;
        busy = null;
        here(state);
        feed();
    }

    /** @returns {Worker | null} */
    function begin() {
        if (refused) return null; // a browser may refuse workers: then the page waits
        try {
            const begun = beginWorker(source);
            begun.addEventListener("message", ({ data: { id, trace, complaint } }) => {
                if (busy?.id !== id) return;
                const { state } = /** @type {{state: State}} */ (busy);
                busy = null;
                if (trace) done(state, trace);
                else failed(complaint);
                feed();
            });
            begun.addEventListener("error", (event) => {
                event.preventDefault();
                worker = null;
                refused = true;
                alone();
            });
            return begun;
        } catch {
            refused = true;
            return null;
        }
    }

    return {
        /** @param {State} state */
        run(state) {
            if (cost(state) <= SMALL) {
                next = null;
                busy = null;
                here(state);
            } else {
                next = state;
                feed();
            }
        },
    };
}
