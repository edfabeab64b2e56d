// @ts-check
// The model that knows who is "it", for the tests: a job in, its answer out, both plain JSON.

import { parts, refit, sentence, taken, CAT } from "/lab/grammar.js";
import { answer, trained, untrained } from "/lab/trained.js";

const hex = ({ data }) => Array.from(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), (byte) => byte.toString(16).padStart(2, "0")).join("");

const JOBS = {
    parameters: ({ content, random }) => {
        const { parameters } = random ? untrained(content.config) : trained(content);
        return Object.fromEntries(Object.entries(parameters).map(([name, each]) => [name, { shape: each.shape, hex: hex(each) }]));
    },
    answers: ({ content, random, sentences }) => {
        const model = random ? untrained(content.config) : trained(content);
        return sentences.map(({ tokens, off }) => {
            const ids = tokens.map((token) => content.words.indexOf(token));
            const { probabilities, weights } = answer(model, ids, tokens.indexOf("it"), (layer, head) => off.some(([l, h]) => l === layer && h === head));
            return { probabilities: Array.from(probabilities), weights: weights.map(({ shape, data }) => ({ shape, data: Array.from(data) })) };
        });
    },
    /** Every pattern, then each word of it in turn; what stands before is what a reader had. */
    sentences: ({ content }) => {
        const told = [];
        let choice = CAT;
        content.families.forEach(({ patterns }, family) => patterns.forEach((_, pattern) => {
            choice = refit(content, { ...choice, family, pattern });
            told.push({ family, pattern, ...sentence(content, choice) });
            for (const part of parts(content, choice)) {
                if (!("slot" in part)) continue;
                for (const word of part.groups.flatMap(({ words }) => words)) {
                    if (taken(choice, part.slot).includes(word)) continue;
                    choice = part.slot === "DEGREE" ? { ...choice, degree: word } : { ...choice, filled: { ...choice.filled, [part.slot]: word } };
                    told.push({ family, pattern, ...sentence(content, choice) });
                }
            }
        }));
        return told;
    },
};

/** Does one job. */
export const answerOf = (job) => JOBS[job.job](job);
