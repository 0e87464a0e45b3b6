# The README's two commands are `make demo` and `make test`. On a fresh machine each first sets up .venv.

VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

# The first that starts and has a fitting version: a name on PATH may be a version manager's stand-in.
SUPPORTED := import sys, venv; sys.exit(not (3, 11) <= sys.version_info < (3, 14))
PYTHON ?= $(shell for name in python3.11 python3.12 python3.13 python3; do \
	$$name -c '$(SUPPORTED)' 2>/dev/null && echo $$name && break; done)

.DEFAULT_GOAL := help
.PHONY: help demo test lint types clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-6s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(INSTALLED) ## the main job on a bundled sample; the report goes to demo-report/
	$(BIN)/drop-parsing demo --out demo-report

# One file stays on one worker, so that costly fixtures are made once. Two workers already fill two cores:
# more threads in each would only wait for one another.
test: export OMP_NUM_THREADS := 1
test: $(INSTALLED) ## the whole test suite, with coverage
	$(BIN)/pytest -n 2 --dist loadfile --cov

lint: $(INSTALLED) ## ruff: rules and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(INSTALLED) ## mypy --strict on Python 3.11, where every extra is installed
	$(BIN)/mypy --strict extractors grammar drop_parsing benchmarks

# An environment without its stamp is left over from a set-up that was cut short: it is emptied first.
$(INSTALLED): requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "No Python from 3.11 to 3.13 found. Install one, or name it: make PYTHON=..."; exit 2; }
	@$(PYTHON) -c '$(SUPPORTED)' || { echo "$(PYTHON) is not a Python from 3.11 to 3.13 with venv."; exit 2; }
	@echo "Setting up $(VENV) with $(PYTHON): up to 2.3 GB, some minutes, only once."
	$(PYTHON) -m venv $(if $(wildcard $@),,--clear) $(VENV)
	@rm -f $@
	$(BIN)/python -m pip install --quiet --no-deps -r requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

clean: ## remove the environment and everything that can be made again; data_cache/ stays
	rm -rf $(VENV) demo-report build dist *.egg-info .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache
