// @ts-check
// The lab's arithmetic away from the page, so that the page never waits for it: `{id, settings}` in, `{id, trace}` or `{id, complaint}` out.

import { run } from "./modules.js";

/** @typedef {import("./modules.js").Settings} Settings */

self.addEventListener("message", (/** @type {MessageEvent<{id: number, settings: Settings}>} */ { data: { id, settings } }) => {
    try {
        self.postMessage({ id, trace: run(settings) });
    } catch (error) {
        self.postMessage({ id, complaint: error instanceof Error ? error.message : String(error) });
    }
});
