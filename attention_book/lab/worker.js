// @ts-check
// The lab's arithmetic away from the page, so that the page never waits for it: `{id, job, input}` in, `{id, output}` out, and
// `{id, complaint}` where that fails.

import { JOBS } from "./jobs.js";

self.addEventListener("message", (/** @type {MessageEvent<{id: number, job: keyof JOBS, input: any}>} */ { data: { id, job, input } }) => {
    try {
        const output = JOBS[job](input);
        self.postMessage({ id, output }, job === "trace" ? buffersOf(output) : []);
    } catch (error) {
        self.postMessage({ id, complaint: error instanceof Error ? error.message : String(error) });
    }
});

/** What is handed over without a copy: a large trace takes a page a tenth of a second to read. @param {object} trace @returns {ArrayBuffer[]} */
function buffersOf(trace) {
    const tensors = Object.values(trace).filter((step) => step.data);
    return [...new Set(tensors.map(({ data }) => data.buffer))];
}
