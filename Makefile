# The door: every target first adds what it needs to one virtual environment, in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Tests run side by side; a machine that is busy with other work wants fewer.
JOBS ?= 2
# Which tests: all, or the folders and files that are named.
TESTS ?=
# Seeds of what is drawn at random: fixed, or a number, or `random`, which draws one and prints it.
SEED ?= fixed
# What torch is installed from; a wheel of a CPU build takes a tenth of the room.
TORCH ?= torch
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

.PHONY: help demo test test-quick test-all test-gpu mutants versions axe screenshots animation docs
.PHONY: coverage lint format bench clean
.NOTPARALLEL:
.DEFAULT_GOAL := help

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-12s %s\n", $$1, $$2 }' Makefile

# Environments. Each stamp says that what it names is in .venv. uv installs it where there is uv.
EXTRAS := dask,plots,river,robot,studio,video,vision
INSTALL = $(if $(shell command -v uv 2>/dev/null),uv pip install --compile-bytecode --python $(BIN)/python, \
	$(BIN)/python -m pip install --disable-pip-version-check) --quiet
# Tests start hundreds of interpreters, which would else compile all they import again and again.
unexport PYTHONDONTWRITEBYTECODE
# A group of pyproject.toml as a file, for the pip that comes with Python 3.11 cannot read groups.
$(VENV)/%.txt: pyproject.toml | $(BIN)/python
	@$(BIN)/python -c 'import sys, tomllib; groups = tomllib.load(sys.stdin.buffer); \
		print(*groups["dependency-groups"]["$*"], sep="\n")' < pyproject.toml > $@.part
	@mv $@.part $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "newfound needs Python 3.11 or later: make PYTHON=python3.11 …" >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV) || { rm -rf $(VENV); exit 1; }

$(VENV)/demo: pyproject.toml | $(BIN)/python
	@echo "Installing newfound with numpy, scipy, scikit-learn and matplotlib into $(VENV): 0.4 GB."
	@$(INSTALL) -e '.[plots]'
	@touch $@

$(VENV)/test: $(VENV)/demo $(VENV)/test.txt
	@echo "Adding every extra but torch, and what tests need, to $(VENV): 1.1 GB in all."
	@$(INSTALL) -e '.[$(EXTRAS)]' -r $(VENV)/test.txt
	@touch $@

$(VENV)/torch: $(VENV)/test
	@echo "Adding $(TORCH) to $(VENV): 1 GB more, 5 GB on Linux where it comes with CUDA."
	@$(INSTALL) '$(TORCH)' -e '.[$(EXTRAS),torch]'
	@touch $@

$(VENV)/docs: $(VENV)/torch $(VENV)/docs.txt
	@echo "Adding Sphinx to $(VENV): 0.2 GB more."
	@$(INSTALL) -r $(VENV)/docs.txt
	@touch $@

$(VENV)/all: $(VENV)/docs $(VENV)/test-all.txt
	@echo "Adding Playwright and schemathesis to $(VENV): 0.2 GB more."
	@$(INSTALL) -r $(VENV)/test-all.txt
	@touch $@

$(VENV)/lint: $(VENV)/test $(VENV)/lint.txt
	@echo "Adding ruff and mypy to $(VENV): 0.1 GB more."
	@$(INSTALL) -r $(VENV)/lint.txt
	@touch $@

PYTEST = $(BIN)/python -m pytest -n $(JOBS) --seed $(SEED)

demo: $(VENV)/demo  ## Nine digits are known, the tenth arrives one example at a time
	$(BIN)/newfound demo

test-quick: $(VENV)/test  ## While you work: every law once, every refusal
	$(PYTEST) --tier quick $(TESTS)

test: $(VENV)/test  ## All that runs anywhere; what this machine lacks is skipped, and counted
	$(PYTEST) --tier test $(TESTS)

test-all: $(VENV)/all  ## Everything: torch, a browser, ROS, clusters, kills, long streams, fuzzing
	$(PYTEST) --tier all $(TESTS)

test-gpu: $(VENV)/all  ## Run those of models on a device on the GPU
	NEWFOUND_TEST_DEVICE=$(DEVICE) $(BIN)/python -m pytest --tier all $(ON_DEVICE)

mutants: $(VENV)/all  ## Break the code in many places, one at a time, and see which tests notice
	$(BIN)/python -m tests.mutants

versions: $(VENV)/all  ## Run the tests of the core with the lowest and the newest dependencies
	$(BIN)/nox

axe: node_modules/axe-core/axe.min.js  ## Fetch axe-core, which tests the studio's page, from npm

node_modules/axe-core/axe.min.js:
	npm install --prefix . --no-save --no-audit --no-fund --ignore-scripts --loglevel=error $(AXE)

screenshots: $(VENV)/all  ## Take the pictures of docs/studio.md anew; needs chromium
	rm -rf "$(SHOTS)"
	NEWFOUND_DATA= NEWFOUND_SCREENSHOTS=$(SHOTS) $(BIN)/python -m pytest -q tests/studio/test_browser.py
	cp $(SHOTS)/recognised-light-1280.png docs/studio.png
	cp $(SHOTS)/unknown-dark-1280.png docs/studio-dark.png
	cp $(SHOTS)/recognised-light-390.png docs/studio-phone.png

animation: $(VENV)/all  ## Film the studio anew for the README; needs chromium
	NEWFOUND_DATA= $(BIN)/python -m tests.studio.browser.animation docs/studio.webp

docs: $(VENV)/docs  ## Build the site into docs/_build/html, run its gallery, check its links
	rm -rf docs/_build
	$(BIN)/python -m sphinx -b html -W --keep-going -n -q docs $(SITE)
	$(BIN)/python -m website.links $(SITE)

coverage: $(VENV)/all  ## Say which lines of the engine no test runs; at least 95 % of a room are
	$(BIN)/coverage run -m pytest -q --tier test $(ENGINE:%=tests/%) tests/storage tests/test_checks.py
	$(BIN)/coverage report --include='*/newfound/*' --omit='*/cli/*,*/paper/*,*/__main__.py'
	@for room in $(ENGINE); do \
		share=$$($(BIN)/coverage report --include="*/newfound/$$room/*" --format=total --fail-under=95); \
		code=$$?; echo "$$room: $$share % of its lines"; test $$code = 0 || exit 1; \
	done

lint: $(VENV)/lint  ## Check style, types and the direction of imports
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/lint  ## Rewrite the code in the project's style
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: $(VENV)/all  ## Measure speed and accuracy on this machine
	$(BIN)/python -m benchmarks.everything

clean:  ## Remove the virtual environment and what tools left behind
	rm -rf docs/_build docs/gallery docs/reference .nox
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage dist
