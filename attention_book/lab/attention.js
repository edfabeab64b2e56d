// @ts-check
// Scaled dot-product attention, every step by its name.

import { rowsTimesRows, tensor, transpose } from "./tensor.js";

/** @typedef {import("./tensor.js").Tensor} Tensor */
/** @typedef {{scores: Tensor, scaled: Tensor, masked: Tensor, weights: Tensor, output: Tensor}} Steps */

/**
 * Compares every query with every key and averages the values by how well they match.
 *
 * @param {{query: Tensor, key: Tensor, value: Tensor, scale: number, causal: boolean}} inputs one head `(n, d)`, several `(h, n, d)`;
 *     causal: no token looks at a later one
 * @returns {Steps} scores, scaled, masked and weights `(h, n, n)`, output `(h, n, e)`
 */
export function attention({ query, key, value, scale, causal }) {
    const lead = query.shape.slice(0, -2);
    const count = lead[0] ?? 1;
    const scores = heads(lead, count, (h) => rowsTimesRows(head(query, h), head(key, h)));
    const factor = Math.fround(scale); // a tensor of float32 takes a number as float32
    const scaled = tensor(scores.shape);
    for (let at = 0; at < scaled.data.length; at++) scaled.data[at] = scores.data[at] * factor;
    const masked = causal ? hideLater(scaled) : scaled;
    const weights = softmax(masked);
    const output = heads(lead, count, (h) => rowsTimesRows(head(weights, h), transpose(head(value, h)), causal));
    return { scores, scaled, masked, weights, output };
}

/** -inf where a key comes later than its query. @param {Tensor} scaled `(..., n, n)` @returns {Tensor} */
export function hideLater(scaled) {
    const n = scaled.shape[scaled.shape.length - 1];
    const data = scaled.data.slice();
    for (let row = 0; row * n < data.length; row++) data.fill(-Infinity, row * n + (row % n) + 1, (row + 1) * n);
    return tensor(scaled.shape, data);
}

/**
 * Softmax of each row, its largest number subtracted first so that none overflows; a row that is hidden throughout becomes 0.
 *
 * @param {Tensor} masked `(..., n)` @returns {Tensor}
 */
export function softmax({ shape, data }) {
    const n = shape[shape.length - 1];
    const out = new Float32Array(data.length);
    const exponentials = new Float64Array(n);
    for (let start = 0; start < data.length; start += n) {
        let largest = -Infinity;
        for (let j = 0; j < n; j++) if (data[start + j] > largest) largest = data[start + j];
        if (largest === -Infinity) continue;
        let sum = 0;
        for (let j = 0; j < n; j++) {
            const number = data[start + j];
            sum += exponentials[j] = number === -Infinity ? 0 : Math.exp(number - largest);
        }
        for (let j = 0; j < n; j++) out[start + j] = exponentials[j] / sum;
    }
    return tensor(shape, out);
}

/** One head as a matrix, without a copy. @param {Tensor} x `(n, d)` or `(h, n, d)` @param {number} h @returns {Tensor} `(n, d)` */
export function head({ shape, data }, h) {
    const [rows, columns] = shape.slice(-2);
    const size = rows * columns;
    return tensor([rows, columns], data.subarray(h * size, (h + 1) * size));
}

/**
 * The matrices of all heads in one tensor.
 *
 * @param {number[]} lead `[h]`, or `[]` for a single head without an axis @param {number} count @param {(h: number) => Tensor} each
 * @returns {Tensor}
 */
function heads(lead, count, each) {
    const matrices = Array.from({ length: count }, (_, h) => each(h));
    const shape = [...lead, ...matrices[0].shape];
    if (count === 1) return tensor(shape, matrices[0].data);
    const joined = tensor(shape);
    matrices.forEach((matrix, h) => joined.data.set(matrix.data, h * matrix.data.length));
    return joined;
}
