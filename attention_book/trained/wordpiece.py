"""Words cut into the pieces that a published encoder knows (Schuster and Nakajima, 2012), for plain English."""

import re
from collections.abc import Mapping, Sequence

BEGIN, END, UNKNOWN = "[CLS]", "[SEP]", "[UNK]"
PLAIN = re.compile(r"[ -~]*")  # printable ASCII


def pieces(word: str, vocabulary: Mapping[str, int]) -> list[str]:
    """One word's pieces: always the longest that the vocabulary has; later ones begin with ``##``.

    Example:
        >>> from attention_book.trained.wordpiece import pieces
        >>> pieces("attentive", {"attend": 0, "attent": 1, "##ive": 2})
        ['attent', '##ive']
    """
    found, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = ("##" if start else "") + word[start:end]
            if piece in vocabulary:
                break
        else:
            return [UNKNOWN]
        found.append(piece)
        start = end
    return found


def tokenize(words: Sequence[str], vocabulary: Mapping[str, int]) -> tuple[list[str], list[int | None]]:
    """A sentence's pieces between ``[CLS]`` and ``[SEP]``, and for each the position of its word, or ``None``.

    Raises:
        ValueError: a word holds more than printable ASCII, which would need more rules than these.
    """
    tokens: list[str] = [BEGIN]
    owners: list[int | None] = [None]
    for position, word in enumerate(words):
        if not PLAIN.fullmatch(word):
            raise ValueError(f"{word!r} holds a character beyond plain English; write it with letters a to z")
        for part in re.findall(r"\w+|[^\w\s]", word.lower().replace("_", " _ ")):
            cut = pieces(part, vocabulary)
            tokens += cut
            owners += [position] * len(cut)
    return [*tokens, END], [*owners, None]
