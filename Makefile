# Each target does its own set-up: a virtual environment in .venv, filled from the pins in
# constraints.txt, and filled again only when pyproject.toml or the pins change.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PINS   := pyproject.toml constraints.txt
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
# Reaches the build of the package itself too.
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt

.PHONY: demo test test-integrations lint docs bench attack lowest clean

demo: $(VENV)/.installed            ## the whole story on scanned digits
	$(BIN)/tawt demo

test: $(VENV)/.installed-dev        ## tests, doctests and examples
	$(BIN)/python -m pytest -n auto --dist worksteal

test-integrations: $(VENV)-integrations/.installed  ## adapters, with the libraries of others too
	$(VENV)-integrations/bin/python -m pytest -n auto --dist worksteal tests/integrations

lint: $(VENV)/.installed-dev        ## style, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/.installed-docs       ## the documentation site, in site/
	$(BIN)/mkdocs build --strict

bench: $(VENV)/.installed-dev       ## every benchmark; writes dated reports in benchmarks/reports/
	$(BIN)/python -m benchmarks

attack: $(VENV)/.installed-dev      ## kills running commands; writes its record in docs/results/
	$(BIN)/python -m benchmarks.attack

# But torch, which is the pinned one: the lowest, 2.11, comes from PyPI with gigabytes of CUDA libraries
# and is tried on another machine (Python 3.12).
lowest:                             ## tests and doctests, with the lowest versions that pyproject.toml allows
	$(PYTHON) -m venv --clear $(VENV)-lowest
	$(PYTHON) tools/lowest_versions.py > $(VENV)-lowest/constraints.txt
	PIP_CONSTRAINT=$(VENV)-lowest/constraints.txt $(VENV)-lowest/bin/python -m pip install --quiet \
	    --disable-pip-version-check -e '.[all,tensorboard,minilm,lora]' pytest pytest-xdist hypothesis
	$(VENV)-lowest/bin/python -m pytest -n auto --dist worksteal -W default::DeprecationWarning -W default::FutureWarning

clean:
	rm -rf $(VENV) $(VENV)-lowest $(VENV)-integrations site .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit("tawt needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Try: make PYTHON=python3.12") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(PINS) | $(BIN)/python
	@echo "Installing tawt into $(VENV) (once)…"
	$(PIP) -e '.[cli]'
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	@echo "Installing the development tools into $(VENV) (once)…"
	$(PIP) -e '.[dev]'
	@touch $@

# TRL needs no more than this, but stays out of $(VENV): each library is one whose versions may clash.
$(VENV)-integrations/.installed: $(PINS)
	@echo "Installing tawt and trl into $(VENV)-integrations (once)…"
	$(PYTHON) -m venv $(VENV)-integrations
	$(VENV)-integrations/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt \
	    -e '.[dev]' trl
	@touch $@

$(VENV)/.installed-docs: $(VENV)/.installed
	$(PIP) -e '.[docs]'
	@touch $@
