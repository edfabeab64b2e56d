// @ts-check
// A view as a file to take away.

import { csv } from "./csv.js";
import { drawing } from "./drawing.js";
import { pieces } from "./json.js";
import { run } from "./modules.js";

/** @typedef {import("./modules.js").Settings} Settings */
/** @typedef {import("./modules.js").Trace} Trace */
/** @typedef {Pick<import("./state.js").State, "view" | "head">} Chosen */
/** @typedef {"CSV" | "JSON" | "SVG"} Kind */

/**
 * `numbers`: the settings that they are drawn from once more, to the bit and sooner than a large trace is handed over; or a trace that was given.
 * @typedef {{kind: Kind, numbers: {settings: Settings} | {trace: Trace}, chosen: Chosen, colours: import("./colours.js").Colours}} Wanted
 */

/** @type {Record<Kind, {type: string, write: (trace: Trace, chosen: Chosen, colours: import("./colours.js").Colours) => string[]}>} */
const KINDS = {
    CSV: { type: "text/csv", write: (trace, chosen) => [csv(trace, chosen)] },
    JSON: { type: "application/json", write: (trace) => pieces(trace) },
    SVG: { type: "image/svg+xml", write: (trace, chosen, colours) => [drawing(trace, chosen, colours)] },
};

/** The text as a Blob, which a worker hands over without a copy. @param {Wanted} wanted @returns {Blob} */
export function fileOf({ kind, numbers, chosen, colours }) {
    const trace = "trace" in numbers ? numbers.trace : run(numbers.settings);
    const { type, write } = KINDS[kind];
    return new Blob(write(trace, chosen, colours), { type });
}
