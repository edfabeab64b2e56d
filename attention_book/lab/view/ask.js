// @ts-check
// Asks a worker for what takes longer than a page may be kept waiting.

import { JOBS } from "../jobs.js";
import { beginWorker } from "./begin_worker.js";

/** @typedef {import("../jobs.js").Jobs} Jobs */
/** @typedef {{job: keyof Jobs, input: any, done: (output: any) => void, failed: (error: unknown) => void}} Asked */
/** @typedef {<Job extends keyof Jobs>(job: Job, input: import("../jobs.js").Input<Job>) => Promise<import("../jobs.js").Output<Job>>} Ask */

export const PATIENCE = 500; // milliseconds until a line says what is being waited for

/** A worker of its own, begun at the first question; it answers one after the other. @param {import("./begin_worker.js").Source} source @returns {Ask} */
export function createAsk(source) {
    /** @type {Worker | null} */
    let worker = null;
    let refused = false; // a browser may refuse workers: then the page waits
    let count = 0;
    /** @type {Map<number, Asked>} */
    const open = new Map();

    /** @returns {Worker | null} */
    function begin() {
        if (refused) return null;
        try {
            const begun = beginWorker(source);
            begun.addEventListener("message", ({ data: { id, output, complaint } }) => {
                const asked = open.get(id);
                open.delete(id);
                if (complaint === undefined) asked?.done(output);
                else asked?.failed(new Error(complaint));
            });
            begun.addEventListener("error", (event) => {
                event.preventDefault();
                refused = true;
                worker = null;
                open.forEach(here);
                open.clear();
            });
            return begun;
        } catch {
            refused = true;
            return null;
        }
    }

    return (job, input) =>
        new Promise((done, failed) => {
            worker ??= begin();
            if (!worker) return here({ job, input, done, failed });
            open.set((count += 1), { job, input, done, failed });
            worker.postMessage({ id: count, job, input });
        });
}

/** Without a worker: late, so that what was typed is drawn first. @param {Asked} asked */
function here({ job, input, done, failed }) {
    setTimeout(() => {
        try {
            done(JOBS[job](input));
        } catch (error) {
            failed(error);
        }
    });
}
