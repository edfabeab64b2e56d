// @ts-check
// "The same in PyTorch": a program without this book's package that prints the map on show.

import { JOURNEY_TOKENS, journeyEmbeddings } from "./examples.js";
import { TOKENS, WIDEST } from "./slide.js";
import { tokensOf, widths } from "./state.js";
import { number, short, string, strings } from "./python.js";

/** @typedef {import("./state.js").State} State */

/**
 * The program. Its names are the library's, and the steps of `explain` go on from them.
 * @param {State} state @returns {string}
 */
export function program(state) {
    const n = tokensOf(state).length;
    const heads = state.attention.startsWith("MultiHead") ? [state.heads] : [];
    const shape = (/** @type {number[]} */ ...sizes) => `(${[...heads, ...sizes].join(", ")})`;
    const merged = heads.length > 0;
    return [
        "import torch",
        "",
        ...embeddings(state, n),
        "",
        ...projections(state, n),
        "",
        `scores = query @ key.mT  # ${shape(n, n)}: a row for each query, a column for each key`,
        ...scaling(state),
        ...masking(state, n),
        "weights = torch.softmax(masked, dim=-1)  # each row sums to 1",
        `${merged ? "context" : "output"} = weights @ value  # ${shape(n, widths(state).value)}: the context vectors`,
        ...(merged ? merging(state, n) : []),
        "",
        ...printing(state),
        "",
    ].join("\n");
}

/**
 * The program of the d_k slide: the bars of the first query, and the means over all queries.
 * @param {State} state @returns {string}
 */
export function slideProgram({ seed, d_k }) {
    return `import torch

torch.manual_seed(${seed})
query = torch.randn(${TOKENS}, ${WIDEST})
key = torch.randn(${TOKENS}, ${WIDEST})

d_k = ${d_k}  # how many of the ${WIDEST} numbers count
scores = query[:, :d_k].double() @ key[:, :d_k].double().mT  # (${TOKENS}, ${TOKENS})
print(f"standard deviation of the scores {scores.std():.4f}, root of d_k {d_k ** 0.5:.4f}")
for name, scale in (("unscaled", 1.0), ("scaled", 1 / d_k ** 0.5)):
    weights = torch.softmax(scores * scale, dim=-1)
    largest = weights.max(dim=-1).values.mean()
    entropy = torch.special.entr(weights).sum(dim=-1).mean()  # in nats: an even split has log(${TOKENS})
    print(f"{name}: mean largest weight {largest:.4f}, mean entropy {entropy:.4f}; the first query's weights:")
    print(*(f"{weight:.4f}" for weight in weights[0].tolist()))
`;
}

/** @param {State} state @param {number} n @returns {string[]} */
function embeddings({ example, text, seed, d_model }, n) {
    if (example === "text") {
        return [
            `text = ${string(text)}`,
            "tokens = text.split()",
            "",
            `torch.manual_seed(${seed})`,
            `x = torch.randn(${n}, ${d_model})  # one random vector for each token`,
        ];
    }
    const numbers = journeyEmbeddings();
    const width = numbers.length / JOURNEY_TOKENS.length;
    const rows = JOURNEY_TOKENS.map((token, i) => `    [${Array.from(numbers.subarray(i * width, (i + 1) * width), short).join(", ")}],  # ${token}`);
    return [`tokens = ${strings(JOURNEY_TOKENS)}`, "x = torch.tensor([", ...rows, `])  # (${n}, ${width}): one vector for each token`];
}

/** @param {State} state @param {number} n @returns {string[]} */
function projections(state, n) {
    const { attention, example, heads, seed } = state;
    const { d_in, d_out, d_k } = widths(state);
    const seeding = example === "text" ? [] : [`torch.manual_seed(${seed})`]; // a text's module goes on where its embeddings ended
    const layer = `torch.nn.Linear(${d_in}, ${d_out}, bias=False)`;
    const layers = [`W_query = ${layer}`, `W_key = ${layer}`, `W_value = ${layer}`];
    switch (attention) {
        case "simple":
            return ["query = key = value = x  # compared as they stand"];
        case "SelfAttention_v1": {
            const matrix = `torch.rand(${d_in}, ${d_out})`;
            return [...seeding, `W_query = ${matrix}`, `W_key = ${matrix}`, `W_value = ${matrix}`, `query, key, value = x @ W_query, x @ W_key, x @ W_value  # each (${n}, ${d_k})`];
        }
        case "MultiHeadAttentionWrapper":
            return [
                ...seeding,
                `layers = [[${layer} for name in ("query", "key", "value")] for head in range(${heads})]`,
                `query, key, value = (torch.stack([head[k](x) for head in layers]) for k in range(3))  # each (${heads}, ${n}, ${d_k})`,
            ];
        case "MultiHeadAttention":
            return [
                ...seeding,
                ...layers,
                `out_proj = torch.nn.Linear(${d_out}, ${d_out}${example === "text" ? ", bias=False" : ""})`,
                `def split(projected):  # (${n}, ${d_out}) to (${heads}, ${n}, ${d_k})`,
                `    return projected.view(${n}, ${heads}, ${d_k}).transpose(0, 1)`,
                "query, key, value = split(W_query(x)), split(W_key(x)), split(W_value(x))",
            ];
        default:
            return [...seeding, ...layers, `query, key, value = W_query(x), W_key(x), W_value(x)  # each (${n}, ${d_k})`];
    }
}

/** @param {State} state @returns {string[]} */
function scaling({ scale, temperature }) {
    const root = scale ? "1 / key.shape[-1] ** 0.5" : "1.0";
    const heat = temperature === 1 ? "" : ` / ${number(temperature)}`;
    const why = [scale ? "the root of d_k" : "", heat ? "the temperature" : ""].filter(Boolean).join(", and ");
    return [`scale = ${root}${heat}  # ${why || "no scale"}`, "scaled = scores * scale"];
}

/** @param {State} state @param {number} n @returns {string[]} */
function masking({ causal }, n) {
    if (!causal) return ["masked = scaled  # no mask: every query may look at every key"];
    return [`later = torch.ones(${n}, ${n}, dtype=torch.bool).triu(diagonal=1)  # True where a key comes later than its query`, "masked = scaled.masked_fill(later, -torch.inf)"];
}

/** @param {State} state @param {number} n @returns {string[]} */
function merging(state, n) {
    const width = widths(state).d_k * state.heads;
    const joined = `joined = context.transpose(0, 1).flatten(1)  # (${n}, ${width}): each token's heads side by side`;
    return [joined, state.attention === "MultiHeadAttention" ? `output = out_proj(joined)  # (${n}, ${width})` : "output = joined"];
}

/** Row by row and not by torch's own print, which leaves out the middle of large tensors and changes to powers of ten. @param {State} state @returns {string[]} */
function printing({ attention, view, head, heads }) {
    const one = attention.startsWith("MultiHead") && view !== "output";
    return [
        `# ${view}${one ? ` of head ${head} of ${heads}` : ""}: a row for each query, and its token behind it`,
        `for row, token in zip(${view}${one ? `[${head}]` : ""}.tolist(), tokens):`,
        '    print(*(f"{number:8.4f}" for number in row), repr(token))',
    ];
}
