// @ts-check
// Elements of the page. Text reaches the page here, and only as text.

const SVG = "http://www.w3.org/2000/svg";

/** @typedef {string | number | boolean | null | undefined} Attribute null, undefined and false: without it; true: without a value */
/** @typedef {Node | string | null | undefined} Child */

/**
 * An element with these attributes and children.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag @param {Record<string, Attribute>} [attributes] @param {...Child} children @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(tag, attributes = {}, ...children) {
    return fill(document.createElement(tag), attributes, children);
}

/**
 * The same for a drawing.
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag @param {Record<string, Attribute>} [attributes] @param {...Child} children @returns {SVGElementTagNameMap[Tag]}
 */
export function drawn(tag, attributes = {}, ...children) {
    return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** @template {Element} E @param {E} made @param {Record<string, Attribute>} attributes @param {Child[]} children @returns {E} */
function fill(made, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
        if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : String(value));
    }
    made.append(...children.filter((child) => child !== null && child !== undefined));
    return made;
}

/** A button that says what it does. @param {string} words @param {() => void} press @param {Record<string, Attribute>} [attributes] */
export function button(words, press, attributes = {}) {
    const made = element("button", { type: "button", ...attributes }, words);
    made.addEventListener("click", press);
    return made;
}

/** A token, which may run from right to left without turning what stands beside it. @param {string} text */
export function token(text) {
    return element("bdi", {}, text);
}

/** Set a text that changed; one that stays is not read out again. @param {Element} place @param {string} text */
export function tell(place, text) {
    if (place.textContent !== text) place.textContent = text;
}

let count = 0;

/** A name for an element that another one points to. @param {string} what */
export function unique(what) {
    count += 1;
    return `lab-${what}-${count}`;
}
