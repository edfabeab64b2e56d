// @ts-check
// One cell of a map, step by step: the library's names, the numbers, and the Python that computes each of them after `program(state)`.

import { mapOf, numberAt, rowOf, vectorAt } from "./cells.js";
import { contextAt, explainOutput } from "./explain_output.js";
import { fixed } from "./print.js";
import { ending, masking, raising, scaling } from "./sentences.js";
import { visible } from "./visible.js";

/** @typedef {import("./modules.js").Trace} Trace */
/** @typedef {import("./state.js").Settings} Settings */
/** @typedef {import("./state.js").View} View */
/** @typedef {{name: string, sentence: string, numbers: number[], python: string}} Step */

/**
 * How one query comes to its weight on one key, and what that key adds to its context vector; in the view "output", how one number of the
 * output comes about.
 * @param {Trace} trace @param {Settings} settings @param {number} h @param {number} row @param {number} column @param {View} [view] @returns {Step[]}
 */
export function explain(trace, settings, h, row, column, view = "weights") {
    if (view === "output") return explainOutput(trace, row, column);
    const at = placer(trace, h);
    const [asks, answers] = [visible(trace.tokens[row]), visible(trace.tokens[column])];
    const query = vectorAt(trace.query, h, row);
    const key = vectorAt(trace.key, h, column);
    const value = vectorAt(trace.value, h, column);
    const masked = rowOf(mapOf(trace, "masked", h), row);
    const weights = rowOf(mapOf(trace, "weights", h), row);
    const largest = Math.max(...masked);
    const exponentials = Array.from(masked, (number) => Math.exp(number - largest));
    const exponential = exponentials[column];
    const sum = exponentials.reduce((total, each) => total + each, 0);
    const simple = settings.attention === "simple";
    const below = `torch.exp(${at("masked", row)} - ${at("masked", row)}.max())`;
    return [
        step("query", simple ? `“${asks}” asks, with its embedding as it stands.` : `What “${asks}” looks for.`, query, at("query", row)),
        step("key", simple ? `“${answers}” is asked, with its embedding as it stands.` : `What “${answers}” has to offer.`, key, at("key", column)),
        step("products", "Query times key, number by number.", query.map((number, d) => Math.fround(number * key[d])), `${at("query", row)} * ${at("key", column)}`),
        step("scores", `Their sum is the score: how well “${answers}” answers “${asks}”.`, [numberAt(trace, "scores", h, row, column)], `${at("query", row)} @ ${at("key", column)}`),
        step("scaled", scaling(settings, trace), [numberAt(trace, "scaled", h, row, column)], `${at("scores", row, column)} * scale`),
        step("masked", masking(settings, row, column, asks, answers), [masked[column]], settings.causal ? `${at("scaled", row, column)} if ${column} <= ${row} else -torch.inf` : at("scaled", row, column)),
        step("exponential", raising(masked[column], largest), [Math.fround(exponential)], `torch.exp(${at("masked", row, column)} - ${at("masked", row)}.max())`),
        step("sum", `The same for each of the ${masked.length} keys in this row, added up.`, [Math.fround(sum)], `${below}.sum()`),
        step("weights", `${fixed(exponential)} divided by ${fixed(sum)}: the share of “${answers}” in what “${asks}” takes.`, [weights[column]], `torch.softmax(${at("masked", row)}, dim=-1)[${column}]`),
        step("value", simple ? `What “${answers}” hands over: its embedding once more.` : `What “${answers}” hands over.`, value, at("value", column)),
        step("part", `The weight times the value: its part of the context vector of “${asks}”.`, value.map((number) => Math.fround(number * weights[column])), `${at("weights", row, column)} * ${at("value", column)}`),
        step("output", ending(trace, asks, masked.length), contextAt(trace, h, row), `${at("weights", row)} @ ${at("value")}`),
    ];
}

/** @param {string} name @param {string} sentence @param {number[]} numbers @param {string} python @returns {Step} */
function step(name, sentence, numbers, python) {
    return { name, sentence, numbers, python };
}

/**
 * Writes places as the program's tensors have them, with the head in front where there is an axis for it.
 * @param {Trace} trace @param {number} h @returns {(name: string, ...place: number[]) => string}
 */
function placer(trace, h) {
    const lead = trace.query.shape.length > 2 ? [h] : [];
    return (name, ...place) => (lead.length + place.length ? `${name}[${[...lead, ...place].join(", ")}]` : name);
}
