// @ts-check
// The reader's own sentence. Nothing typed is ever lost: what is too long stays in its field, and a sentence says so.

import { split } from "../split.js";
import { MOST_TOKENS } from "../state.js";
import { element, tell, unique } from "./element.js";
import { labelled } from "./fields.js";

/** @param {(text: string, joined: boolean) => string | null} typed returns what is wrong with a text @returns {import("./fields.js").Field<string>} */
export function createSentence(typed) {
    const count = element("span", { class: "lab-count" });
    const fault = element("span", { class: "lab-fault-text", role: "status" });
    const told = element("span", { id: unique("count") }, count, " ", fault);
    const field = element("textarea", { rows: 2, dir: "auto", autocomplete: "off", spellcheck: "false", "aria-describedby": told.id });
    const box = element("div", { class: "lab-sentence" }, labelled("Your sentence", field), told);
    let composing = false;
    let typing = false;
    let accepted = "";

    function tellCount() {
        const tokens = split(field.value).length;
        tell(count, `${tokens} of at most ${MOST_TOKENS} tokens`);
    }

    function read() {
        tellCount();
        if (composing) return;
        const before = accepted;
        accepted = field.value;
        const complaint = typed(field.value, typing);
        if (complaint !== null) accepted = before;
        tell(fault, complaint ?? "");
        field.setAttribute("aria-invalid", String(complaint !== null));
        typing = true;
    }
    field.addEventListener("compositionstart", () => (composing = true));
    field.addEventListener("compositionend", () => {
        composing = false;
        read();
    });
    field.addEventListener("input", (event) => {
        // Some browsers send the last input of a composition before its end, some after it.
        if (!(/** @type {InputEvent} */ (event).isComposing)) read();
    });
    field.addEventListener("blur", () => (typing = false));

    /** What is in the field stays when it is only refused, not replaced. @param {string} text */
    function show(text) {
        if (text === accepted && field.value !== "") return;
        accepted = text;
        field.value = text;
        tell(fault, "");
        field.removeAttribute("aria-invalid");
        tellCount();
    }
    return { element: box, show };
}
