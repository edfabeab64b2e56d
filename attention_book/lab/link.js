// @ts-check
// The state as the part of an address behind its #, so that any view is a link: `#attention=CausalAttention&row=1`.
// Only what differs from where that attention starts is written.

import { flaw, refusal, textRefusal } from "./refusal.js";
import { DEFAULT, TABLE, preset } from "./state.js";

/** @typedef {import("./state.js").State} State */

const STALE = "The link cannot be read, so the lab starts from its first view:";

/**
 * The hash of a state, with its #; empty for the default.
 * @param {State} state @returns {string}
 */
export function write(state) {
    const start = { ...startOf(state), example: DEFAULT.example, attention: DEFAULT.attention };
    const parts = [];
    for (const name of /** @type {(keyof State)[]} */ (Object.keys(TABLE))) {
        if (state[name] !== start[name]) parts.push(`${name}=${encode(String(state[name]))}`);
    }
    return parts.length ? `#${parts.join("&")}` : "";
}

/**
 * The state of a hash, and null; or the default and a sentence that says what was wrong. Never throws.
 * A text that is too long is kept, for the reader to shorten.
 * @param {string} hash @returns {{state: State, complaint: string | null}}
 */
export function read(hash) {
    /** @type {Map<string, string>} */
    const found = new Map();
    for (const part of hash.replace(/^#/, "").split("&")) {
        if (part === "") continue;
        const equals = part.indexOf("=");
        const name = equals < 0 ? part : part.slice(0, equals);
        const text = equals < 0 ? null : decode(part.slice(equals + 1));
        if (!Object.hasOwn(TABLE, name)) return stale(`${shown(name)} is no setting of the lab.`);
        if (text === null) return stale(`${name} has no value that can be read.`);
        if (found.has(name)) return stale(`${name} stands in it twice.`);
        found.set(name, text);
    }
    /** @type {Record<string, unknown>} */
    const values = {};
    for (const [name, text] of found) {
        const key = /** @type {keyof State} */ (name);
        values[key] = parse(key, text);
        const wrong = flaw(key, values[key]);
        if (wrong) return stale(`${wrong}.`);
    }
    const chosen = { ...DEFAULT, .../** @type {Partial<State>} */ (values) };
    const state = { ...startOf(chosen), .../** @type {Partial<State>} */ (values) };
    const long = textRefusal(state);
    if (long) return { state: { ...DEFAULT, text: state.text }, complaint: `${STALE} ${long}` };
    const refused = refusal(state);
    return refused ? stale(refused) : { state, complaint: null };
}

/** @param {State} state @returns {State} */
function startOf(state) {
    return { ...DEFAULT, example: state.example, attention: state.attention, ...preset(state.example, state.attention) };
}

/** @param {string} sentence @returns {{state: State, complaint: string}} */
function stale(sentence) {
    return { state: { ...DEFAULT }, complaint: `${STALE} ${sentence}` };
}

/** A value from its text, or the text itself where it is none: the check then names it. @param {keyof State} name @param {string} text @returns {unknown} */
function parse(name, text) {
    const { kind } = TABLE[name];
    if (kind === "switch") return text === "true" ? true : text === "false" ? false : text;
    if (kind === "seed") return /^-?\d{1,20}$/.test(text) ? String(BigInt(text)) : text;
    if (kind === "whole") return /^-?\d{1,9}$/.test(text) ? Number(text) + 0 : text;
    if (kind === "number") return /^-?\d{1,9}(\.\d{1,20})?$/.test(text) ? Number(text) : text;
    return text;
}

/** encodeURIComponent, which refuses half a surrogate pair: that becomes the three bytes which UTF-8 would give it. @param {string} text */
function encode(text) {
    let encoded = "";
    for (const character of text) {
        const code = character.charCodeAt(0);
        const half = character.length === 1 && code >= 0xd800 && code <= 0xdfff;
        encoded += half ? [0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63)].map((byte) => `%${byte.toString(16).toUpperCase()}`).join("") : encodeURIComponent(character);
    }
    return encoded;
}

/** @param {string} text @returns {string | null} */
function decode(text) {
    try {
        return text.split(/(%ED%[AB][0-9A-F]%[89AB][0-9A-F])/i).map((part, k) => (k % 2 ? half(part) : decodeURIComponent(part))).join("");
    } catch {
        return null;
    }
}

/** @param {string} part @returns {string} */
function half(part) {
    const [, second, third] = part.slice(1).split("%").map((byte) => parseInt(byte, 16));
    return String.fromCharCode(0xd000 | ((second & 63) << 6) | (third & 63));
}

/** @param {string} name */
function shown(name) {
    const text = decode(name) ?? name;
    return `“${text.length > 40 ? `${text.slice(0, 40)}…` : text}”`;
}
