"""The small book with questions in it: on a page, in a script, and in the quiz of each."""

from functools import cache

from tests.small_book import SmallBook

PAGE = '''\
# Questions

:::{predict} How large is `twice(3)`, *roughly*?
:answer: twice(3) + 0.1134
:tolerance: 1

Twice of a number is its **double**, $2 x$.
:::

:::{predict} How small is a double?
:answer: -twice(1.5e-6)
:tolerance: 1e-7

Very small, and negative.
:::

::::{quiz}
:::{predict} Which is larger?
---
choices: twice of one | `twice(2)` | $\\sqrt{2}$
answer: numbers.index(max(numbers))
setup: |
    root = torch.tensor(2.0).sqrt().item()
    numbers = [twice(1), twice(2), root]
---

The second.
:::
:::{predict} Is a double even?
:choices: no | yes
:answer: twice(7) % 2 == 0
It is, of a whole number.
:::
:::{predict} How many are there?
:answer: len({twice(1), twice(2)})
:tolerance: 0
Two.
:::
::::
'''

SCRIPT = '''\
"""
A script that asks
==================

One question.
"""

from attention_book import twice

grown = 1

# %%
# Before the code, a reader predicts. It says ``grown``.
#
# .. predict:: How large will ``grown`` be, by :func:`attention_book.twice`?
#    :answer: (grown
#              / 7)
#    :tolerance: 0.05
#
#    It is doubled twice,
#    and then divided: :math:`4 / 7`.
#
#    * Once here,
#    * once later.
#
# After the question.
grown = twice(grown)

# %%
# .. quiz::
#
#    .. predict:: Which of them
#       is it?
#       :answer: [2, 4].index(grown)
#       :choices: two | ``four``
#
#       Four.
#
#    .. predict:: And now?
#       :answer: grown
#       :tolerance: 0
#
#       Still four.
#
# The end.
grown = twice(grown)
'''


def asking_book(folder) -> SmallBook:
    """Write it into a folder."""
    book = SmallBook(folder)
    book.write("docs/two.md", "# Two\n\nThis page asks nothing.\n")
    book.write("docs/one.md", PAGE)
    book.write("gallery/acts/second.py", SCRIPT)
    return book


@cache
def built_asking_book(folder) -> SmallBook:
    """Built once in the folder of a run, for all tests that only read it."""
    book = asking_book(folder / "asking")
    result = book.build()
    assert result.returncode == 0, result.stderr
    return book
