"""``python -m attention_book.trained.ahead``: train what the pages train, so that a second core does it while others are built.

A page trains itself what is not ready when its turn comes; both write the same weights under the same name.
"""

from collections.abc import Callable
from typing import Any

from attention_book.trained.cache import remembered
from attention_book.trained.induction import train_induction
from attention_book.trained.storyteller import train_storyteller
from attention_book.trained.who_is_it import train_who_is_it

SEED = 0
#: In the order in which they pay: the page on induction comes second, and may begin while the storyteller is trained.
TRAININGS: tuple[tuple[Callable[..., Any], dict[str, Any]], ...] = (
    (train_who_is_it, {}),
    (train_storyteller, {}),
    (train_induction, {}),
    (train_induction, {"num_layers": 1, "num_heads": 2}),
)


def main() -> None:
    """Trains them one after the other; what is there already costs nothing."""
    for make, keywords in TRAININGS:
        remembered(make, SEED, **keywords)


if __name__ == "__main__":
    main()
