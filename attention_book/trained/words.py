"""The words and sentence patterns of "Who is it?": what the generator draws from, and what a reader may choose from.

The first family is after the book's own sentence, "The cat sat on the mat because it was tired". The other two are after
Winograd's schemas (Levesque et al., 2012): both nouns are of one kind, so that the adjective alone decides nothing.
"""

from dataclasses import dataclass

ANIMALS = tuple("cat dog horse rabbit mouse fox bear cow sheep pig goat duck hen wolf lion monkey".split())
OBJECTS = tuple("mat rug sofa chair bed blanket cushion box basket table bench carpet shelf towel log stone".split())

#: What may stand in each slot of a pattern. A word in capitals is a slot, any other word is itself.
SLOTS: dict[str, tuple[str, ...]] = {
    "ANIMAL": ANIMALS,
    "THING": OBJECTS,
    "CHASER": ANIMALS,
    "CHASED": ANIMALS,
    "INNER": OBJECTS,
    "OUTER": OBJECTS,
    "SAT": tuple("sat lay slept jumped stood rested waited played".split()),
    "ON": tuple("on under near beside behind".split()),
    "LIKED": tuple("liked left used wanted found kept".split()),
    "WARMED": tuple("pleased warmed helped surprised held woke".split()),
    "CAUGHT": tuple("chased followed caught pushed scared beat".split()),
}


@dataclass(frozen=True)
class Answer:
    """Adjectives that say the same about whom "it" stands for.

    Attributes:
        noun: the slot of the noun that "it" then stands for.
        adjectives: the words that may stand in the slot ``ADJECTIVE``.
    """

    noun: str
    adjectives: tuple[str, ...]


@dataclass(frozen=True)
class Family:
    """Patterns that ask the same question.

    Attributes:
        patterns: the sentences, with slots in capitals.
        answers: by the kind of answer, who is meant and which adjectives say so.
    """

    patterns: tuple[str, ...]
    answers: dict[str, Answer]


#: What somebody is like, and what some thing is like: the adjective's class decides.
NATURE = Family(
    (
        "the ANIMAL SAT ON the THING because it was ADJECTIVE",
        "ON the THING the ANIMAL SAT because it was ADJECTIVE",
        "the ANIMAL LIKED the THING because it was ADJECTIVE",
        "the THING was LIKED by the ANIMAL because it was ADJECTIVE",
        "the THING WARMED the ANIMAL because it was ADJECTIVE",
        "because it was ADJECTIVE the ANIMAL SAT ON the THING",
        "because it was ADJECTIVE the THING WARMED the ANIMAL",
    ),
    {
        "animal": Answer("ANIMAL", tuple("tired hungry sleepy happy angry scared thirsty lazy curious bored proud sick".split())),
        "object": Answer("THING", tuple("soft dirty wet dusty wooden broken flat cheap torn new woven round".split())),
    },
)
#: Two animals: the adjective and the part that each plays decide together.
CHASE = Family(
    (
        "the CHASER CAUGHT the CHASED because it was ADJECTIVE",
        "the CHASED was CAUGHT by the CHASER because it was ADJECTIVE",
        "because it was ADJECTIVE the CHASER CAUGHT the CHASED",
        "because it was ADJECTIVE the CHASED was CAUGHT by the CHASER",
    ),
    {
        "chaser": Answer("CHASER", tuple("hungry angry fast strong brave fierce bold quick".split())),
        "chased": Answer("CHASED", tuple("slow weak timid lost careless sleepy small lame".split())),
    },
)
#: Two things, one too big or too small for the other.
SIZE = Family(
    (
        "the INNER did not fit in the OUTER because it was too ADJECTIVE",
        "the OUTER did not hold the INNER because it was too ADJECTIVE",
    ),
    {
        "inner": Answer("INNER", tuple("big large wide tall".split())),
        "outer": Answer("OUTER", tuple("small little narrow short".split())),
    },
)

#: Around a sentence: when it was, how much, and what somebody else did, in a sentence before or after.
TIMES = ("today", "yesterday", "at night", "in the morning")
DEGREES = tuple("very so too really".split())
ANIMAL_ASIDES = ("slept", "waited", "played", "rested", "ran away", "came home")
THING_ASIDES = ("was here", "was gone", "fell down")
