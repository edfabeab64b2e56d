// @ts-check
// Form fields with their labels; each shows a value and tells of a new one.

import { element, tell, unique } from "./element.js";

/**
 * @template T
 * @typedef {{element: HTMLElement, show: (value: T) => void}} Field
 */

/**
 * One of several, each in sight.
 * @param {string} words @param {Record<string, string>} choices label of each value @param {(value: string) => void} chosen @param {string} [kind] class
 * @returns {Field<string>}
 */
export function radios(words, choices, chosen, kind = "") {
    const name = unique("choice");
    const inputs = Object.keys(choices).map((value) => element("input", { type: "radio", name, value }));
    const labels = inputs.map((input) => element("label", {}, input, element("span", {}, choices[input.value])));
    const box = element("fieldset", { class: `lab-radios ${kind}` }, element("legend", {}, words), element("div", {}, ...labels));
    box.addEventListener("change", (event) => chosen(/** @type {HTMLInputElement} */ (event.target).value));
    return { element: box, show: (value) => inputs.forEach((input) => (input.checked = input.value === value)) };
}

/** @param {string} words @param {Record<string, string>} choices @param {(value: string) => void} chosen @returns {Field<string>} */
export function list(words, choices, chosen) {
    const select = element("select", {}, ...Object.entries(choices).map(([value, label]) => element("option", { value }, label)));
    select.addEventListener("change", () => chosen(select.value));
    return { element: labelled(words, select), show: (value) => (select.value = value) };
}

/** @param {string} words @param {(value: boolean) => void} chosen @returns {Field<boolean>} */
export function check(words, chosen) {
    const input = element("input", { type: "checkbox" });
    input.addEventListener("change", () => chosen(input.checked));
    return { element: element("label", { class: "lab-check" }, input, words), show: (value) => (input.checked = value) };
}

/**
 * Digits, typed. What is not yet a number stays as it is typed, while a sentence says what is wrong with it.
 * @param {string} words @param {(text: string) => string | null} typed returns what is wrong @param {{keyboard?: string, size?: number}} [form]
 * @returns {Field<string>}
 */
export function digits(words, typed, { keyboard = "numeric", size = 4 } = {}) {
    const fault = element("span", { class: "lab-fault-text", id: unique("fault"), role: "status" });
    const input = element("input", { type: "text", inputmode: keyboard, size, autocomplete: "off", spellcheck: "false", "aria-describedby": fault.id });
    let accepted = "";
    input.addEventListener("input", () => {
        const before = accepted;
        accepted = input.value.trim();
        const complaint = typed(accepted);
        if (complaint !== null) accepted = before;
        tell(fault, complaint ?? "");
        input.setAttribute("aria-invalid", String(complaint !== null));
    });
    /** What is in the field stays when it is only refused, not replaced. @param {string} value */
    function show(value) {
        if (value === accepted) return;
        accepted = input.value = value;
        tell(fault, "");
        input.removeAttribute("aria-invalid");
    }
    return { element: element("div", {}, labelled(words, input), fault), show };
}

/** A label that holds its words alone: what it stands for is no part of its name. @param {string} words @param {HTMLElement} field */
export function labelled(words, field) {
    field.id = unique("field");
    return element("div", { class: "lab-field" }, element("label", { for: field.id }, words), field);
}
