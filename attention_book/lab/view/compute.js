// @ts-check
// Small inputs are computed at once, large ones in a worker, so that the page never waits.

import { attend, draw } from "../modules.js";
import { settings } from "../state.js";

/** @typedef {import("../state.js").State} State */
/** @typedef {import("../modules.js").Trace} Trace */

const SMALL = 3e6; // multiplications: a few milliseconds

/** How many multiplications a state costs, roughly. @param {State} state */
function cost(state) {
    const { tokens, d_model, d_out, heads, example } = settings(state);
    const n = tokens.length;
    const width = example === "journey" ? d_out : d_model;
    const stack = state.attention === "MultiHeadAttentionWrapper" ? heads : 1;
    return stack * (4 * n * width * (example === "journey" ? 3 : width) + 2 * n * n * width) + 10 * heads * n * n;
}

/** @param {import("./ask.js").Ask} ask @param {(state: State, trace: Trace) => void} done @param {(sentence: string) => void} failed */
export function createComputer(ask, done, failed) {
    /** @type {State | null} what the worker is busy with */
    let busy = null;
    /** @type {State | null} what it shall do next: only the newest counts */
    let next = null;
    let drawnFor = "";
    /** @type {import("../modules.js").Drawn | null} */
    let drawn = null;

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
        const state = next;
        [busy, next] = [state, null];
        /** Unless a small one came in between. @param {() => void} told */
        const unless = (told) => {
            if (busy !== state) return;
            busy = null;
            told();
            feed();
        };
        ask("trace", settings(state)).then(
            (trace) => unless(() => done(state, trace)),
            (error) => unless(() => failed(error.message)),
        );
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
