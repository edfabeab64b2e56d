// @ts-check
// "Who is it?": a reader chooses the words of a sentence and switches heads off; trained and random weights answer side by side.

import { CAT, sentence } from "../grammar.js";
import { answer, trained, untrained } from "../trained.js";
import { element, tell } from "./element.js";
import { createHeads, createWords } from "./who_choice.js";
import { says } from "./who_says.js";
import { createTable } from "./who_table.js";

/** @typedef {import("../grammar.js").Grammar & Parameters<typeof trained>[0]} Content */

/** @param {{address: string}} source of this script; the model lies beside it */
export async function start({ address }) {
    const content = await load(new URL("who_is_it.js", address).href);
    for (const place of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".who"))) {
        if (content) createWho(place, content);
        else fail(place);
    }
}

/** A script and no fetch, which browsers refuse to a page that is opened from a folder. @param {string} address @returns {Promise<Content | null>} */
function load(address) {
    const page = /** @type {{attentionBookWho?: Content}} */ (globalThis);
    const script = element("script", { src: address });
    return new Promise((resolve) => {
        script.addEventListener("load", () => resolve(page.attentionBookWho ?? null));
        script.addEventListener("error", () => resolve(null));
        document.head.append(script);
    });
}

/** @param {HTMLElement} place */
function fail(place) {
    place.classList.add("alone");
    place.prepend(element("p", { role: "status", class: "lab-fault-text" }, "The model could not be loaded: is who_is_it.js still beside this page's other files?"));
}

/** @param {HTMLElement} place @param {Content} content */
function createWho(place, content) {
    const { words, config } = content;
    const layers = config.num_layers;
    const models = [trained(content), untrained(config)];
    const tables = ["Trained", "Random"].map((name) => createTable(name, layers - 1));
    const reading = element("p", { class: "who-reading", role: "status", "aria-live": "polite" });
    let choice = CAT;

    function show() {
        const said = sentence(content, choice);
        const ids = said.tokens.map((token) => words.indexOf(token));
        const off = (/** @type {number} */ layer, /** @type {number} */ head) => heads.isOff(layer, head);
        const answers = models.map((model) => answer(model, ids, said.it, off));
        const whole = heads.off().length ? answer(models[0], ids, said.it) : answers[0];
        tables.forEach((table, at) => table.show(said, words, answers[at], (head) => off(layers - 1, head)));
        tell(reading, says(said, words, { trained: answers[0], whole, random: answers[1] }, heads.off()));
    }

    const chosen = createWords(content, choice, (next) => {
        choice = next;
        show();
    });
    const heads = createHeads(layers, config.num_heads, show);
    const controls = element("div", { class: "lab-controls" }, ...chosen, ...heads.elements);
    place.replaceChildren(element("div", { class: "lab-live" }, controls, reading, element("div", { class: "who-tables" }, ...tables.map((table) => table.element))));
    show();
}
