# Every lane prepares its own environment: a fresh machine needs python3 (3.11 or newer), venv and make.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
PACKAGES := spec refimpl model_tests fuzz pipeline

.DEFAULT_GOAL := lanes
.PHONY: lanes setup conform test lint types contracts unit crashes matrix interop bench nightly docs clean

lanes:
	@echo "make conform    judge the reference by captures, a store and the clauses' examples; write the report"
	@echo "make test       everything that must hold: lint, types, contracts, unit, crashes, matrix"
	@echo "make lint       ruff: rules and format"
	@echo "make types      mypy, strict"
	@echo "make contracts  CrossHair: the theorems, then the wrong variants they must refute"
	@echo "make unit       pytest: units, properties, vectors, clause examples"
	@echo "make crashes    the store: every disk that a crash may leave on every write path, with figures"
	@echo "make matrix     which clause is evaluated by which layer; runs contracts and unit first"
	@echo "make interop    real clients talk to our broker; an Apache 4.9.7 broker opens our store, and we open its"
	@echo "make bench      the published figures"
	@echo "make nightly    long budgets: kills, walks, many examples, then mutation of the rules"
	@echo "make docs       the clauses as out/clauses.json and out/clauses.txt"
	@echo "make setup      the environment in .venv; every lane does this when needed"
	@echo "make clean      remove what the lanes wrote, keep the environment"

setup: $(READY)

$(READY): pyproject.toml requirements-dev.txt
	@command -v $(PYTHON) >/dev/null || \
		{ echo "mqspec needs Python 3.11 or newer; there is no $(PYTHON). Set PYTHON=..." >&2; exit 64; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "mqspec needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) -V 2>&1). Set PYTHON=..." >&2; exit 64; }
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear .venv || \
		{ rm -rf .venv; echo "mqspec could not make .venv; $(PYTHON) needs its venv and pip parts" >&2; exit 64; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

conform: $(READY)
	$(BIN)/python -m model_tests.conform

test: lint types contracts unit crashes matrix

lint: $(READY)
	$(BIN)/ruff check $(PACKAGES)
	$(BIN)/ruff format --check $(PACKAGES)

types: $(READY)
	$(BIN)/mypy

contracts: $(READY)
	$(BIN)/python -m model_tests.contracts
	$(BIN)/python -m model_tests.contracts --self-test

unit: $(READY)
	$(BIN)/pytest -q -n 2 --evaluations=out/evaluations/pytest.json

crashes: $(READY)
	$(BIN)/python -m model_tests.simulation

matrix: contracts unit
	$(BIN)/python -m model_tests.matrix

interop: $(READY)
	$(BIN)/python -m model_tests.interop

bench: $(READY)
	$(BIN)/python -m model_tests.bench

nightly: $(READY)
	$(BIN)/python -m model_tests.kill_loop --kills 200
	$(BIN)/python -m model_tests.simulation --samples 50000
	$(BIN)/python -m model_tests.machines.store_walk --walks 10000
	$(BIN)/pytest -q -n 2 --hypothesis-profile=nightly
	$(BIN)/python -m model_tests.mutation values wire layout recovery group broker nameserver guarantees --minutes 15

docs: $(READY)
	@mkdir -p out
	$(BIN)/mqspec clauses --json > out/clauses.json
	$(BIN)/mqspec clauses > out/clauses.txt
	@echo "docs: out/clauses.json, out/clauses.txt; the pages are spec/clauses/*.md"

clean:
	rm -rf out .mypy_cache .pytest_cache .ruff_cache .hypothesis
