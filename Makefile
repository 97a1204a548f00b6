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

.PHONY: help setup setup-locked lock audit sbom lowest bare demo test test-fast lint types unit docs notebooks release sanitize cross fuzz clean

help:
	@echo "make demo   set up .venv and diagnose embedded graphs"
	@echo "make test   set up .venv and run lint, types, tests, doctests, README"
	@echo "make test-fast  the tests that take no second each, in about a minute"
	@echo "make sanitize  fuzz the native engine with the compiler's sanitizers"
	@echo "make cross  compile the native engine for aarch64 and compare its answers"
	@echo "make fuzz   read 25,000 damaged inputs: nothing may fail, hang or be read wrong"
	@echo "make audit  look up known vulnerabilities of the installed packages"
	@echo "make sbom   write sbom.json: every installed package with its version and licence"
	@echo "make lowest run the tests with the oldest supported versions, in .venv-lowest"
	@echo "make bare   run the tests without any extra, in .venv-bare"
	@echo "make setup-locked  like setup, but every package is checked against requirements.lock"
	@echo "make docs   build the documentation site in site/"
	@echo "make notebooks  run docs/notebooks and store what they print"
	@echo "make release  build, check and tag the version of pyproject.toml (docs/release.md)"
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
	$(BIN)/python -m pytest -n 2

# Tests named in tests/slow.txt, and doctests, are left out.
test-fast: $(READY)
	$(BIN)/python -m pytest -n 2 -m 'not slow' tests

docs: $(READY)
	@echo "== documentation site"
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

notebooks: $(READY)
	$(BIN)/python docs/notebooks/execute.py

release: $(READY)
	$(PYTHON) -m venv .venv-tools
	.venv-tools/bin/python -m pip install --quiet --disable-pip-version-check build twine
	.venv-tools/bin/python benchmarks/tools/release.py --python $(PYTHON)

sanitize: $(READY)
	@echo "== native engine under AddressSanitizer and UndefinedBehaviorSanitizer"
	$(BIN)/python tests/engine/sanitize.py --cases 60

cross: $(READY)
	@echo "== native engine on aarch64 (needs g++-aarch64-linux-gnu and qemu-user)"
	$(BIN)/python tests/engine/cross.py

fuzz: $(READY)
	@echo "== fuzz (fixed seed; a few minutes)"
	$(BIN)/python tests/fuzz/run.py --keep fuzz-failures
	$(BIN)/python tests/fuzz/guided.py --keep fuzz-failures

# Tools of the tests are as new as they come: they are not what a user installs.
TEST_TOOLS   = httpx hypothesis pandas pytest pytest-xdist
LOWEST_TORCH ?= 2.6
LOWEST_TESTS ?= tests/data tests/metrics tests/layers tests/evaluation tests/models
BARE_TESTS   ?= $(LOWEST_TESTS) tests/cli tests/diagnosis tests/prediction tests/report tests/runs

# A lock file with the sha256 of every file: made by `make lock`, used by `make setup-locked`.
lock:
	$(PYTHON) -m venv .venv-tools
	.venv-tools/bin/python -m pip install --quiet --disable-pip-version-check uv
	.venv-tools/bin/python benchmarks/tools/lock.py

setup-locked:
	@test -f requirements.lock || { echo "error: there is no requirements.lock; run make lock" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt torch
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	$(BIN)/python -m pip check
	@touch $(READY)

audit: $(READY)
	$(PYTHON) -m venv .venv-tools
	.venv-tools/bin/python -m pip install --quiet --disable-pip-version-check pip-audit
	.venv-tools/bin/python benchmarks/tools/audit.py $$($(BIN)/python -c 'import site; print(site.getsitepackages()[0])')

sbom: $(READY)
	$(BIN)/python benchmarks/tools/sbom.py --out sbom.json

lowest: .venv-lowest/.ready
	.venv-lowest/bin/python -m pytest -n 2 $(LOWEST_TESTS)

.venv-lowest/.ready: pyproject.toml setup.py
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check \
	  -c $$($(PYTHON) benchmarks/tools/lowest.py --torch $(LOWEST_TORCH) --out .venv-lowest/lowest.txt) -e '.[data,pyg,scale,tune,web]' $(TEST_TOOLS)
	@touch $@

# As a user installs it: no extra, and tests that need one are skipped.
bare: .venv-bare/.ready
	HETEROPHILY_EXTRAS=none .venv-bare/bin/python -m pytest -n 2 -m 'not slow' $(BARE_TESTS)

.venv-bare/.ready: pyproject.toml setup.py
	$(PYTHON) -m venv .venv-bare
	.venv-bare/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e . hypothesis pytest pytest-xdist
	@touch $@

clean:
	rm -rf $(VENV) .venv-bare .venv-lowest .venv-tools fuzz-failures .mypy_cache .ruff_cache .pytest_cache .hypothesis site
