# The door: every target first makes a local virtual environment with what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help demo test lint format bench clean
.DEFAULT_GOAL := help

help:  ## Show this list
	@grep -E '^[a-z]+:.*##' Makefile | sed -E 's/:[^#]*## /\t/' | expand -t 10

$(VENV)/ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "newfound needs Python 3.11 or later: make PYTHON=python3.11 …" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

demo: $(VENV)/ready  ## Nine digits are known, the tenth arrives one example at a time
	$(BIN)/newfound demo

test: $(VENV)/ready  ## Run all tests
	$(BIN)/python -m pytest

lint: $(VENV)/ready  ## Check style, types and the direction of imports
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/ready  ## Rewrite the code in the project's style
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: $(VENV)/ready  ## Measure speed and accuracy on this machine
	$(BIN)/python -m benchmarks.everything

clean:  ## Remove the virtual environment and what tools left behind
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache dist
