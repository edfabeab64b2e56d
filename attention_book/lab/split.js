// @ts-check
// Words as Python's str.split() finds them. JavaScript's \s is another set: it lacks U+001C to U+001F and U+0085, and has U+FEFF.

const SPACES = /[\t-\r\x1c- \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/;

/**
 * The words of a text, in its order; a blank text has none. Whatever is no space is kept as it stands, half a surrogate pair too.
 * @param {string} text
 * @returns {string[]}
 */
export function split(text) {
    return text.split(SPACES).filter((word) => word !== "");
}
