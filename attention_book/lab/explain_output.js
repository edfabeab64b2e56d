// @ts-check
// One number of the output, step by step.

import { mapOf, numberAt, rowOf, vectorAt } from "./cells.js";
import { visible } from "./visible.js";

/** @typedef {import("./modules.js").Trace} Trace */
/** @typedef {import("./explain.js").Step} Step */

/**
 * @param {Trace} trace @param {number} row whose context vector @param {number} column which of its numbers @returns {Step[]}
 */
export function explainOutput(trace, row, column) {
    return "out_proj.weight" in trace.parameters ? mixed(trace, row, column) : averaged(trace, row, column);
}

/** A weighted average of one number of each value. @param {Trace} trace @param {number} row @param {number} column @returns {Step[]} */
function averaged(trace, row, column) {
    const width = trace.value.shape[trace.value.shape.length - 1];
    const h = Math.floor(column / width);
    const e = column % width;
    const several = trace.value.shape.length > 2;
    const lead = several ? `${h}, ` : "";
    const asks = visible(trace.tokens[row]);
    const weights = Array.from(rowOf(mapOf(trace, "weights", h), row));
    const values = weights.map((_, j) => vectorAt(trace.value, h, j)[e]);
    const whose = several ? ` of head ${h}` : "";
    return [
        { name: "weights", sentence: `How much “${asks}” takes from each key${several ? ` in head ${h}` : ""}.`, numbers: weights, python: `weights[${lead}${row}]` },
        { name: "value", sentence: `Number ${e} of each key's value${whose}.`, numbers: values, python: `value[${lead}:, ${e}]` },
        { name: "part", sentence: "Weight times value, key by key.", numbers: weights.map((weight, j) => Math.fround(weight * values[j])), python: `weights[${lead}${row}] * value[${lead}:, ${e}]` },
        { name: "output", sentence: `Their sum: number ${column} of the context vector of “${asks}”.`, numbers: [numberAt(trace, "output", 0, row, column)], python: `weights[${lead}${row}] @ value[${lead}:, ${e}]` },
    ];
}

/** The heads' context vectors joined, times one row of the last layer. @param {Trace} trace @param {number} row @param {number} column @returns {Step[]} */
function mixed(trace, row, column) {
    const asks = visible(trace.tokens[row]);
    const joined = joinedContext(trace, row);
    const dials = vectorAt(trace.parameters["out_proj.weight"], 0, column);
    const bias = trace.parameters["out_proj.bias"];
    const steps = [
        { name: "joined", sentence: `The context vectors of “${asks}” in all ${trace.value.shape[0]} heads, one after the other.`, numbers: joined, python: `joined[${row}]` },
        { name: "out_proj", sentence: `Row ${column} of the last layer's weight.`, numbers: dials, python: `out_proj.weight[${column}]` },
        { name: "products", sentence: "One times the other, number by number.", numbers: joined.map((number, d) => Math.fround(number * dials[d])), python: `joined[${row}] * out_proj.weight[${column}]` },
    ];
    if (bias) steps.push({ name: "bias", sentence: "What the last layer adds to every token.", numbers: [bias.data[column]], python: `out_proj.bias[${column}]` });
    const sum = `joined[${row}] @ out_proj.weight[${column}]`;
    steps.push({
        name: "output",
        sentence: `The products added up${bias ? ", and the bias" : ""}: number ${column} of the output of “${asks}”.`,
        numbers: [numberAt(trace, "output", 0, row, column)],
        python: bias ? `${sum} + out_proj.bias[${column}]` : sum,
    });
    return steps;
}

/** One row of `(weights @ value).transpose(0, 1).flatten(1)`. @param {Trace} trace @param {number} row @returns {number[]} */
function joinedContext(trace, row) {
    return Array.from({ length: trace.value.shape[0] }, (_, h) => contextAt(trace, h, row)).flat();
}

/** The weighted average of one head's values. @param {Trace} trace @param {number} h @param {number} row @returns {number[]} */
export function contextAt(trace, h, row) {
    const sum = new Float64Array(trace.value.shape[trace.value.shape.length - 1]);
    rowOf(mapOf(trace, "weights", h), row).forEach((weight, j) => vectorAt(trace.value, h, j).forEach((number, e) => (sum[e] += weight * number)));
    return Array.from(sum, Math.fround);
}
