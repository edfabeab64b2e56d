// @ts-check
// What both models answer, in a sentence that is read out when it changes.

import { fixed } from "../print.js";

/** @typedef {import("../grammar.js").Sentence} Sentence */
/** @typedef {import("../trained.js").Answer} Answer */
/** @typedef {import("./who_choice.js").Head} Head */

/** The likeliest word, and its probability. @param {Answer} answer @param {string[]} words @returns {{word: string, probability: number}} */
function best({ probabilities }, words) {
    const at = probabilities.indexOf(Math.max(...probabilities));
    return { word: words[at], probability: probabilities[at] };
}

/** @param {{word: string, probability: number}} best @returns {string} */
function told({ word, probability }) {
    return `“${word}” with probability ${fixed(probability)}`;
}

/** @param {Sentence} sentence @param {string[]} words @param {{trained: Answer, whole: Answer, random: Answer}} answers whole: trained, with all heads @param {Head[]} off @returns {string} */
export function says({ tokens, right }, words, { trained, whole, random }, off) {
    const [now, before, drawn] = [trained, whole, random].map((answer) => best(answer, words));
    const verdict = now.word === tokens[right] ? "which is right" : `but the grammar means “${tokens[right]}”`;
    const without = now.word === before.word ? "The answer stays" : "The answer changes";
    return [
        `Trained, the model answers ${told(now)}, ${verdict}.`,
        off.length ? `${without}: with all heads on it is ${told(before)}; off ${off.length === 1 ? "is" : "are"} ${listed(off)}.` : "",
        `With random weights it answers ${told(drawn)}.`,
    ].filter(Boolean).join(" ");
}

/** @param {Head[]} heads @returns {string} */
function listed(heads) {
    const names = heads.map(({ layer, head }) => `head ${head} of layer ${layer}`);
    return names.length === 1 ? names[0] : `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`;
}
