// @ts-check
// The button of the Numbers page: computes every pin again in this browser, and says how many numbers agree.

import { recheck } from "../recheck.js";

/** @typedef {import("../recheck.js").Found} Found */
/** @typedef {import("../recheck.js").Pins} Pins */

// On a phone the table scrolls by itself, by keyboard too.
const SCROLLS = Object.entries({ role: "region", "aria-label": "Numbers that agree, pin by pin", tabindex: "0" });

/** @param {{address: string}} source of this script; the pins lie beside it */
export function start({ address }) {
    for (const place of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".recheck"))) {
        const button = /** @type {HTMLButtonElement} */ (place.querySelector("button"));
        let busy = false;
        button.disabled = false;
        button.addEventListener("click", async () => {
            if (busy) return; // the button stays reachable meanwhile: who pressed it by keyboard is not lost
            busy = true;
            button.setAttribute("aria-disabled", "true");
            await again(place, new URL("pins.js", address).href);
            button.removeAttribute("aria-disabled");
            busy = false;
        });
    }
}

/** @param {HTMLElement} place @param {string} address */
async function again(place, address) {
    const status = /** @type {HTMLElement} */ (place.querySelector("[role=status]"));
    const results = /** @type {HTMLElement} */ (place.querySelector(".recheck-results"));
    results.replaceChildren();
    status.textContent = "Computing…";
    const pins = await load(address);
    if (!pins) {
        status.textContent = "The pins could not be loaded: is pins.js still beside this page's other files?";
        return;
    }
    /** @type {Found[]} */
    const found = [];
    for (const each of recheck(pins)) {
        found.push(each);
        await new Promise((resolve) => setTimeout(resolve)); // the page breathes between two pins
    }
    results.replaceChildren(table(found));
    for (const [name, value] of SCROLLS) results.setAttribute(name, value);
    status.textContent = sentence(found, pins.within.computed);
}

/** A script and no fetch, which browsers refuse to a page that is opened from a folder. @param {string} address @returns {Promise<Pins | null>} */
function load(address) {
    const page = /** @type {{attentionBookPins?: Pins}} */ (globalThis);
    if (page.attentionBookPins) return Promise.resolve(page.attentionBookPins);
    const script = document.createElement("script");
    script.src = address;
    return new Promise((resolve) => {
        script.addEventListener("load", () => resolve(page.attentionBookPins ?? null));
        script.addEventListener("error", () => resolve(null));
        document.head.append(script);
    });
}

/** @param {Found[]} found @param {number} within @returns {string} */
function sentence(found, within) {
    /** @param {"exact" | "near" | "apart"} part */
    const sum = (part) => found.reduce((total, each) => total + each[part], 0);
    const [exact, near, apart] = [sum("exact"), sum("near"), sum("apart")];
    const counted = `${grouped(exact + near)} of ${grouped(exact + near + apart)} numbers agree: ${grouped(exact)} to the last bit, ${grouped(near)} within ${within}.`;
    const first = found.find((each) => each.apart);
    return first ? `${counted} The first that does not: ${first.name}, ${first.first}.` : counted;
}

/** @param {Found[]} found @returns {HTMLTableElement} */
function table(found) {
    const made = document.createElement("table");
    made.createCaption().textContent = "Computed again just now";
    row(made.createTHead(), "th", ["Pin", "Numbers", "To the last bit", "Within rounding", "Apart"], "col");
    const body = made.createTBody();
    for (const { name, exact, near, apart } of found) row(body, "td", [name, ...[exact + near + apart, exact, near, apart].map(grouped)]);
    return made;
}

/** @param {HTMLTableSectionElement} section @param {"th" | "td"} kind @param {string[]} texts @param {string} [scope] */
function row(section, kind, texts, scope = "row") {
    const made = section.insertRow();
    texts.forEach((text, at) => {
        const cell = document.createElement(at ? kind : "th");
        if (cell.tagName === "TH") cell.setAttribute("scope", scope);
        cell.textContent = text;
        made.append(cell);
    });
}

/** Thousands set apart, the same in every language. @param {number} count @returns {string} */
function grouped(count) {
    return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}
