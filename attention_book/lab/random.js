// @ts-check
// What PyTorch draws from its CPU generator, bit for bit as on a processor with AVX2.

import { log, sinCos } from "./cephes.js";
import { fma } from "./fma.js";
import { Generator } from "./generator.js";
import { sizeOf, tensor } from "./tensor.js";

/** @typedef {import("./tensor.js").Tensor} Tensor */

const BLOCK = 16; // normal numbers are made in blocks; fewer go another way
const TWO_PI = Math.fround(2 * Math.PI);

/** `torch.rand(shape)`. @param {Generator} generator @param {number[]} shape @returns {Tensor} */
export function rand(generator, shape) {
    const drawn = tensor(shape);
    for (let i = 0; i < drawn.data.length; i++) drawn.data[i] = generator.unit24();
    return drawn;
}

/** `torch.randn(shape)`. @param {Generator} generator @param {number[]} shape @returns {Tensor} */
export function randn(generator, shape) {
    return normal(generator, shape, 0, 1);
}

/**
 * `torch.empty(shape).uniform_(low, high)`.
 *
 * @param {Generator} generator @param {number[]} shape @param {number} low @param {number} high @returns {Tensor}
 */
export function uniform(generator, shape, low, high) {
    const start = Math.fround(low);
    const end = Math.fround(high);
    const width = Math.fround(end - start);
    const drawn = tensor(shape);
    for (let i = 0; i < drawn.data.length; i++) {
        const value = fma(generator.unit24(), width, start);
        drawn.data[i] = value === end ? start : value;
    }
    return drawn;
}

/**
 * `torch.empty(shape).normal_(mean, std)`.
 *
 * @param {Generator} generator @param {number[]} shape @param {number} mean @param {number} std @returns {Tensor}
 */
export function normal(generator, shape, mean, std) {
    const count = sizeOf(shape);
    if (count < BLOCK) return tensor(shape, Float32Array.from({ length: count }, () => small(generator) * std + mean));
    const drawn = rand(generator, shape);
    const [centre, spread] = [Math.fround(mean), Math.fround(std)];
    for (let start = 0; start + BLOCK <= count; start += BLOCK) toNormal(drawn.data, start, centre, spread);
    if (count % BLOCK) {
        // The last block is drawn anew, over numbers that were finished.
        const start = count - BLOCK;
        for (let i = start; i < count; i++) drawn.data[i] = generator.unit24();
        toNormal(drawn.data, start, centre, spread);
    }
    return drawn;
}

/** One normal number in double; every second one was left over by the one before. @param {Generator} generator @returns {number} */
function small(generator) {
    if (generator.spare !== null) {
        const spare = generator.spare;
        generator.spare = null;
        return spare;
    }
    const angle = 2 * Math.PI * generator.unit53();
    const radius = Math.sqrt(-2 * Math.log1p(-generator.unit53()));
    generator.spare = radius * Math.sin(angle);
    return radius * Math.cos(angle);
}

/**
 * Sixteen uniform numbers become sixteen normal ones (Box and Muller), in place.
 *
 * @param {Float32Array} data @param {number} start @param {number} mean @param {number} std
 */
function toNormal(data, start, mean, std) {
    const half = BLOCK / 2;
    for (let j = start; j < start + half; j++) {
        const radius = Math.fround(Math.sqrt(Math.fround(-2 * log(1 - data[j]))));
        const turned = sinCos(Math.fround(TWO_PI * data[j + half])); // by index: taking a list apart costs more than the sine
        data[j] = fma(Math.fround(radius * turned[1]), std, mean);
        data[j + half] = fma(Math.fround(radius * turned[0]), std, mean);
    }
}

/**
 * `nn.Linear(inFeatures, outFeatures, bias)`: the weight first, then the bias if there is one.
 *
 * @param {Generator} generator @param {number} inFeatures @param {number} outFeatures @param {boolean} [bias]
 * @returns {{weight: Tensor, bias: Tensor | null}} weight `(outFeatures, inFeatures)`
 */
export function linear(generator, inFeatures, outFeatures, bias = true) {
    const bound = 1 / Math.sqrt(inFeatures);
    const weight = uniform(generator, [outFeatures, inFeatures], -bound, bound);
    return { weight, bias: bias ? uniform(generator, [outFeatures], -bound, bound) : null };
}

/** `nn.Embedding(rows, width)`. @param {Generator} generator @param {number} rows @param {number} width @returns {Tensor} */
export function embedding(generator, rows, width) {
    return randn(generator, [rows, width]);
}

/**
 * `nn.Dropout(p)` in training: every number is kept and enlarged, or 0.
 *
 * @param {Generator} generator @param {Tensor} x @param {number} p from 0 to 1 @returns {Tensor}
 */
export function dropout(generator, x, p) {
    if (p === 0) return tensor(x.shape, x.data.slice());
    const keep = 1 - p;
    const factor = Math.fround(1 / Math.fround(keep));
    const kept = (/** @type {number} */ value) => value * (p < 1 && generator.unit53() < keep ? factor : 0);
    return tensor(x.shape, x.data.map(kept));
}
