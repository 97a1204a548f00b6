# Two commands: `make demo` shows the main job on embedded data, `make test` checks everything.
# Both create .venv and install on first use; nothing needs root.

PYTHON ?= python3
VENV   ?= .venv
BIN     = $(VENV)/bin
READY   = $(VENV)/.ready
# Real datasets, when they lie beside the project; tests that need them skip otherwise.
BESIDE  = $(abspath ../shared/data)
ifneq ($(wildcard $(BESIDE)/texas.npz),)
export HETEROPHILY_DATA ?= $(BESIDE)
endif

.PHONY: help setup demo test lint types unit docs sanitize cross clean

help:
	@echo "make demo   set up .venv and diagnose embedded graphs"
	@echo "make test   set up .venv and run lint, types, tests, doctests, README"
	@echo "make sanitize  fuzz the native engine with the compiler's sanitizers"
	@echo "make cross  compile the native engine for aarch64 and compare its answers"
	@echo "make docs   build the documentation site in site/"
	@echo "make clean  remove .venv and caches"

setup: $(READY)

$(READY): pyproject.toml constraints.txt setup.py
	@echo "== setting up $(VENV) (a few minutes the first time)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "error: $(PYTHON) is older than Python 3.11; run make with PYTHON=python3.11 (or newer)" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $(READY)

demo: $(READY)
	@echo "== heterophily demo"
	@$(BIN)/heterophily demo

test: lint types unit

lint: $(READY)
	@echo "== ruff"
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	@echo "== mypy --strict"
	$(BIN)/mypy

unit: $(READY)
	@echo "== pytest (unit tests, doctests, README)"
	$(BIN)/python -m pytest -n 2 --dist loadgroup

docs: $(READY)
	@echo "== documentation site"
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

sanitize: $(READY)
	@echo "== native engine under AddressSanitizer and UndefinedBehaviorSanitizer"
	$(BIN)/python tests/engine/sanitize.py --cases 60

cross: $(READY)
	@echo "== native engine on aarch64 (needs g++-aarch64-linux-gnu and qemu-user)"
	$(BIN)/python tests/engine/cross.py

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis site
