// @ts-check
// Check what a reader predicts. The page works without this file, which a build of `docs/_ext/predict.py` asks for.
// A classic script and no module, because browsers refuse modules over file://.
(() => {
    "use strict";

    // The one thing that is kept, and only in this browser: what was answered, by question.
    const STORE = "attention-book-answers";

    /** @returns {Record<string, string>} */
    const kept = () => {
        try {
            const read = JSON.parse(localStorage.getItem(STORE) ?? "{}");
            return read && typeof read === "object" ? read : {};
        } catch {
            return {}; // a browser may refuse to keep anything: then every visit starts anew
        }
    };

    /** @param {string} id @param {string} said */
    const keep = (id, said) => {
        try {
            localStorage.setItem(STORE, JSON.stringify({ ...kept(), [id]: said }));
        } catch {} // as above
    };

    const forget = () => {
        try {
            localStorage.removeItem(STORE);
        } catch {} // as above
    };

    /** Comma or point, any minus, spaces between digits; null for what is no number. @param {string} text */
    const numberIn = (text) => {
        const plain = text.replace(/\s/g, "").replace(/\u2212/g, "-").replace(",", ".");
        const wellFormed = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain);
        return wellFormed && Number.isFinite(Number(plain)) ? Number(plain) : null;
    };

    /** What an element of this page shows, once more. @param {Element} element @returns {Node[]} */
    const copy = (element) => {
        const twin = /** @type {Element} */ (element.cloneNode(true));
        twin.querySelectorAll("[id]").forEach((inner) => inner.removeAttribute("id"));
        return [...twin.childNodes];
    };

    /** @template {Element} E @param {Element} within @param {string} selector @returns {E} */
    const one = (within, selector) => /** @type {E} */ (within.querySelector(selector));

    /** What was said, whether it is right (null: it is no answer), and the sentence about it. @param {HTMLFormElement} form */
    const verdict = (form) => {
        const right = form.dataset.answer ?? "";
        /** @type {HTMLInputElement | null} */
        const field = form.querySelector("input[type=text]");
        if (!field) {
            /** @type {HTMLInputElement | null} */
            const chosen = form.querySelector("input:checked");
            if (!chosen) return { said: "", right: null, words: ["Choose one first."] };
            /** @param {string} value */
            const choice = (value) => copy(one(form, `input[value="${value}"] + span`));
            return chosen.value === right
                ? { said: chosen.value, right: true, words: ["Right: \u201c", ...choice(right), "\u201d."] }
                : { said: chosen.value, right: false, words: ["Not quite: it is \u201c", ...choice(right), "\u201d. You said \u201c", ...choice(chosen.value), "\u201d."] };
        }
        const said = field.value.trim();
        const number = numberIn(said);
        field.setAttribute("aria-invalid", String(said !== "" && number === null));
        if (said === "") return { said, right: null, words: ["Type a number first."] };
        if (number === null) return { said, right: null, words: [`\u201c${said}\u201d is not a number I can read. Write it like 6.1, -0.25 or 1e-3.`] };
        const tolerance = Number(form.dataset.tolerance);
        // 6.2 is within 0.1 of 6.1, whatever binary fractions make of it.
        const slack = 1e-9 * Math.max(tolerance, Math.abs(Number(right)));
        return Math.abs(number - Number(right)) <= tolerance + (tolerance && slack)
            ? { said, right: true, words: [`Right: ${right}.`] }
            : { said, right: false, words: [`Not quite: it is ${right}. You said ${number}.`] };
    };

    /** @param {HTMLFormElement} form */
    const answer = (form) => {
        const { said, right, words } = verdict(form);
        const sentence = document.createElement("p");
        sentence.append(...words);
        const why = right === null ? [] : copy(one(/** @type {Element} */ (form.parentElement), ".predict-why"));
        one(form, ".predict-result").replaceChildren(sentence, ...why);
        form.dataset.verdict = right === null ? "" : right ? "right" : "wrong";
        if (right !== null) keep(form.id, said);
        count(form.closest(".quiz"));
    };

    /** @param {Element | null} quiz @param {string} more */
    const count = (quiz, more = "") => {
        if (!quiz) return;
        const asked = quiz.querySelectorAll(".predict-form").length;
        const right = quiz.querySelectorAll(".predict-form[data-verdict=right]").length;
        const line = one(quiz, ".quiz-count");
        const words = `${right} of ${asked} right${more}`;
        if (line.textContent !== words) line.textContent = words; // a line that stays the same is not read out again
    };

    /** Put back what was answered on an earlier visit. @param {HTMLFormElement} form @param {string | undefined} said */
    const restore = (form, said) => {
        if (typeof said !== "string") return;
        const choices = /** @type {NodeListOf<HTMLInputElement>} */ (form.querySelectorAll("input[type=radio]"));
        choices.forEach((choice) => { choice.checked = choice.value === said; });
        /** @type {HTMLInputElement | null} */
        const field = form.querySelector("input[type=text]");
        if (field) field.value = said;
        if (verdict(form).right !== null) answer(form);
    };

    const forms = /** @type {NodeListOf<HTMLFormElement>} */ (document.querySelectorAll(".predict-form"));
    const answers = kept();
    for (const form of forms) {
        restore(form, answers[form.id]);
        one(form, ".predict-result").setAttribute("role", "status"); // only now: what was put back is not news
        form.addEventListener("submit", (event) => {
            event.preventDefault();
            answer(form);
        });
    }
    for (const quiz of document.querySelectorAll(".quiz")) {
        one(quiz, ".quiz-count").setAttribute("role", "status");
        one(quiz, ".quiz-kept button").addEventListener("click", () => {
            forget();
            for (const form of forms) {
                form.reset();
                form.dataset.verdict = "";
                form.querySelector("[aria-invalid]")?.removeAttribute("aria-invalid");
                one(form, ".predict-result").replaceChildren();
            }
            document.querySelectorAll(".quiz").forEach((other) => count(other, other === quiz ? ". Your answers are forgotten." : ""));
        });
    }
    for (const part of document.querySelectorAll(":is(.predict, .quiz) :is([hidden], [disabled])")) {
        part.removeAttribute("hidden");
        part.removeAttribute("disabled");
    }
})();
