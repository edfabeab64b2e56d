// @ts-check
// What leaves the page: copies and downloads.

import { element } from "./element.js";

/** Whether the text is on the clipboard; if not, the element that shows it is selected. @param {string} text @param {Element} shown @returns {Promise<boolean>} */
export async function copy(text, shown) {
    try {
        await navigator.clipboard.writeText(text);
        return true;
    } catch {
        getSelection()?.selectAllChildren(shown); // refused, as in a notebook's frame
        return false;
    }
}

/** @param {string} name @param {Blob} content */
export function download(name, content) {
    const address = URL.createObjectURL(content);
    const link = element("a", { href: address, download: name });
    document.body.append(link); // a link outside the page does nothing in some browsers
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
