// @ts-check
// The lab's arithmetic away from the page, so that the page never waits for it: `{id, job, input}` in, `{id, output}` out, and
// `{id, complaint}` where that fails.

import { JOBS } from "./jobs.js";

self.addEventListener("message", (/** @type {MessageEvent<{id: number, job: keyof JOBS, input: any}>} */ { data: { id, job, input } }) => {
    try {
        self.postMessage({ id, output: JOBS[job](input) });
    } catch (error) {
        self.postMessage({ id, complaint: error instanceof Error ? error.message : String(error) });
    }
});
