// @ts-check
// Any text as one line in which every character is seen, as attention_book.tables writes it.

const JOINERS = "\u200c\u200d"; // parts of the spelling of Persian and Hindi, and of many emoji
const SIGNS = /** @type {Record<string, string>} */ ({ "\n": "↵", "\t": "⇥" });

/**
 * Controls, direction marks, halves of surrogate pairs and whatever stands for no character are shown by code, as in <U+202E>.
 * @param {string} text @param {number} [longest] characters; of a longer text the end becomes an ellipsis @returns {string}
 */
export function visible(text, longest = Infinity) {
    if (text === "") return "(empty)";
    if (text.length <= longest && /^[ -~]+$/.test(text)) return text; // most of them, and hundreds at once
    const pieces = [...text].map(seen);
    if (/^\p{M}/u.test(text)) pieces[0] = `◌${pieces[0]}`; // else it would sit on whatever stands before the text
    const sizes = pieces.map((piece) => [...piece].length);
    if (sizes.reduce((sum, size) => sum + size, 0) <= longest) return pieces.join("");
    let keep = 0;
    for (let room = longest - 1; keep < pieces.length && sizes[keep] <= room; keep++) room -= sizes[keep];
    while (keep > 0 && (/^\p{M}/u.test(pieces[keep]) || JOINERS.includes(pieces[keep]))) keep--; // a mark stays with its letter
    return `${pieces.slice(0, keep).join("")}…`;
}

/** @param {string} character */
function seen(character) {
    if (character === " " || JOINERS.includes(character) || !/[\p{C}\p{Z}]/u.test(character)) return character;
    return SIGNS[character] ?? `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}>`;
}
