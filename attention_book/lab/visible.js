// @ts-check
// Any text as one line in which every character is seen, as attention_book.tables writes it.

const JOINERS = "\u200c\u200d"; // parts of the spelling of Persian and Hindi, and of many emoji
const SIGNS = /** @type {Record<string, string>} */ ({ "\n": "↵", "\t": "⇥" });

/**
 * Controls, direction marks, halves of surrogate pairs and whatever stands for no character are shown by code, as in <U+202E>.
 * @param {string} text @param {number} [longest] characters; what exceeds them ends in an ellipsis @returns {string}
 */
export function visible(text, longest = Infinity) {
    const pieces = [...text].map(seen);
    if (/^\p{M}/u.test(text)) pieces.unshift("◌"); // else it would sit on whatever stands before the text
    if (pieces.length === 0) return "(empty)";
    let length = 0;
    const keep = pieces.findIndex((piece) => (length += piece.length > 2 ? piece.length : 1) > longest);
    return keep < 0 ? pieces.join("") : `${pieces.slice(0, Math.max(1, keep)).join("")}…`;
}

/** @param {string} character */
function seen(character) {
    if (character === " " || JOINERS.includes(character) || !/[\p{C}\p{Z}]/u.test(character)) return character;
    return SIGNS[character] ?? `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}>`;
}
