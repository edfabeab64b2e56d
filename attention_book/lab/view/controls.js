// @ts-check
// What can be turned: those controls that this lab's lock leaves free.

import { severalHeads } from "../state.js";
import { element } from "./element.js";
import { check, digits, list, radios } from "./fields.js";
import { createSentence } from "./sentence.js";
import { slider } from "./slider.js";

/** @typedef {import("../state.js").State} State */
/** @typedef {import("./lock.js").Lock} Lock */
/** @typedef {(changes: Partial<State>, joined?: boolean) => string | null} Set returns why a change is refused */

const ATTENTIONS = {
    simple: "simple, without weights",
    SelfAttention_v1: "SelfAttention_v1",
    SelfAttention_v2: "SelfAttention_v2",
    CausalAttention: "CausalAttention",
    MultiHeadAttentionWrapper: "MultiHeadAttentionWrapper (a stack)",
    MultiHeadAttention: "MultiHeadAttention (a split)",
};

/** @param {Lock} lock @param {Set} set */
export function createControls(lock, set) {
    /** Digits become a number; what is none is refused in words. @param {string} text */
    const whole = (text) => /** @type {number} */ (/^-?\d{1,9}$/.test(text) ? Number(text) : text);
    /** @param {keyof State} name @returns {(text: string) => string | null} */
    const number = (name) => (text) => set({ [name]: whole(text) }, true);
    /** Each with how it shows a state, and when it has a part to play. @type {Record<string, {field: import("./fields.js").Field<any>, used?: (state: State) => boolean}>} */
    const all = {
        example: { field: radios("Read", { journey: "the six words of the acts", text: "your own sentence" }, (example) => set({ example: /** @type {any} */ (example) })) },
        text: { field: createSentence((text, joined) => set({ text }, joined)), used: ({ example }) => example === "text" },
        attention: {
            field: list("Attention", Object.fromEntries(lock.attentions.map((name) => [name, ATTENTIONS[name]])), (attention) => set({ attention: /** @type {any} */ (attention) })),
        },
        seed: { field: digits("Seed", (seed) => set({ seed }, true), { keyboard: "text", size: 8 }), used: (state) => state.example === "text" || state.attention !== "simple" },
        d_model: { field: digits("d_model", number("d_model")), used: ({ example }) => example === "text" },
        d_out: { field: digits("d_out", number("d_out")), used: (state) => state.example === "journey" && state.attention !== "simple" },
        heads: { field: digits("Heads", number("heads")), used: ({ attention }) => severalHeads(attention) },
        causal: { field: check(lock.given ? "Mask, as it was traced" : "Causal mask: hide later tokens", (causal) => set({ causal })) },
        scale: { field: check(lock.given ? "Scale, as it was traced" : "Divide by the root of d_k", (scale) => set({ scale })) },
        temperature: {
            field: slider(
                "Temperature",
                { least: 0.1, most: 10, marked: 1, round: (value) => Number(value.toPrecision(3)), write: (value) => String(value) },
                (temperature, joined) => set({ temperature }, joined),
            ),
        },
    };
    const names = /** @type {(keyof State)[]} */ (lock.controls.filter((name) => name in all));
    const rows = [["example"], ["text"], ["attention", "seed", "d_model", "d_out", "heads"], ["causal", "scale", "temperature"]]
        .map((row) => row.filter((name) => names.includes(/** @type {keyof State} */ (name))))
        .filter((row) => row.length)
        .map((row) => element("div", { class: "lab-row" }, ...row.map((name) => all[name].field.element)));

    /** @param {State} state */
    function show(state) {
        for (const name of names) {
            const { field, used } = all[name];
            field.element.hidden = used ? !used(state) : false;
            field.show(typeof state[name] === "number" && name !== "temperature" ? String(state[name]) : state[name]);
        }
    }
    return { element: element("div", { class: "lab-controls" }, ...rows), show };
}
