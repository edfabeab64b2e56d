# The commands of the book. Whatever they install goes into .venv, whatever they
# build into build/ and docs/gallery/.

PYTHON ?= python3
PORT ?= 8000

PY := .venv/bin/python
SPHINX := $(PY) -m sphinx -c . -W --keep-going -n -d build/doctrees

# One thread: two on a busy machine once turned a script of 1.7 s into one of 61 s.
# The benchmark chooses for itself.
html site offline-zip serve doctest linkcheck other-torch test verify check: export OMP_NUM_THREADS := 1

# `make clean site` and `make check` are sequences, even under -j.
.NOTPARALLEL:
.PHONY: help ready site html offline-zip serve test doctest verify lint types jstypes check bench other-torch linkcheck lock clean

help:  ## list these commands
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{printf "%-19s %s\n", $$1, $$2}'

ready:  ## install what requirements.lock pins into .venv (the others call it)
	@sh .ci/setup "$(PYTHON)"

site: html  ## build the book and say what to open
	@echo
	@echo "The book is built. Open build/html/index.html in a browser, or run 'make serve'."

html: ready  ## build the book into build/html
	$(SPHINX) docs build/html

offline-zip: site  ## pack the built book into one file that opens without a network
	$(PY) .ci/offline_zip.py

serve: site  ## build the book and serve it on this machine (PORT=8000)
	@$(PY) -c "import socket; socket.create_server(('127.0.0.1', $(PORT)))" 2>/dev/null || \
		{ echo "Port $(PORT) is in use: choose another, as in 'make serve PORT=8001'." >&2; exit 1; }
	@echo "Serving http://127.0.0.1:$(PORT)/ (stop with Ctrl-C)"
	@$(PY) -m http.server --bind 127.0.0.1 --directory build/html $(PORT)

test: html  ## run every test: library, doctests, downloads, pages in Chromium
	$(PY) -m pytest

doctest: ready  ## run the examples of the pages and of the docstrings
	$(PY) -m pytest docs attention_book README.md

verify: ready  ## compare the lab's numbers with torch's, number for number, in Chromium (and Firefox)
	$(PY) -m tests.lab.verify

lint: ready  ## look for mistakes in the code with ruff
	$(PY) -m ruff check .

types: ready  ## check the library's types with mypy
	$(PY) -m mypy

jstypes:  ## check the types of the lab's JavaScript with TypeScript (needs node, as nothing else does)
	@sh .ci/jstypes

check: lint types jstypes site test  ## all of the above: what must pass before a change lands

bench: ready  ## measure speed and memory, print a table, write JSON
	$(PY) -m tests.bench

other-torch: ready  ## run every pinned number on another release (TORCH=2.14.1)
	@$(PY) .ci/other_torch.py "$(TORCH)"

linkcheck: ready  ## ask every site that the book links to (needs the network)
	$(SPHINX) -b linkcheck docs build/linkcheck

lock: ready  ## write requirements.lock anew from pyproject.toml
	@sh .ci/lock

clean:  ## remove what was built (.venv stays)
	rm -rf build docs/gallery
