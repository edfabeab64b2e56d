// @ts-check
// What the lab does not take, said in a sentence: the value, and what to give instead.

import { MOST_CHARACTERS, MOST_PARAMETERS, MOST_TOKENS, MOST_WEIGHTS, TABLE, columnsOf, severalHeads, tokensOf, widths } from "./state.js";

/** @typedef {import("./state.js").State} State */

const LEAST_SEED = -(2n ** 63n);
const MOST_SEED = 2n ** 64n - 1n;

/**
 * What is wrong with one value by itself, or null.
 * @param {keyof State} name @param {unknown} value @returns {string | null}
 */
export function flaw(name, value) {
    const rule = TABLE[name];
    if (rule.kind === "text") return typeof value === "string" ? null : `${name} is ${quoted(value)}; give text`;
    if (rule.kind === "switch") return typeof value === "boolean" ? null : `${name} is ${quoted(value)}; give true or false`;
    if (rule.kind === "choice") return rule.choices.some((choice) => choice === value) ? null : `${name} is ${quoted(value)}; give one of ${rule.choices.join(", ")}`;
    if (rule.kind === "seed") return seedFlaw(value);
    const kind = rule.kind === "whole" ? "a whole number" : "a number";
    const fits = typeof value === "number" && value >= rule.least && value <= rule.most && (rule.kind === "number" || Number.isInteger(value));
    return fits ? null : `${name} is ${quoted(value)}; give ${kind} from ${rule.least} to ${rule.most}`;
}

/**
 * Why the lab cannot show this state, or null when it can.
 * @param {State} state @returns {string | null}
 */
export function refusal(state) {
    for (const name of /** @type {(keyof State)[]} */ (Object.keys(TABLE))) {
        const wrong = flaw(name, state[name]);
        if (wrong) return `${wrong}.`;
    }
    return textRefusal(state) ?? sizeRefusal(state) ?? cellRefusal(state);
}

/** Why a text cannot be read, or null. @param {State} state @returns {string | null} */
export function textRefusal(state) {
    if (state.example === "journey") return null;
    if (state.text.length > MOST_CHARACTERS) return `The text has ${state.text.length} characters, but at most ${MOST_CHARACTERS} are read; shorten it.`;
    const count = tokensOf(state).length;
    if (count > MOST_TOKENS) return `The text has ${count} tokens, but at most ${MOST_TOKENS} are read; take away ${count - MOST_TOKENS}.`;
    if (count > 0) return null;
    return state.text === "" ? "The text is empty; type at least 1 word." : `The text has ${counted(state.text.length, "character")}, all blank; type at least 1 word.`;
}

/** @param {State} state @returns {string | null} */
function sizeRefusal(state) {
    const { attention, heads } = state;
    const { d_in, d_out } = widths(state);
    const count = tokensOf(state).length;
    if (!severalHeads(attention) && heads !== 1) return `heads is ${heads}, but ${attention} has one; give 1, or choose MultiHeadAttention.`;
    const width = state.example === "journey" ? "d_out" : "d_model";
    if (attention === "MultiHeadAttention" && d_out % heads) {
        return `${width} ${d_out} is not divisible by ${heads} heads; each head takes an equal share of the width: give ${divisors(d_out).join(", ")}.`;
    }
    if (heads * count ** 2 > MOST_WEIGHTS) {
        return `${heads} heads of ${count} x ${count} make ${heads * count ** 2} weights, but at most ${MOST_WEIGHTS} are drawn; give at most ${Math.floor(MOST_WEIGHTS / count ** 2)} heads.`;
    }
    const parameters = attention === "MultiHeadAttentionWrapper" ? 3 * heads * d_in * d_out : 0;
    if (parameters > MOST_PARAMETERS) {
        return `${heads} heads of width ${d_out} hold ${parameters} parameters, but at most ${MOST_PARAMETERS} are drawn; give at most ${Math.floor(MOST_PARAMETERS / (3 * d_in * d_out))} heads, or a smaller ${width}.`;
    }
    return null;
}

/** @param {State} state @returns {string | null} */
function cellRefusal(state) {
    const count = tokensOf(state).length;
    const columns = columnsOf(state);
    if (state.head >= state.heads) return `head is ${state.head}, but there ${state.heads === 1 ? "is 1" : `are ${state.heads}`}; give 0 to ${state.heads - 1}.`;
    if (state.row >= count) return `row is ${state.row}, but ${counted(count, "token")} make rows 0 to ${count - 1}; give one of these, or -1 for none.`;
    if (state.column >= columns) return `column is ${state.column}, but the map of ${state.view} has columns 0 to ${columns - 1}; give one of these.`;
    return null;
}

/** @param {unknown} value @returns {string | null} */
function seedFlaw(value) {
    if (typeof value !== "string" || !/^-?\d{1,20}$/.test(value)) return `seed is ${quoted(value)}; give a whole number from ${LEAST_SEED} to ${MOST_SEED}`;
    const seed = BigInt(value);
    return LEAST_SEED <= seed && seed <= MOST_SEED ? null : `seed is ${value}, which needs more than 64 bits; give ${LEAST_SEED} to ${MOST_SEED}`;
}

/** A value as a sentence can hold it. @param {unknown} value */
function quoted(value) {
    if (typeof value !== "string") return String(value);
    return `“${value.length > 40 ? `${value.slice(0, 40)}…` : value}”`;
}

/** @param {number} number @param {string} what */
function counted(number, what) {
    return `${number} ${what}${number === 1 ? "" : "s"}`;
}

/** @param {number} width @returns {number[]} */
function divisors(width) {
    return Array.from({ length: Math.min(width, 64) }, (_, k) => k + 1).filter((k) => width % k === 0);
}
