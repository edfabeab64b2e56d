// @ts-check
// SVG as text: elements, and words that stay words.

/**
 * One element. Children are markup already; write words with `text`.
 * @param {string} name @param {Record<string, string | number>} attributes @param {string[]} [children] @returns {string}
 */
export function element(name, attributes, children = []) {
    const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${text(String(value))}"`);
    return children.length ? `<${name}${written.join("")}>${children.join("")}</${name}>` : `<${name}${written.join("")}/>`;
}

/** Words as markup. What XML cannot hold at all is left out: `visible` has shown it by code before. @param {string} words @returns {string} */
export function text(words) {
    if (/^[\w .,#()-]*$/.test(words)) return words; // most of them, and the paths of large maps
    const held = words.replace(/[^\t\n\r\x20-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, "");
    return held.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

/** About how wide a line is drawn, in pixels. @param {string} line @param {number} size of the letters @returns {number} */
export function width(line, size) {
    let units = 0;
    for (const character of line) units += /\p{M}/u.test(character) ? 0 : (character.codePointAt(0) ?? 0) < 0x1100 ? 0.6 : 1.05;
    return Math.ceil(units * size);
}
