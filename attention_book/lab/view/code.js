// @ts-check
// A program to look at, to copy and to take away.

import { button, element, tell } from "./element.js";
import { copy, download } from "./files.js";

/** @param {string} words @param {string} file name of the download */
export function createCode(words, file) {
    const code = element("code");
    const told = element("span", { role: "status" });
    const box = element(
        "details",
        { class: "lab-code" },
        element("summary", {}, words),
        element(
            "div",
            { class: "lab-row" },
            button("Copy", async () => tell(told, (await copy(current(), code)) ? "Copied." : "Your browser lets no page copy: the program is selected, press Ctrl+C.")),
            button("Download", () => download(file, new Blob([current()], { type: "text/x-python" }))),
            told,
        ),
        element("pre", { tabindex: 0, role: "group", "aria-label": "Program" }, code),
    );
    let current = () => "";
    box.addEventListener("toggle", () => box.open && tell(code, current()));

    /** @param {() => string} program written only when it is looked at */
    function show(program) {
        current = program;
        tell(told, "");
        if (box.open) tell(code, program());
    }
    return { element: box, show };
}
