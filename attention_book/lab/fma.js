// @ts-check
// Multiply and add with one rounding, as processors with AVX2 do it.

const LARGEST = 3.4028234663852886e38; // of float32

/**
 * `a * b + c` for float32 numbers, rounded once to float32.
 *
 * The product of two float32 numbers is exact in a double, so only the addition can go wrong: when its own rounding
 * lands half way between two float32 numbers. Then what it lost decides.
 *
 * @param {number} a @param {number} b @param {number} c @returns {number}
 */
export function fma(a, b, c) {
    const product = a * b;
    const sum = product + c;
    const rounded = Math.fround(sum);
    const left = sum - rounded;
    if (left === 0 || Math.fround(sum + left) !== sum + left) return rounded;
    const virtual = sum - product;
    const lost = (product - (sum - virtual)) + (c - virtual);
    if (lost === 0 || Number.isNaN(lost)) return rounded;
    const other = Number.isFinite(rounded) ? sum + left : Math.sign(sum) * LARGEST;
    return lost > 0 ? Math.max(rounded, other) : Math.min(rounded, other);
}
