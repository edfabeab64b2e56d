// @ts-check
// The lab's arithmetic away from the page, so that the page never waits for it: `{id, settings}` in, `{id, trace}` out; `{id, seed}` in,
// what the slide of d_k shows of it out, `{id, slide}`; and `{id, complaint}` where that fails.

import { run } from "./modules.js";
import { slideOf } from "./slide.js";

/** @typedef {import("./modules.js").Settings} Settings */

self.addEventListener("message", (/** @type {MessageEvent<{id: number, settings?: Settings, seed?: bigint}>} */ { data: { id, settings, seed } }) => {
    try {
        if (settings) self.postMessage({ id, trace: run(settings) });
        if (seed !== undefined) self.postMessage({ id, slide: slideOf(seed) });
    } catch (error) {
        self.postMessage({ id, complaint: error instanceof Error ? error.message : String(error) });
    }
});
