// @ts-check
// Numbers with a shape, and the one product of matrices that everything here needs.

/**
 * @typedef {object} Tensor
 * @property {number[]} shape
 * @property {Float32Array} data row by row
 */

/**
 * A tensor of these numbers, or of zeros.
 *
 * @param {number[]} shape @param {Float32Array} [data] @returns {Tensor}
 */
export function tensor(shape, data) {
    const size = sizeOf(shape);
    if (data && data.length !== size) throw new RangeError(`shape ${shape.join(" x ")} holds ${size} numbers, not ${data.length}`);
    return { shape, data: data ?? new Float32Array(size) };
}

/** How many numbers a shape holds. @param {number[]} shape @returns {number} */
export function sizeOf(shape) {
    return shape.reduce((product, size) => product * size, 1);
}

/** Rows and columns of the matrix `(m, n)` as columns and rows. @param {Tensor} matrix @returns {Tensor} `(n, m)` */
export function transpose({ shape: [rows, columns], data }) {
    const turned = new Float32Array(data.length);
    for (let i = 0; i < rows; i++) {
        for (let j = 0; j < columns; j++) turned[j * rows + i] = data[i * columns + j];
    }
    return tensor([columns, rows], turned);
}

/**
 * Every row of `a` times every row of `b`, summed in double and rounded once: `a @ b.T`.
 *
 * @param {Tensor} a `(m, k)` @param {Tensor} b `(n, k)` @param {boolean} [lower] whether row i of `a` is 0 after its place i
 * @returns {Tensor} `(m, n)`
 */
export function rowsTimesRows(a, b, lower = false) {
    const [m, k] = a.shape;
    const n = b.shape[0];
    if (b.shape[1] !== k) throw new RangeError(`rows of ${k} and of ${b.shape[1]} numbers have no product`);
    const out = new Float32Array(m * n);
    const left = new Float64Array(a.data); // doubles from the start, not one conversion for each product
    const right = new Float64Array(b.data);
    let i = 0;
    for (; i + 2 <= m; i += 2) {
        const width = lower ? Math.min(i + 2, k) : k;
        let j = 0;
        for (; j + 4 <= n; j += 4) block(left, i * k, k, right, j * k, k, width, out, i * n + j, n);
        for (; j < n; j++) {
            out[i * n + j] = dot(left, i * k, right, j * k, width);
            out[(i + 1) * n + j] = dot(left, (i + 1) * k, right, j * k, width);
        }
    }
    for (; i < m; i++) {
        const width = lower ? Math.min(i + 1, k) : k;
        for (let j = 0; j < n; j++) out[i * n + j] = dot(left, i * k, right, j * k, width);
    }
    return tensor([m, n], out);
}

/**
 * One row times one row.
 *
 * @param {Float64Array} a @param {number} p @param {Float64Array} b @param {number} q @param {number} width @returns {number}
 */
function dot(a, p, b, q, width) {
    let sum = 0;
    for (let d = 0; d < width; d++) sum += a[p + d] * b[q + d];
    return sum;
}

/**
 * Two rows times four rows at once: eight sums that stay in registers, three quarters of a load for each product.
 *
 * @param {Float64Array} a @param {number} p @param {number} stepA @param {Float64Array} b @param {number} q @param {number} stepB
 * @param {number} width @param {Float32Array} out @param {number} at @param {number} stepOut
 */
function block(a, p, stepA, b, q, stepB, width, out, at, stepOut) {
    let s00 = 0, s01 = 0, s02 = 0, s03 = 0, s10 = 0, s11 = 0, s12 = 0, s13 = 0;
    const p1 = p + stepA, q1 = q + stepB, q2 = q1 + stepB, q3 = q2 + stepB;
    for (let d = 0; d < width; d++) {
        const x0 = a[p + d], x1 = a[p1 + d], y0 = b[q + d], y1 = b[q1 + d], y2 = b[q2 + d], y3 = b[q3 + d];
        s00 += x0 * y0; s01 += x0 * y1; s02 += x0 * y2; s03 += x0 * y3;
        s10 += x1 * y0; s11 += x1 * y1; s12 += x1 * y2; s13 += x1 * y3;
    }
    out[at] = s00; out[at + 1] = s01; out[at + 2] = s02; out[at + 3] = s03;
    at += stepOut;
    out[at] = s10; out[at + 1] = s11; out[at + 2] = s12; out[at + 3] = s13;
}
