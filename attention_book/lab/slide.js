// @ts-check
// The slide of d_k: one draw of queries and keys, read to 1, 2, ... 1024 numbers; what that does to softmax with and without the scale.

import { manualSeed } from "./generator.js";
import { randn } from "./random.js";

/** @typedef {{query: Float32Array, key: Float32Array}} Draw `torch.randn(16, 1024)` each, row by row */
/** @typedef {{unscaled: Float64Array, scaled: Float64Array}} Pair */

export const TOKENS = 16;
export const WIDEST = 1024;
const LEAST = 40;
const STEPS = 128; // between two whole numbers
const POWERS = Float64Array.from({ length: LEAST * STEPS + 1 }, (_, n) => Math.exp(-n / STEPS));

/** As `torch.manual_seed(seed)`, then query and key. @param {bigint} seed @returns {Draw} */
export function draw(seed) {
    const generator = manualSeed(seed);
    const query = randn(generator, [TOKENS, WIDEST]).data;
    return { query, key: randn(generator, [TOKENS, WIDEST]).data };
}

/** What the slide shows of a seed. @param {bigint} seed */
export function slideOf(seed) {
    const drawn = draw(seed);
    return { drawn, all: curves(drawn) };
}

/**
 * The scores of one query when only the first d numbers count, and both softmaxes of them.
 * @param {Draw} drawn @param {number} d from 1 to 1024 @param {number} [row] which query @returns {Pair & {scores: Float64Array}}
 */
export function bars({ query, key }, d, row = 0) {
    const scores = new Float64Array(TOKENS);
    for (let j = 0; j < TOKENS; j++) {
        for (let c = 0; c < d; c++) scores[j] += query[row * WIDEST + c] * key[j * WIDEST + c];
    }
    return { scores, unscaled: softmax(scores, 1), scaled: softmax(scores, 1 / Math.sqrt(d)) };
}

/**
 * Over all d at once, place d - 1 for d: the mean over the queries of the largest weight and of the entropy (in nats; uniform is log 16), the
 * standard deviation of the 256 scores, and what theory says it is, the root of d.
 * @param {Draw} drawn @returns {{largest: Pair, entropy: Pair, spread: Float64Array, theory: Float64Array}}
 */
export function curves({ query, key }) {
    const pair = () => ({ unscaled: new Float64Array(WIDEST), scaled: new Float64Array(WIDEST) });
    const all = { largest: pair(), entropy: pair(), spread: new Float64Array(WIDEST), theory: new Float64Array(WIDEST) };
    const [asked, offered] = [columns(query), columns(key)];
    const scores = new Float64Array(TOKENS * TOKENS);
    for (let c = 0; c < WIDEST; c++) {
        const at = c * TOKENS;
        for (let k = 0, i = at; i < at + TOKENS; i++) {
            for (let j = at; j < at + TOKENS; j++) scores[k++] += asked[i] * offered[j];
        }
        all.theory[c] = Math.sqrt(c + 1);
        all.spread[c] = deviation(scores);
        measure(scores, 1, all.largest.unscaled, all.entropy.unscaled, c);
        measure(scores, 1 / all.theory[c], all.largest.scaled, all.entropy.scaled, c);
    }
    return all;
}

/** The 16 numbers of each column side by side, so that the sums run through memory in order. @param {Float32Array} rows @returns {Float64Array} */
function columns(rows) {
    const turned = new Float64Array(rows.length);
    for (let i = 0; i < TOKENS; i++) {
        for (let c = 0; c < WIDEST; c++) turned[c * TOKENS + i] = rows[i * WIDEST + c];
    }
    return turned;
}

/** @param {Float64Array} scores @param {number} scale @returns {Float64Array} */
function softmax(scores, scale) {
    const largest = Math.max(...scores);
    const exponentials = scores.map((score) => Math.exp((score - largest) * scale));
    const sum = exponentials.reduce((total, each) => total + each, 0);
    return exponentials.map((each) => each / sum);
}

/**
 * The largest weight is 1 over the sum z of the exponentials, and the entropy log z - sum(e^t t) / z.
 * @param {Float64Array} scores @param {number} scale @param {Float64Array} largest @param {Float64Array} entropy @param {number} place
 */
function measure(scores, scale, largest, entropy, place) {
    for (let start = 0; start < scores.length; start += TOKENS) {
        let most = -Infinity;
        for (let j = start; j < start + TOKENS; j++) if (scores[j] > most) most = scores[j];
        let sum = 0;
        let weighted = 0;
        for (let j = start; j < start + TOKENS; j++) {
            const t = (scores[j] - most) * scale;
            if (t <= -LEAST) continue; // e^-40 is lost beside 1
            const exponential = exp(t);
            sum += exponential;
            weighted += exponential * t;
        }
        largest[place] += 1 / sum / TOKENS;
        entropy[place] += (Math.log(sum) - weighted / sum) / TOKENS;
    }
}

/** Math.exp from -40 to 0 in a third of its time: the curves need half a million. @param {number} t @returns {number} */
function exp(t) {
    const n = (0.5 - t * STEPS) | 0;
    const r = t + n / STEPS; // at most 1/256, so that six terms are all of a double
    return POWERS[n] * (1 + r * (1 + r * (1 / 2 + r * (1 / 6 + r * (1 / 24 + r / 120)))));
}

/** As `tensor.std()`, which divides by one less than there are. @param {Float64Array} numbers @returns {number} */
function deviation(numbers) {
    let mean = 0;
    for (let k = 0; k < numbers.length; k++) mean += numbers[k] / numbers.length;
    let squares = 0;
    for (let k = 0; k < numbers.length; k++) squares += (numbers[k] - mean) * (numbers[k] - mean);
    return Math.sqrt(squares / (numbers.length - 1));
}
