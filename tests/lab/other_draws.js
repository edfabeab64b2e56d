// @ts-check
// Draws that the lab makes no use of, from the same stream: they show that the generator stands where PyTorch's does.

import { rand, uniform } from "/lab/random.js";
import { tensor } from "/lab/tensor.js";

/** @typedef {import("../../attention_book/lab/generator.js").Generator} Generator */
/** @typedef {import("../../attention_book/lab/tensor.js").Tensor} Tensor */

const TWO_DRAWS_FROM = 2 ** 28; // of the range of randint

/** `torch.randint(low, high, (count,))`. @param {Generator} generator @param {number} low @param {number} high @param {number} count @returns {number[]} */
export function randint(generator, low, high, count) {
    const range = high - low;
    const wide = () => Number(((BigInt(generator.u32()) << 32n) | BigInt(generator.u32())) % BigInt(range));
    return Array.from({ length: count }, () => low + (range < TWO_DRAWS_FROM ? generator.u32() % range : wide()));
}

/** `torch.randperm(n)`. @param {Generator} generator @param {number} n @returns {number[]} */
export function randperm(generator, n) {
    const places = Array.from({ length: n }, (_, i) => i);
    for (let i = 0; i < n - 1; i++) {
        const j = i + (generator.u32() % (n - i));
        [places[i], places[j]] = [places[j], places[i]];
    }
    return places;
}

/** `torch.empty(count).bernoulli_(p)`. @param {Generator} generator @param {number} count @param {number} p @returns {Tensor} */
export function bernoulli(generator, count, p) {
    return tensor([count], Float32Array.from({ length: count }, () => Number(generator.unit53() < p)));
}

/** `torch.bernoulli(torch.full((count,), p))`. @param {Generator} generator @param {number} count @param {number} p @returns {Tensor} */
export function bernoulliOfTensor(generator, count, p) {
    return tensor([count], rand(generator, [count]).data.map((unit) => Number(unit < Math.fround(p))));
}

/** `torch.empty(count).exponential_(rate)`. @param {Generator} generator @param {number} count @param {number} rate @returns {Tensor} */
export function exponential(generator, count, rate) {
    return tensor([count], Float32Array.from({ length: count }, () => (-1 / rate) * Math.log1p(-generator.unit53())));
}

/** `torch.multinomial(p, count)`, without replacement. @param {Generator} generator @param {number[]} p @param {number} count @returns {number[]} */
export function multinomial(generator, p, count) {
    const waits = exponential(generator, p.length, 1).data;
    const keys = p.map((share, i) => Math.fround(Math.fround(share) / waits[i]));
    return keys.map((_, i) => i).sort((a, b) => keys[b] - keys[a]).slice(0, count);
}

/**
 * `nn.MultiheadAttention(width, heads)`: its last layer is drawn first, and its biases are set to 0 afterwards.
 *
 * @param {Generator} generator @param {number} width @returns {Record<string, Tensor>}
 */
export function multiheadAttention(generator, width) {
    const bound = 1 / Math.sqrt(width);
    const last = uniform(generator, [width, width], -bound, bound);
    uniform(generator, [width], -bound, bound);
    const xavier = Math.sqrt(3) * Math.sqrt(2 / (4 * width));
    const packed = uniform(generator, [3 * width, width], -xavier, xavier);
    return { in_proj_weight: packed, "out_proj.weight": last, "out_proj.bias": tensor([width]) };
}

/** What PyTorch once drew for dropout on Intel's processors, from one word of the stream: kept is 1. @param {Generator} generator @param {number} count @param {number} keep @returns {number[]} */
export function oldIntelDropout(generator, count, keep) {
    const modulus = 2n ** 31n - 1n;
    let x = BigInt(generator.u32()) % modulus || 1n;
    return Array.from({ length: count }, () => {
        const kept = Number(x) / Number(modulus) < keep;
        x = (x * 1132489760n) % modulus;
        return Number(kept);
    });
}
