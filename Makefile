# Every target sets up .venv by itself where it is missing or older than pyproject.toml.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test test-all check bench format clean

demo: $(VENV)/ready
	$(BIN)/twoheads demo demo

test: $(VENV)/ready
	$(BIN)/pytest --cov --cov-report=term -n 2

test-all: $(VENV)/ready
	$(BIN)/pytest --cov --cov-report=term -n 2 -m ""

check: $(VENV)/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/ready
	$(BIN)/python -m benchmarks

format: $(VENV)/ready
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(VENV)/ready: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	touch $@

clean:
	rm -rf $(VENV) .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
