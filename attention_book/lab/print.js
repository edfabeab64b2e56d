// @ts-check
// Numbers as Python writes them: rounded from the exact value, a tie to the even digit.

/**
 * As Python's `format(value, ".4f")`; `toFixed` differs in ties, in the sign of -0, and from 10^21 on.
 *
 * @param {number} value @param {number} [digits] from 0 to 99 @returns {string}
 */
export function fixed(value, digits = 4) {
    if (Number.isNaN(value)) return "nan";
    const sign = value < 0 || Object.is(value, -0) ? "-" : "";
    const size = Math.abs(value);
    if (size === Infinity) return `${sign}inf`;
    return sign + (size < 1e21 ? rounded(size, digits) : BigInt(size) + (digits ? "." + "0".repeat(digits) : ""));
}

/** @param {number} size @param {number} digits @returns {string} */
function rounded(size, digits) {
    // A sum of powers of two lies half way between two decimals only as an odd multiple of 2^-(digits + 1); then one digit
    // more is all of it.
    if ((size * 2 ** (digits + 1)) % 2 !== 1) return size.toFixed(digits);
    const below = size.toFixed(digits + 1).slice(0, digits ? -1 : -2);
    return Number(below[below.length - 1]) % 2 ? size.toFixed(digits) : below;
}
