"""What stands on the lab's page for the model that knows who is "it", where no script runs: the book's two sentences, trained and random."""

from collections.abc import Sequence
from html import escape

from torch import Tensor

from attention_book.lab.tables import LEVELS
from attention_book.trained.ablate import all_heads, without
from attention_book.trained.cache import remembered
from attention_book.trained.export import export, to_float16
from attention_book.trained.grammar import IDS, VOCABULARY
from attention_book.trained.studies import SOFT, TIRED
from attention_book.trained.transformer import Transformer
from attention_book.trained.who_is_it import answer, new_model, train_who_is_it

SEED = 0  # of the gallery's script, so that nothing is trained twice
SENTENCES = {"cat": TIRED, "mat": SOFT}  # by whom the grammar means


def models(seed: int = SEED) -> dict[str, Transformer]:
    """The model as the page's file holds it, and as its seed drew it."""
    return {"Trained": to_float16(remembered(train_who_is_it, seed)), "Random": new_model(seed)}


def script(seed: int = SEED) -> str:
    """The model as a classic script: browsers refuse to fetch a file for a page that is opened from a folder."""
    return f"globalThis.attentionBookWho = {export(remembered(train_who_is_it, seed), seed=seed)};\n"


def still(seed: int = SEED) -> str:
    """Both sentences as text and tables; only the first is shown while a script is on its way."""
    both = models(seed)
    parts = []
    for number, (right, tokens) in enumerate(SENTENCES.items()):
        wrong = next(noun for noun in SENTENCES if noun != right)
        tables = "\n".join(_table(name, model, tokens, (right, wrong)) for name, model in both.items())
        begin = "<div>" if number == 0 else '<div class="who-later">'
        said = f'<p>“{" ".join(tokens)}”</p>\n<p class="who-reading">{escape(says(both, tokens, right))}</p>'
        parts.append(f'{begin}\n{said}\n<div class="who-tables">\n{tables}\n</div>\n</div>')
    return "\n".join(parts)


def says(both: dict[str, Transformer], tokens: Sequence[str], right: str) -> str:
    """What both models answer: the sentence that the page's script says."""
    (word, probability), (drawn, chance) = (best(model, tokens) for model in both.values())
    verdict = "which is right" if word == right else f"but the grammar means “{right}”"
    return (
        f"Trained, the model answers “{word}” with probability {probability:.4f}, {verdict}. "
        f"With random weights it answers “{drawn}” with probability {chance:.4f}."
    )


def best(model: Transformer, tokens: Sequence[str]) -> tuple[str, float]:
    """The likeliest word, and its probability."""
    word, probabilities, _ = answer(model, tokens)
    return word, probabilities[IDS[word]].item()


def finding(seed: int = SEED) -> str:
    """Which heads of the last layer look at the noun in both sentences, and what the answers lose without a head."""
    model = models(seed)["Trained"]
    last = model.sizes["num_layers"] - 1
    whole = _answers(model)
    rows = [_from_it(model, tokens)[:, tokens.index(right)] for right, tokens in SENTENCES.items()]  # (h,) each
    looking = [head for head in range(model.sizes["num_heads"]) if all(row[head] > 0.5 for row in rows)]
    lost = {each: _changes(whole, _answers(without(model, [each]))) for each in all_heads(model)}
    idle = [(last, head) for head in looking if not lost[last, head]]
    give = "gives" if len(looking) == 1 else "give"
    told = [f"In both sentences {_listed(looking)} of layer {last} {give} the noun that is meant more than half of the weight."]
    if idle:
        after = "an answer changes" if _changes(whole, _answers(without(model, idle))) else "both answers stay"
        told.append(f"Switch off {_listed([head for _, head in idle])}{' together' if len(idle) > 1 else ''}: {after}.")
    changes = [f"without head {head} of layer {layer} {' and '.join(each)}" for (layer, head), each in lost.items() if each]
    told.append(f"But {', and '.join(changes)}." if changes else "No head alone changes an answer.")
    return " ".join(told)


def _answers(model: Transformer) -> dict[str, str]:
    return {tokens[-1]: best(model, tokens)[0] for tokens in SENTENCES.values()}


def _changes(before: dict[str, str], after: dict[str, str]) -> list[str]:
    return [f"“{adjective}” gives “{word}”" for adjective, word in after.items() if word != before[adjective]]


def _from_it(model: Transformer, tokens: Sequence[str]) -> Tensor:
    """What each head of the last layer gives from "it" to every word, ``(h, n)``."""
    return answer(model, tokens)[2][-1][:, tokens.index("it")]


def _listed(heads: Sequence[int]) -> str:
    if not heads:
        return "no head"
    names = [str(head) for head in heads]
    return f"head {names[0]}" if len(names) == 1 else f"heads {', '.join(names[:-1])} and {names[-1]}"


def _table(name: str, model: Transformer, tokens: Sequence[str], nouns: tuple[str, str]) -> str:
    probabilities, from_it = answer(model, tokens)[1], _from_it(model, tokens)  # (words,), (h, n)
    told = ", ".join(f"{noun} {probabilities[VOCABULARY.index(noun)].item():.4f}" for noun in nouns)
    header = "".join(f'<th scope="col">head {head}</th>' for head in range(len(from_it)))
    rows = []
    for token, column in zip(tokens, from_it.T.tolist(), strict=True):
        kind = ' class="who-noun"' if token in nouns else ""
        cells = "".join(f'<td class="m{round(weight * (LEVELS - 1))}">{weight:.4f}</td>' for weight in column)
        rows.append(f'<tr><th scope="row"{kind}>{escape(token)}</th>{cells}</tr>')
    return "\n".join([
        f'<div class="lab-scroll" tabindex="0" role="group" aria-label="{name}, {tokens[-1]}: what each head gives">',
        f"<table><caption>{name}: weights from “it” to each word. Answer: {told}</caption>",
        f"<thead><tr><td></td>{header}</tr></thead>",
        "<tbody>", *rows, "</tbody></table></div>",
    ])
