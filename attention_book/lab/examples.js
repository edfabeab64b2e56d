// @ts-check
// The six tokens of the acts.

/** As `attention_book.JOURNEY`. */
export const JOURNEY_TOKENS = ["Your", "journey", "starts", "with", "one", "step"];

/** `(6, 3)`: a fresh copy each time, so yours to change. @returns {Float32Array} */
export function journeyEmbeddings() {
    return Float32Array.of(
        0.43, 0.15, 0.89, // Your
        0.55, 0.87, 0.66, // journey
        0.57, 0.85, 0.64, // starts
        0.22, 0.58, 0.33, // with
        0.77, 0.25, 0.10, // one
        0.05, 0.80, 0.55, // step
    );
}
