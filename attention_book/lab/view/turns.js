// @ts-check
// Work in parts, so that the page answers in between.

const MOMENT = 12; // milliseconds

/**
 * Does parts one after another: as many as fit into a moment, the others right after. New parts take the place of those not yet done.
 * @returns {(parts: (() => void)[], atOnce?: boolean) => void} atOnce: all of them without a break
 */
export function createTurns() {
    let later = 0;
    return (parts, atOnce = false) => {
        clearTimeout(later);
        let k = 0;
        /** One moment. */
        function turn() {
            const begun = performance.now();
            while (k < parts.length) {
                parts[k++]();
                if (atOnce || performance.now() - begun < MOMENT) continue;
                later = window.setTimeout(turn);
                return;
            }
        }
        turn();
    };
}
