// @ts-check
// Logarithm, sine and cosine in float32, to the bit as PyTorch takes them for normal numbers: the polynomials of the Cephes library.
// The order of the steps, and which of them are fused, decide the last bit.

import { fma } from "./fma.js";

const word = new Uint32Array(1);
const asFloat = new Float32Array(word.buffer);

/** The float32 with these bits. @param {number} bits @returns {number} */
function float(bits) {
    word[0] = bits;
    return asFloat[0];
}

const LOG_TERMS = [
    0x3d9021bb, 0xbdebd1b8, 0x3def251a, 0xbdfe5d4f, 0x3e11e9bf, 0xbe2aae50, 0x3e4cceac, 0xbe7ffffc, 0x3eaaaaaa,
].map(float);
const LN2_LOW = float(0xb95e8083);
const LN2_HIGH = float(0x3f318000);
const ROOT_HALF_BITS = 0x3504f3; // of the fraction of the root of 1/2

const FOUR_OVER_PI = float(0x3fa2f983);
const MINUS_QUARTER_PI = [0xbf490000, 0xb97da000, 0xb3222169].map(float); // in three parts, the largest first
const COS_TERMS = [0x37ccf5ce, 0xbab6061a, 0x3d2aaaa5].map(float);
const SIN_TERMS = [0xb94ca1f9, 0x3c08839e, 0xbe2aaaa3].map(float);

/** Natural logarithm. @param {number} x float32, above 0, at most 1 @returns {number} float32 */
export function log(x) {
    asFloat[0] = x;
    const fraction = word[0] & 0x7fffff;
    let exponent = (word[0] >>> 23) - 126;
    word[0] = fraction | 0x3f000000;
    let m = asFloat[0]; // from 1/2 to below 1
    if (fraction < ROOT_HALF_BITS) {
        exponent -= 1;
        m = 2 * m - 1;
    } else {
        m = m - 1;
    }
    const square = Math.fround(m * m);
    let y = LOG_TERMS[0];
    for (let k = 1; k < LOG_TERMS.length; k++) y = fma(y, m, LOG_TERMS[k]);
    y = Math.fround(y * m);
    y = fma(y, square, Math.fround(exponent * LN2_LOW));
    y = fma(square, -0.5, y);
    return fma(exponent, LN2_HIGH, Math.fround(m + y));
}

/** Sine and cosine. @param {number} t float32, from 0 to below 2 pi @returns {[sine: number, cosine: number]} float32 */
export function sinCos(t) {
    const octant = (Math.trunc(Math.fround(t * FOUR_OVER_PI)) + 1) & ~1;
    const x = fma(octant, MINUS_QUARTER_PI[2], fma(octant, MINUS_QUARTER_PI[1], fma(octant, MINUS_QUARTER_PI[0], t)));
    const z = Math.fround(x * x);
    let c = fma(fma(COS_TERMS[0], z, COS_TERMS[1]), z, COS_TERMS[2]);
    c = Math.fround(fma(Math.fround(c * z), z, -z / 2) + 1);
    let s = fma(fma(SIN_TERMS[0], z, SIN_TERMS[1]), z, SIN_TERMS[2]);
    s = fma(Math.fround(s * z), x, x);
    const swap = (octant & 2) !== 0;
    const sine = swap ? c : s;
    const cosine = swap ? s : c;
    return [octant & 4 ? -sine : sine, (octant - 2) & 4 ? cosine : -cosine];
}
