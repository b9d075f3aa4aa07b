# The door: every target first makes a local virtual environment with what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Tests run side by side; a machine that is busy with other work wants fewer.
JOBS ?= 2
# What runs on a device, and where: any name that torch has for one.
ON_DEVICE := $(wildcard tests/*/test_device*.py) tests/common/test_recorded.py
DEVICE ?= cuda
# What the studio's page is tried with, and where pictures of each step go (in full: a test may stand
# in another folder).
AXE := axe-core@4.14.0
SHOTS := $(CURDIR)/results/studio
SITE := docs/_build/html
# The rooms whose every line should be run by a test.
ENGINE := sums solvers heads selection engine estimators

.PHONY: help demo test test-quick test-gpu versions axe screenshots animation docs coverage
.PHONY: lint format bench clean
.DEFAULT_GOAL := help

help:  ## Show this list
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:[^#]*## /\t/' | expand -t 12

$(VENV)/ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "newfound needs Python 3.11 or later: make PYTHON=python3.11 …" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

demo: $(VENV)/ready  ## Nine digits are known, the tenth arrives one example at a time
	$(BIN)/newfound demo

test: $(VENV)/ready  ## Run all tests
	$(BIN)/python -m pytest -n $(JOBS)

test-quick: $(VENV)/ready  ## Run those that take no time: every room, a minute or so
	$(BIN)/python -m pytest -n $(JOBS) -m "not slow"

test-gpu: $(VENV)/ready  ## Run those of models on a device on the GPU
	NEWFOUND_TEST_DEVICE=$(DEVICE) $(BIN)/python -m pytest $(ON_DEVICE)

versions: $(VENV)/ready  ## Run the tests of the core with the lowest and the newest dependencies
	$(BIN)/nox

axe: node_modules/axe-core/axe.min.js  ## Fetch axe-core, which tests the studio's page, from npm

node_modules/axe-core/axe.min.js:
	npm install --prefix . --no-save --no-audit --no-fund --ignore-scripts --loglevel=error $(AXE)

screenshots: $(VENV)/ready  ## Take the pictures of docs/studio.md anew; needs chromium
	rm -rf $(SHOTS)
	NEWFOUND_DATA= NEWFOUND_SCREENSHOTS=$(SHOTS) $(BIN)/python -m pytest -q tests/studio/test_browser.py
	cp $(SHOTS)/recognised-light-1280.png docs/studio.png
	cp $(SHOTS)/unknown-dark-1280.png docs/studio-dark.png
	cp $(SHOTS)/recognised-light-390.png docs/studio-phone.png

animation: $(VENV)/ready  ## Film the studio anew for the README; needs chromium
	NEWFOUND_DATA= $(BIN)/python -m tests.studio.browser.animation docs/studio.webp

docs: $(VENV)/ready  ## Build the site into docs/_build/html, run its gallery, check its links
	rm -rf docs/_build
	$(BIN)/python -m sphinx -b html -W --keep-going -n -q docs $(SITE)
	$(BIN)/python -m website.links $(SITE)

coverage: $(VENV)/ready  ## Say which lines of the engine no test runs; at least 95 % of a room are
	$(BIN)/coverage run -m pytest -q -m "not slow" $(ENGINE:%=tests/%) tests/storage tests/test_checks.py
	$(BIN)/coverage report --include='*/newfound/*' --omit='*/cli/*,*/paper/*,*/__main__.py'
	@for room in $(ENGINE); do \
		share=$$($(BIN)/coverage report --include="*/newfound/$$room/*" --format=total --fail-under=95); \
		code=$$?; echo "$$room: $$share % of its lines"; test $$code = 0 || exit 1; \
	done

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
	rm -rf docs/_build docs/gallery docs/reference .nox
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage dist
