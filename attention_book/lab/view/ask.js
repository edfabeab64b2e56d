// @ts-check
// Asks a worker for what the slide of d_k shows of a seed: its curves take longer than a page may be kept waiting.

import { slideOf } from "../slide.js";
import { beginWorker } from "./begin_worker.js";

/** @typedef {ReturnType<typeof slideOf>} Answer */

/** A worker of its own, begun at the first question. @param {import("./begin_worker.js").Source} source @returns {(seed: bigint) => Promise<Answer>} */
export function createAsk(source) {
    /** @type {Worker | null} */
    let worker = null;
    let refused = false; // a browser may refuse workers: then the page waits
    let count = 0;

    /** @param {bigint} seed @returns {Promise<Answer>} */
    return (seed) =>
        new Promise((done) => {
            const here = () => void setTimeout(() => done(slideOf(seed)));
            const id = (count += 1);
            try {
                if (!refused) worker ??= beginWorker(source);
            } catch {
                refused = true;
            }
            if (!worker) return here();
            const asked = worker;
            asked.addEventListener("message", function told({ data }) {
                if (data.id !== id) return;
                asked.removeEventListener("message", told);
                done(data.slide);
            });
            asked.addEventListener("error", (event) => {
                event.preventDefault();
                refused = true;
                worker = null;
                here();
            });
            asked.postMessage({ id, seed });
        });
}
