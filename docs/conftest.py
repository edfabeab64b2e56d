"""Pages are doctests too: print options that one page sets must not reach the next."""

from tests.clean_slate import clean_slate  # noqa: F401 (pytest finds fixtures by name)
