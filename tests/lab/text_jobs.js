// @ts-check
// Batches of questions to the modules that write and read text, for the tests: one call of the page for many inputs.

import { csv, field } from "./lab/csv.js";
import { THEMES } from "./lab/colours.js";
import { drawing } from "./lab/drawing.js";
import { explain } from "./lab/explain.js";
import { begin, record, redo, reset, undo } from "./lab/history.js";
import { json } from "./lab/json.js";
import { legend, share } from "./lab/legend.js";
import { read, write } from "./lab/link.js";
import { run } from "./lab/modules.js";
import { number, repr, short, string } from "./lab/python.js";
import { program, slideProgram } from "./lab/pytorch.js";
import { refusal } from "./lab/refusal.js";
import { liked, say } from "./lab/say.js";
import { bars, curves, draw } from "./lab/slide.js";
import { split } from "./lab/split.js";
import { DEFAULT, TABLE, change, columnsOf, preset, settings, tokensOf, widths } from "./lab/state.js";
import { visible } from "./lab/visible.js";

const floats = new DataView(new ArrayBuffer(8));

/** A double from the bits that stand for it: JSON has no NaN, no infinity. @param {string} bits */
function double(bits) {
    floats.setBigUint64(0, BigInt(bits));
    return floats.getFloat64(0);
}

/** The trace of a state, with other tokens where they are given. @param {any} state @param {string[]} [tokens] */
function traced(state, tokens) {
    const trace = run(settings(state));
    return tokens ? { ...trace, tokens } : trace;
}

/** Infinity is null in JSON. @param {any} step */
const told = (step) => ({ ...step, numbers: step.numbers.map((/** @type {number} */ each) => (each === -Infinity ? "-inf" : each)) });

/** @type {Record<string, (input: any) => any>} */
const JOBS = {
    split,
    spaces: () => Array.from({ length: 0x110000 }, (_, code) => code).filter((code) => split(`a${String.fromCodePoint(code)}b`).length === 2),
    default: () => DEFAULT,
    table: () => TABLE,
    preset: ({ example, attention }) => preset(example, attention),
    change: ({ state, changes }) => change(state, changes),
    sizes: (state) => ({ tokens: tokensOf(state), columns: columnsOf(state), ...widths(state) }),
    refusal,
    write,
    read,
    addressed: (state) => {
        location.hash = write(state);
        return { hash: location.hash, ...read(location.hash) };
    },
    history: ({ first, moves }) => {
        let history = begin(first);
        return moves.map((/** @type {any} */ [move, state, joined]) => {
            const next = { undo: () => undo(history), redo: () => redo(history), reset: () => reset(history, first), record: () => record(history, state, joined) };
            history = next[/** @type {keyof typeof next} */ (move)]();
            return { now: history.now, past: history.past.length, future: history.future.length };
        });
    },
    string,
    number: (bits) => number(double(bits)),
    repr: (bits) => repr(double(bits)),
    short: (bits) => short(double(bits)),
    visible: ({ text, longest }) => visible(text, longest ?? Infinity),
    field,
    program,
    slideProgram,
    csv: ({ state, tokens }) => csv(traced(state, tokens), state),
    json: ({ state, tokens }) => json(traced(state, tokens)),
    drawing: ({ state, tokens }) => drawing(traced(state, tokens), state, THEMES.light),
    faulty: (state) => {
        const trace = traced(state);
        trace[/** @type {"weights"} */ (state.view)].data[0] = NaN;
        return drawing(trace, state, THEMES.dark);
    },
    explain: (state) => explain(traced(state), settings(state), state.head, state.row, state.column, state.view).map(told),
    say: (state) => say(traced(state), state.head, state.row, state.column, state.view),
    likedOf: ({ shape, data }) => liked({ shape, data: Float32Array.from(data) }),
    liked: (state) => liked(traced(state).weights),
    legend: (state) => legend(traced(state), state.view),
    share: ({ value, scale }) => share(value, scale),
    map: (state) => JSON.parse(json(traced(state)))[state.view],
    curves: (seed) => {
        const { largest, entropy, spread, theory } = curves(draw(BigInt(seed)));
        const pair = (/** @type {any} */ { unscaled, scaled }) => ({ unscaled: [...unscaled], scaled: [...scaled] });
        return { largest: pair(largest), entropy: pair(entropy), spread: [...spread], theory: [...theory] };
    },
    bars: ({ seed, d, row }) => Object.fromEntries(Object.entries(bars(draw(BigInt(seed)), d, row)).map(([name, numbers]) => [name, [...numbers]])),
};

/** @param {string} job @param {any[]} inputs @returns {any[]} */
export function answers(job, inputs) {
    return inputs.map((input) => JOBS[job](input));
}
