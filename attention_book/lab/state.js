// @ts-check
// The lab's whole state in one table: what each name may hold, and which values go together.

import { JOURNEY_TOKENS } from "./examples.js";
import { split } from "./split.js";

/** @typedef {"journey" | "text"} ExampleName */
/** @typedef {"simple" | "SelfAttention_v1" | "SelfAttention_v2" | "CausalAttention" | "MultiHeadAttentionWrapper" | "MultiHeadAttention"} AttentionName */
/** @typedef {"scores" | "scaled" | "masked" | "weights" | "output"} View */
/**
 * `seed` is decimal text, since 64 bits do not fit a number. `row` -1: no cell is chosen. In the view "output" a column is a coordinate, else a key.
 * @typedef {{example: ExampleName, text: string, attention: AttentionName, seed: string, d_model: number, d_out: number, heads: number,
 *   causal: boolean, scale: boolean, temperature: number, view: View, head: number, row: number, column: number, d_k: number}} State
 */
/**
 * @typedef {{example: ExampleName, tokens: string[], attention: AttentionName, seed: bigint, d_model: number, d_out: number, heads: number,
 *   causal: boolean, scale: boolean, temperature: number}} Settings
 */
/** @typedef {{kind: "choice", choices: string[]} | {kind: "text"} | {kind: "seed"} | {kind: "switch"} | {kind: "whole" | "number", least: number, most: number}} Kind */

export const MOST_TOKENS = 512;
export const MOST_CHARACTERS = 20000; // a link must carry them
export const MOST_WEIGHTS = 2 ** 22; // all heads together: 512 tokens with 16 heads
export const MOST_PARAMETERS = 2 ** 23;
const JOURNEY_WIDTH = 3;

export const ATTENTIONS = /** @type {AttentionName[]} */ (["simple", "SelfAttention_v1", "SelfAttention_v2", "CausalAttention", "MultiHeadAttentionWrapper", "MultiHeadAttention"]);
export const VIEWS = /** @type {View[]} */ (["scores", "scaled", "masked", "weights", "output"]);

/** What each name of the state may hold. @type {Record<keyof State, Kind>} */
export const TABLE = {
    example: { kind: "choice", choices: ["journey", "text"] },
    text: { kind: "text" },
    attention: { kind: "choice", choices: ATTENTIONS },
    seed: { kind: "seed" },
    d_model: { kind: "whole", least: 1, most: 1024 },
    d_out: { kind: "whole", least: 1, most: 64 },
    heads: { kind: "whole", least: 1, most: 64 },
    causal: { kind: "switch" },
    scale: { kind: "switch" },
    temperature: { kind: "number", least: 0.1, most: 10 },
    view: { kind: "choice", choices: VIEWS },
    head: { kind: "whole", least: 0, most: 63 },
    row: { kind: "whole", least: -1, most: MOST_TOKENS - 1 },
    column: { kind: "whole", least: 0, most: 64 * 1024 - 1 },
    d_k: { kind: "whole", least: 1, most: 1024 },
};

/** Where the lab starts: the last numbers of act 1. @type {Readonly<State>} */
export const DEFAULT = Object.freeze({
    example: "journey", text: "The cat sat on the mat because it was tired", attention: "simple", seed: "123", d_model: 64, d_out: 2, heads: 1,
    causal: false, scale: false, temperature: 1, view: "weights", head: 0, row: -1, column: 0, d_k: 64,
});

/**
 * What an attention starts from: on the six tokens the act's own seed and sizes, on a text those of `attend`.
 * @param {ExampleName} example @param {AttentionName} attention
 * @returns {Pick<State, "seed" | "d_model" | "d_out" | "heads" | "causal" | "scale" | "temperature">}
 */
export function preset(example, attention) {
    const text = example === "text";
    return {
        seed: text ? "42" : attention === "SelfAttention_v2" ? "789" : "123",
        d_model: DEFAULT.d_model,
        d_out: DEFAULT.d_out,
        heads: !severalHeads(attention) ? 1 : text && attention === "MultiHeadAttention" ? 4 : 2,
        causal: attention === "CausalAttention" || attention === "MultiHeadAttentionWrapper" || (attention === "MultiHeadAttention" && !text),
        scale: attention !== "simple",
        temperature: 1,
    };
}

/** @param {AttentionName} attention */
export function severalHeads(attention) {
    return attention === "MultiHeadAttentionWrapper" || attention === "MultiHeadAttention";
}

/** The tokens that a state reads. @param {State} state @returns {string[]} */
export function tokensOf(state) {
    return state.example === "journey" ? [...JOURNEY_TOKENS] : split(state.text);
}

/**
 * Every width of a state: of an embedding, of query and key, of value, and of the output.
 * @param {State} state @returns {{d_in: number, d_out: number, d_k: number, value: number, output: number}}
 */
export function widths(state) {
    const d_in = state.example === "journey" ? JOURNEY_WIDTH : state.d_model;
    const d_out = state.attention === "simple" ? d_in : state.example === "journey" ? state.d_out : state.d_model;
    const d_k = state.attention === "MultiHeadAttention" ? d_out / state.heads : d_out;
    return { d_in, d_out, d_k, value: d_k, output: state.attention === "MultiHeadAttentionWrapper" ? d_out * state.heads : d_out };
}

/** How many columns the map on show has. @param {State} state */
export function columnsOf(state) {
    return state.view === "output" ? widths(state).output : tokensOf(state).length;
}

/**
 * The state after a change. Another example or attention brings its own seed and sizes along, and a head or cell that is no more is let go.
 * @param {State} state @param {Partial<State>} changes @returns {State}
 */
export function change(state, changes) {
    const { example, attention } = { ...state, ...changes };
    const other = example !== state.example || attention !== state.attention;
    const next = { ...state, ...(other ? preset(example, attention) : {}), ...changes };
    if (next.head >= next.heads) next.head = 0;
    const gone = next.row >= tokensOf(next).length || next.column >= columnsOf(next);
    return next.row < 0 || gone ? { ...next, row: -1, column: 0 } : next;
}

/** What the engine is asked for. @param {State} state @returns {Settings} */
export function settings(state) {
    const { example, attention, d_model, d_out, heads, causal, scale, temperature } = state;
    return { example, tokens: tokensOf(state), attention, seed: BigInt.asUintN(64, BigInt(state.seed)), d_model, d_out, heads, causal, scale, temperature };
}
