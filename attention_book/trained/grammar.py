"""Sentences with one "it", two nouns that it could stand for, and one that it does.

Neither position nor first mention gives the answer: every pattern has both nouns in turn as the answer. Some pairs of noun and
adjective are held out, so that a test can ask about pairs that no training sentence held.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from attention_book.trained import words
from attention_book.trained.words import ANIMALS, CHASE, NATURE, OBJECTS, SIZE, SLOTS, Family

PAD = "<pad>"
CONTEXT_LENGTH = 24
HELD_OUT = 3  # nouns of sixteen, for each adjective
ALWAYS_HELD_OUT = frozenset({("cat", "tired"), ("mat", "soft")})  # the book's own sentence is never trained on


@dataclass(frozen=True)
class Puzzle:
    """A sentence and where its parts stand.

    Attributes:
        tokens: the ``n`` words.
        it: position of "it".
        right: position of the noun that it stands for.
        wrong: position of the other noun.
        aside: position of the noun in the sentence beside it, or ``None``.
        adjective: position of the adjective.
        kind: which kind of answer this is.
    """

    tokens: tuple[str, ...]
    it: int
    right: int
    wrong: int
    aside: int | None
    adjective: int
    kind: str

    @property
    def pair(self) -> tuple[str, str]:
        """The answer and the adjective."""
        return self.tokens[self.right], self.tokens[self.adjective]


def _vocabulary() -> tuple[str, ...]:
    families = (NATURE, CHASE, SIZE)
    texts = [pattern for family in families for pattern in family.patterns] + [*words.TIMES, *words.ANIMAL_ASIDES, *words.THING_ASIDES]
    known = {word for text in texts for word in text.split() if word.islower()}
    known |= {word for slot in SLOTS.values() for word in slot} | set(words.DEGREES) | {"."}
    known |= {word for family in families for answer in family.answers.values() for word in answer.adjectives}
    return (PAD, *sorted(known))


#: Every word that the grammar can say; the first is the padding.
VOCABULARY = _vocabulary()
IDS = {word: number for number, word in enumerate(VOCABULARY)}


def held_out_pairs(seed: int) -> frozenset[tuple[str, str]]:
    """For each adjective and kind of noun, the pairs of noun and adjective that training never has as its answer."""
    rng = random.Random(seed)
    held = set(ALWAYS_HELD_OUT)
    for family in (NATURE, CHASE, SIZE):
        for answer in family.answers.values():
            for adjective in answer.adjectives:
                first = [noun for noun in SLOTS[answer.noun] if (noun, adjective) in held]
                rest = [noun for noun in SLOTS[answer.noun] if (noun, adjective) not in held]
                held |= {(noun, adjective) for noun in (first + rng.sample(rest, len(rest)))[:HELD_OUT]}
    return frozenset(held)


def puzzle(rng: random.Random, *, mixed: bool = True) -> Puzzle:
    """Draws one sentence; ``mixed`` has the families of two animals and of two things in half of the cases."""
    family: Family = NATURE
    if mixed and rng.random() < 0.5:
        family = CHASE if rng.random() < 2 / 3 else SIZE
    kind, answer = rng.choice(list(family.answers.items()))
    filled: dict[str, str] = {"ADJECTIVE": rng.choice(answer.adjectives)}
    tokens: list[str] = []
    at: dict[str, int] = {}
    for word in rng.choice(family.patterns).split():
        if word in SLOTS:
            filled[word] = rng.choice([choice for choice in SLOTS[word] if choice not in filled.values()])
        if word == "ADJECTIVE" and family is not SIZE and rng.random() < 0.3:
            tokens.append(rng.choice(words.DEGREES))
        at[word] = len(tokens)
        tokens.append(filled.get(word, word))
    before: list[str] = []
    if rng.random() < 0.3:
        when = rng.choice(words.TIMES).split()
        if rng.random() < 0.5:
            before = when
        else:
            tokens += when
    aside = None
    if rng.random() < 0.5:
        nouns, asides = rng.choice([(ANIMALS, words.ANIMAL_ASIDES), (OBJECTS, words.THING_ASIDES)])
        said = ["the", rng.choice([noun for noun in nouns if noun not in filled.values()]), *rng.choice(asides).split()]
        if rng.random() < 0.5:
            aside, before = 1, [*said, ".", *before]
        else:
            aside, tokens = len(before) + len(tokens) + 2, [*tokens, ".", *said]
    nouns_at = {slot: at[slot] + len(before) for slot in at if SLOTS.get(slot) in (ANIMALS, OBJECTS)}
    right = nouns_at.pop(answer.noun)
    (wrong,) = nouns_at.values()
    it, adjective = at["it"] + len(before), at["ADJECTIVE"] + len(before)
    return Puzzle((*before, *tokens), it, right, wrong, aside, adjective, kind)


def puzzles(seed: int, *, held_out: frozenset[tuple[str, str]], test: bool, mixed: bool = True) -> Iterator[Puzzle]:
    """Sentences without end: for training those whose pair is not held out, for a test those whose pair is."""
    rng = random.Random(seed)
    while True:
        drawn = puzzle(rng, mixed=mixed)
        if (drawn.pair in held_out) is test:
            yield drawn


def encode(sentences: Sequence[Sequence[str]]) -> Tensor:
    """Word numbers, shape ``(b, n)``, shorter sentences padded at their end.

    Raises:
        ValueError: a word is unknown, or a sentence is longer than ``CONTEXT_LENGTH``.
    """
    for tokens in sentences:
        unknown = [word for word in tokens if word not in IDS]
        if unknown:
            raise ValueError(f"{unknown[0]!r} is none of the {len(IDS)} words that this grammar knows; choose another")
        if len(tokens) > CONTEXT_LENGTH:
            raise ValueError(f"the sentence has {len(tokens)} words but the model reads {CONTEXT_LENGTH}; shorten it")
    n = max(len(tokens) for tokens in sentences)
    return torch.tensor([[IDS[word] for word in tokens] + [0] * (n - len(tokens)) for tokens in sentences])
