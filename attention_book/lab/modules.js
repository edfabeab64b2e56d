// @ts-check
// The book's modules in the browser: what `torch.manual_seed` and a class draw, and every step of their attention.

import { attention } from "./attention.js";
import { JOURNEY_TOKENS, journeyEmbeddings } from "./examples.js";
import { manualSeed } from "./generator.js";
import { joinHeads, projection } from "./projection.js";
import { randn } from "./random.js";
import { rowsTimesRows, tensor } from "./tensor.js";

/** @typedef {import("./tensor.js").Tensor} Tensor */
/** @typedef {"simple" | "SelfAttention_v1" | "SelfAttention_v2" | "CausalAttention" | "MultiHeadAttentionWrapper" | "MultiHeadAttention"} Attention */

/**
 * @typedef {object} Settings
 * @property {"journey" | "text"} example the six tokens of the acts, or words whose embeddings are drawn
 * @property {string[]} tokens of a text
 * @property {Attention} attention
 * @property {bigint} seed
 * @property {number} d_model width of the embeddings of a text
 * @property {number} d_out width of the six tokens' query, key and value
 * @property {number} heads
 * @property {boolean} causal
 * @property {boolean} scale whether scores are divided by the root of the width per head
 * @property {number} temperature
 */

/**
 * What a seed decides: everything before the scores. It stays the same when causal, scale or temperature change.
 *
 * @typedef {object} Drawn
 * @property {string[]} tokens
 * @property {Tensor} x `(n, d)`
 * @property {Record<string, Tensor>} parameters by their names in PyTorch, in the order in which they are drawn
 * @property {Tensor} query `(n, d)`; `(h, n, d)` for the two classes with heads
 * @property {Tensor} key
 * @property {Tensor} value
 */

/**
 * As `attention_book.trace.Trace`.
 *
 * @typedef {object} Trace
 * @property {string[]} tokens
 * @property {Tensor} x
 * @property {Tensor} query
 * @property {Tensor} key
 * @property {Tensor} value
 * @property {Tensor} scores
 * @property {Tensor} scaled
 * @property {Tensor} masked
 * @property {Tensor} weights
 * @property {Tensor} output
 * @property {number} scale
 * @property {Record<string, Tensor>} parameters
 */

/** Draws and attends. @param {Settings} settings @returns {Trace} */
export function run(settings) {
    return attend(draw(settings), settings);
}

/** As `torch.manual_seed(seed)`, then the embeddings of a text, then the module. @param {Settings} settings @returns {Drawn} */
export function draw(settings) {
    const generator = manualSeed(settings.seed);
    const journey = settings.example === "journey";
    const tokens = journey ? JOURNEY_TOKENS.slice() : settings.tokens.slice();
    if (tokens.length === 0) throw new RangeError("there are no tokens; give at least 1 word");
    const x = journey ? tensor([tokens.length, 3], journeyEmbeddings()) : randn(generator, [tokens.length, settings.d_model]);
    return { tokens, x, ...projection(generator, x, settings) };
}

/** Every step that follows from what was drawn. @param {Drawn} drawn @param {Settings} settings @returns {Trace} */
export function attend(drawn, { causal, scale: scaling, temperature }) {
    const { tokens, x, query, key, value, parameters } = drawn;
    const width = query.shape[query.shape.length - 1];
    const scale = (scaling ? 1 / Math.sqrt(width) : 1) / temperature;
    const { output: context, ...steps } = attention({ query, key, value, scale, causal });
    return { tokens, x, query, key, value, ...steps, output: merge(context, parameters), scale, parameters };
}

/** The heads joined, and mixed where there is a last layer. @param {Tensor} context @param {Record<string, Tensor>} parameters @returns {Tensor} */
function merge(context, parameters) {
    if (context.shape.length === 2) return context;
    const joined = joinHeads(context);
    const weight = parameters["out_proj.weight"];
    const bias = parameters["out_proj.bias"];
    if (!weight) return joined;
    const output = rowsTimesRows(joined, weight);
    if (bias) output.data.forEach((number, i) => (output.data[i] = number + bias.data[i % bias.data.length]));
    return output;
}
