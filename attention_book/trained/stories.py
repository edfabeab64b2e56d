"""Very short stories from a grammar, and a reader that checks whether a story keeps to it.

A story names its hero once, and must remember: "he" or "she", whose thing, which thing, which place. The first two need
the words nearby; the others reach back over several sentences.
"""

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass

BEGIN = "¶"  # before a story and after it
HE, SHE = tuple("ben tom max sam leo jack".split()), tuple("anna mia rosa lily emma zoe".split())
ANIMALS = tuple("fox bear cat dog mouse rabbit duck owl".split())
MOODS = tuple("hungry happy sad proud tired brave shy clever".split())
PLACES = tuple("field forest garden river hill barn".split())
DEEDS = tuple("run play sing sleep dance swim".split())
THINGS = tuple("drum kite ball hat boat lamp bell shell coin rope".split())
GOT, HANDED = tuple("lost found hid made".split()), ("showed", "gave", "brought", "sold")
VOCABULARY = (BEGIN, ".", *sorted(
    {*HE, *SHE, *ANIMALS, *MOODS, *PLACES, *DEEDS, *THINGS, *GOT, *HANDED}
    | set("once there was a named every day he she went to the one his her in after that and were".split())
))  # fmt: skip
IDS = {word: number for number, word in enumerate(VOCABULARY)}
LENGTH = 46  # words of a story with the sign before and after it

_STORY = re.compile(
    r"once there was a (?P<mood>\w+) (?P<animal>\w+) named (?P<hero>\w+) \. "
    r"every day (?P<pronoun>he|she) went to the (?P<place>\w+) to (?P<deed>\w+) \. "
    r"one day (?P<again>\w+) (?P<got>\w+) (?P<whose>his|her) (?P<thing>\w+) in the (?P<there>\w+) \. "
    r"(?:after that )?(?P<giver>\w+) (?P<handed>\w+) the (?P<same>\w+) to (?P<friend>\w+) \. "
    r"(?P<first>\w+) and (?P<second>\w+) were (?P<end>\w+) \."
)
_KINDS = {
    "mood": MOODS, "animal": ANIMALS, "hero": HE + SHE, "place": PLACES, "deed": DEEDS, "got": GOT,
    "thing": THINGS, "handed": HANDED, "friend": HE + SHE, "end": MOODS,
}  # fmt: skip


def story(rng: random.Random) -> list[str]:
    """Draws one story."""
    hero, friend = rng.sample(HE + SHE, 2)
    pronoun, whose = ("he", "his") if hero in HE else ("she", "her")
    place, thing = rng.choice(PLACES), rng.choice(THINGS)
    after = "after that " if rng.random() < 0.5 else ""
    return (
        f"once there was a {rng.choice(MOODS)} {rng.choice(ANIMALS)} named {hero} . "
        f"every day {pronoun} went to the {place} to {rng.choice(DEEDS)} . "
        f"one day {hero} {rng.choice(GOT)} {whose} {thing} in the {place} . "
        f"{after}{hero} {rng.choice(HANDED)} the {thing} to {friend} . "
        f"{hero} and {friend} were {rng.choice(MOODS)} ."
    ).split()


def stories(count: int, seed: int) -> list[list[str]]:
    """So many stories, the same for the same seed."""
    rng = random.Random(seed)
    return [story(rng) for _ in range(count)]


@dataclass(frozen=True)
class Verdict:
    """What holds of a story.

    Attributes:
        grammar: its sentences are such as the grammar says.
        gender: "he" or "she", "his" or "her" are those of the hero.
        memory: hero, thing, place and friend are the same wherever they are named again.
    """

    grammar: bool
    gender: bool
    memory: bool

    @property
    def whole(self) -> bool:
        """All of it holds."""
        return self.grammar and self.gender and self.memory


def read(tokens: Sequence[str]) -> Verdict:
    """Checks a story, without the signs around it.

    Example:
        >>> from attention_book.trained.stories import read, stories
        >>> read(stories(1, seed=0)[0])
        Verdict(grammar=True, gender=True, memory=True)
        >>> read("once there was a sad owl named mia .".split())
        Verdict(grammar=False, gender=False, memory=False)
    """
    found = _STORY.fullmatch(" ".join(tokens))
    if found is None or any(found[name] not in words for name, words in _KINDS.items()):
        return Verdict(False, False, False)
    his = found["hero"] in HE
    gender = (found["pronoun"], found["whose"]) == (("he", "his") if his else ("she", "her"))
    heroes = {found[name] for name in ("hero", "again", "giver", "first")}
    memory = (
        len(heroes) == 1
        and found["thing"] == found["same"]
        and found["place"] == found["there"]
        and found["friend"] == found["second"] != found["hero"]
    )
    return Verdict(True, gender, memory)


def thing_places(tokens: Sequence[str]) -> tuple[int, int]:
    """Where a story's thing is named first, and where it is named again."""
    first, again = (position for position, word in enumerate(tokens) if word in THINGS)
    return first, again
