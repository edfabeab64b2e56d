"""Says what is wrong with somebody's attention: ``diagnose.py`` first, then the files that it reads, ``check.py`` for a shell."""
