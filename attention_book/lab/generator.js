// @ts-check
// PyTorch's CPU generator: the Mersenne Twister of Matsumoto and Nishimura, seeded by one number, and what PyTorch makes of its words.

const WORDS = 624;
const MIDDLE = 397;
const LOWEST_SEED = -(2n ** 63n);
const HIGHEST_SEED = 2n ** 64n - 1n;

/** The stream of random numbers that one seed gives. */
export class Generator {
    /** @param {number} seed 32 bits */
    constructor(seed) {
        this.words = new Uint32Array(WORDS);
        this.next = WORDS;
        /** What a small draw of normal numbers left over, or null. @type {number | null} */
        this.spare = null;
        this.words[0] = seed;
        for (let i = 1; i < WORDS; i++) {
            const before = this.words[i - 1];
            this.words[i] = Math.imul(1812433253, before ^ (before >>> 30)) + i;
        }
    }

    /** 32 random bits. @returns {number} */
    u32() {
        if (this.next === WORDS) this.refill();
        let y = this.words[this.next++];
        y ^= y >>> 11;
        y ^= (y << 7) & 0x9d2c5680;
        y ^= (y << 15) & 0xefc60000;
        y ^= y >>> 18;
        return y >>> 0;
    }

    refill() {
        const words = this.words;
        for (let k = 0; k < WORDS; k++) {
            const y = (words[k] & 0x80000000) | (words[(k + 1) % WORDS] & 0x7fffffff);
            words[k] = words[(k + MIDDLE) % WORDS] ^ (y >>> 1) ^ (y & 1 ? 0x9908b0df : 0);
        }
        this.next = 0;
    }

    /** A multiple of 2^-24 from 0 to below 1: one draw. @returns {number} */
    unit24() {
        return (this.u32() & 0xffffff) / 2 ** 24;
    }

    /** A multiple of 2^-53 from 0 to below 1: two draws, the higher half first. @returns {number} */
    unit53() {
        const high = this.u32() & 0x1fffff;
        return (high * 2 ** 32 + this.u32()) / 2 ** 53;
    }
}

/**
 * As `torch.manual_seed`: only the lower 32 bits count, so that -1 is 2^32 - 1.
 *
 * @param {bigint} seed from -2^63 to 2^64 - 1 @returns {Generator}
 */
export function manualSeed(seed) {
    if (seed < LOWEST_SEED || seed > HIGHEST_SEED) {
        throw new RangeError(`seed is ${seed}, which needs more than 64 bits; give ${LOWEST_SEED} to ${HIGHEST_SEED}`);
    }
    return new Generator(Number(BigInt.asUintN(32, seed)));
}
