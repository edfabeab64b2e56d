// @ts-check
// A worker made of the whole script, which serves as page and as worker.

/** @typedef {{program: string, address: string}} Source of the whole script: its text and, where it is a file, its address */

/** A file's worker may not be loaded again from a file: it is made from the script's own text then. @param {Source} source @returns {Worker} */
export function beginWorker({ program, address }) {
    return new Worker(address.startsWith("http") ? address : URL.createObjectURL(new Blob([`(${program})()`], { type: "text/javascript" })));
}
