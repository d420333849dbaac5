# Every lane prepares its own environment: a fresh machine needs python3 (3.11 or newer), venv and make.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: setup conform test lint types contracts unit interop bench nightly docs clean

setup: $(READY)

$(READY): pyproject.toml requirements-dev.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "mqspec needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) -V 2>&1). Set PYTHON=..." >&2; exit 64; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

