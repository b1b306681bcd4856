# The two commands are `make demo` and `make test`; the rest is for people who work on handrail.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
HANDRAIL := $(BIN)/handrail
export OMP_NUM_THREADS ?= 1

.PHONY: demo test test-fast check lint types contracts bench eval-quick eval-long test-pythons clean help

help:
	@echo "make demo          install, get the embedded model, and carry out a household request in the simulator"
	@echo "make test          install and run all tests"
	@echo "make test-fast     the tests that take no more than a few seconds each"
	@echo "make check         linter, types, import contracts"
	@echo "make bench         benchmarks (ratios against peers in the same run)"
	@echo "make eval-quick    every evaluation, each under a minute"
	@echo "make eval-long     the full evaluations; resumable; results go to results/"
	@echo "make test-pythons  the fast tests on every Python 3.11+ that is found"

# One stamp for each set of extras, so that `make demo` installs no test tools.
$(VENV)/.demo: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[demo]'
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@ $(VENV)/.demo

$(VENV)/.model: $(VENV)/.demo
	$(HANDRAIL) model pull
	@touch $@

demo: $(VENV)/.demo $(VENV)/.model
	$(HANDRAIL) demo

test: $(VENV)/.dev $(VENV)/.model
	$(BIN)/python -m pytest

test-fast: $(VENV)/.dev $(VENV)/.model
	$(BIN)/python -m pytest -m "not slow"

check: lint types contracts

lint: $(VENV)/.dev
	$(BIN)/ruff check .

types: $(VENV)/.dev
	$(BIN)/mypy

contracts: $(VENV)/.dev
	$(BIN)/lint-imports

bench: $(VENV)/.dev $(VENV)/.model
	$(BIN)/python -m benchmarks

eval-quick: $(VENV)/.dev $(VENV)/.model
	$(HANDRAIL) eval all --quick

eval-long: $(VENV)/.dev $(VENV)/.model
	$(BIN)/python -m handrail.evaluate.long

test-pythons:
	PYTHON=$(PYTHON) bash .ci/pythons

clean:
	rm -rf $(VENV) .venv-* .pytest_cache .mypy_cache .ruff_cache .hypothesis
