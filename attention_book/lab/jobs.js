// @ts-check
// What takes too long for a page to wait for: a worker does it, and the page itself only where a browser refuses workers.

import { run } from "./modules.js";
import { slideOf } from "./slide.js";
import { fileOf } from "./file.js";

/** Each by its name: the steps of an attention, what the slide of d_k shows of a seed, and a view as a file. */
export const JOBS = { trace: run, slide: slideOf, file: fileOf };

/** @typedef {typeof JOBS} Jobs */
/**
 * @template {keyof Jobs} Job
 * @typedef {Parameters<Jobs[Job]>[0]} Input
 */
/**
 * @template {keyof Jobs} Job
 * @typedef {ReturnType<Jobs[Job]>} Output
 */
