// @ts-check
// Sentences of the grammar that the model was trained on: what a reader may choose, and whom the grammar then means.

/** @typedef {{patterns: string[], answers: Record<string, {noun: string, adjectives: string[]}>}} Family */
/** @typedef {{words: string[], families: Family[], slots: Record<string, string[]>, degrees: string[]}} Grammar as `attention_book/trained/export.py` writes it */
/** @typedef {{family: number, pattern: number, degree: string, filled: Record<string, string>}} Choice the word in each slot; degree "" is none */
/** @typedef {{word: string} | {slot: string, groups: {name: string, words: string[]}[]}} Part a word that stands, or one to choose */
/** @typedef {{tokens: string[], it: number, right: number, wrong: number}} Sentence with the places of "it" and of both nouns */

export const ADJECTIVE = "ADJECTIVE";
export const DEGREE = "DEGREE";

/** The book's own sentence. @type {Choice} */
export const CAT = {
    family: 0,
    pattern: 0,
    degree: "",
    filled: { ANIMAL: "cat", SAT: "sat", ON: "on", THING: "mat", ADJECTIVE: "tired" },
};

/** @param {Grammar} grammar @param {Choice} choice @returns {string[]} */
function pattern({ families }, choice) {
    return families[choice.family].patterns[choice.pattern].split(" ");
}

/** The slots of both nouns of a family, by the answers' order. @param {Family} family @returns {string[]} */
function nouns({ answers }) {
    return Object.values(answers).map(({ noun }) => noun);
}

/** The sentence piece by piece. @param {Grammar} grammar @param {Choice} choice @returns {Part[]} */
export function parts(grammar, choice) {
    const { answers } = grammar.families[choice.family];
    const all = pattern(grammar, choice);
    /** @type {Part[]} */
    const found = [];
    all.forEach((word, at) => {
        if (word === ADJECTIVE) {
            // Where a pattern says "too" already, the grammar adds nothing.
            if (all[at - 1] !== "too") found.push({ slot: DEGREE, groups: [{ name: "", words: ["", ...grammar.degrees] }] });
            found.push({ slot: word, groups: Object.values(answers).map(({ noun, adjectives }) => ({ name: `“it” is the ${noun.toLowerCase()}`, words: adjectives })) });
        } else if (Object.hasOwn(grammar.slots, word)) found.push({ slot: word, groups: [{ name: "", words: grammar.slots[word] }] });
        else found.push({ word });
    });
    return found;
}

/** Words that may not stand in a slot because another one has them: no sentence names one noun twice. @param {Choice} choice @param {string} slot @returns {string[]} */
export function taken({ filled }, slot) {
    return Object.keys(filled).filter((other) => other !== slot).map((other) => filled[other]);
}

/** A choice with another pattern: words that fit stay, the others are the first that may stand there. @param {Grammar} grammar @param {Choice} choice @returns {Choice} */
export function refit(grammar, choice) {
    /** @type {Choice} */
    const fitted = { ...choice, filled: {} };
    const all = parts(grammar, choice);
    for (const part of all) {
        if (!("slot" in part) || part.slot === DEGREE) continue;
        const words = part.groups.flatMap((group) => group.words).filter((word) => !taken(fitted, part.slot).includes(word));
        const before = choice.filled[part.slot];
        fitted.filled[part.slot] = words.includes(before) ? before : words[0];
    }
    if (!all.some((part) => "slot" in part && part.slot === DEGREE)) fitted.degree = "";
    return fitted;
}

/** The sentence as the model reads it, and whom the grammar means. @param {Grammar} grammar @param {Choice} choice @returns {Sentence} */
export function sentence(grammar, choice) {
    const family = grammar.families[choice.family];
    /** @type {string[]} */
    const tokens = [];
    /** @type {Record<string, number>} */
    const places = {};
    for (const word of pattern(grammar, choice)) {
        if (word === ADJECTIVE && choice.degree) tokens.push(choice.degree);
        places[word] = tokens.length;
        tokens.push(choice.filled[word] ?? word);
    }
    const meant = Object.values(family.answers).find(({ adjectives }) => adjectives.includes(choice.filled[ADJECTIVE]));
    if (!meant) throw new RangeError(`${choice.filled[ADJECTIVE]} is no adjective of this pattern; choose another`);
    const [wrong] = nouns(family).filter((noun) => noun !== meant.noun);
    return { tokens, it: tokens.indexOf("it"), right: places[meant.noun], wrong: places[wrong] };
}

/** A pattern as a reader sees it: "the … sat on the …". @param {Grammar} grammar @param {number} family @param {number} at @returns {string} */
export function outline({ families, slots }, family, at) {
    return families[family].patterns[at].split(" ").map((word) => (word === ADJECTIVE || Object.hasOwn(slots, word) ? word.toLowerCase() : word)).join(" ");
}
