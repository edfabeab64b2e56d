// @ts-check
// Values as Python writes them in a program.

const NAMED = /** @type {Record<string, string>} */ ({ "\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t" });

/**
 * A string literal that Python evaluates to this text, whatever it holds: what is not seen, or turns the direction of a line, is written by code.
 * @param {string} text @returns {string}
 */
export function string(text) {
    return `"${[...text].map(escaped).join("")}"`;
}

/** @param {string} character */
function escaped(character) {
    if (character in NAMED) return NAMED[character];
    if (character === " " || !/[\p{C}\p{Z}]/u.test(character)) return character;
    const code = character.codePointAt(0) ?? 0;
    const hex = code.toString(16);
    return code < 0x100 ? `\\x${hex.padStart(2, "0")}` : code < 0x10000 ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`;
}

/** A list of string literals. @param {string[]} texts */
export function strings(texts) {
    return `[${texts.map(string).join(", ")}]`;
}

/** A literal for any number, so that it is the same number in Python. @param {number} value @returns {string} */
export function number(value) {
    return Number.isFinite(value) ? repr(value) : `float("${Number.isNaN(value) ? "nan" : value < 0 ? "-inf" : "inf"}")`;
}

/** A finite number as Python's `repr` writes a float: the fewest digits that give it back. @param {number} value @returns {string} */
export function repr(value) {
    if (Object.is(value, -0)) return "-0.0";
    const size = Math.abs(value);
    if (size < 1e16 && (size >= 1e-4 || size === 0)) return Number.isInteger(value) ? `${value}.0` : String(value); // as JavaScript writes it, and quicker
    const [, sign, whole, fraction = "", power] = /** @type {RegExpMatchArray} */ (/^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(value.toExponential()));
    return `${sign}${whole}${fraction && `.${fraction}`}e${power[0]}${power.slice(1).padStart(2, "0")}`;
}

/** A float32 number in the fewest digits that give the same float32 back: 0.43, not 0.4300000071525574. @param {number} value @returns {string} */
export function short(value) {
    if (value === 0) return repr(value); // toPrecision has no -0
    for (let digits = 1; digits < 9; digits++) {
        const rounded = Number(value.toPrecision(digits));
        if (Object.is(Math.fround(rounded), value)) return repr(rounded);
    }
    return repr(Number(value.toPrecision(9)));
}
