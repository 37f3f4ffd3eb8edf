# Two commands do everything: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check

.PHONY: demo test lint tests crash benchmark benchmark-lookup benchmark-memory quality soak clean

demo: $(VENV)/.installed
	$(BIN)/pincite demo

test: lint tests

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

tests: $(VENV)/.installed-dev
	$(BIN)/python -m pytest

# Kills an ingest at 50 random moments, directly and as a flow, and writes tests/crash/RESULTS.md.
crash: $(VENV)/.installed-dev
	$(BIN)/python -m pincite.testing.crash --random 50 --results tests/crash/RESULTS.md

# Prints figures beside the raw calls and writes benchmarks/RESULTS.md.
benchmark: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/ingest.py --results benchmarks/RESULTS.md

# What a lookup adds to the raw calls; writes benchmarks/results/lookup.md.
benchmark-lookup: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/lookup.py --results benchmarks/results/lookup.md

# Asks every question of the public sets in each mode; writes benchmarks/results/quality.md.
# `make quality WORK=folder` keeps the embedding cache, so that the next run is quick.
DATA ?= ../shared/data
quality: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/quality.py --data $(DATA) $(if $(WORK),--work $(WORK)) \
		--results benchmarks/results/quality.md

# Recall of memory on the conversations of LoCoMo; writes benchmarks/results/locomo.md.
benchmark-memory: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/locomo.py --data $(DATA)/locomo/beir-turns \
		$(if $(WORK),--work $(WORK)) --results benchmarks/results/locomo.md

# 16 clients for a minute over HTTP on a real Milvus server; writes benchmarks/results/soak.md.
soak: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/soak.py --results benchmarks/results/soak.md

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet --upgrade pip

$(VENV)/.installed: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) install --quiet --constraint constraints.txt --editable '.[local]'
	touch $@

$(VENV)/.installed-dev: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@ $(VENV)/.installed
