# Every target sets up .venv by itself where it is missing or older than pyproject.toml.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo examples test test-all test-lowest test-extras browser check bench bench-large docs docs-quick docs-serve \
	look package validation format clean

demo: $(VENV)/demo-ready
	$(BIN)/twoheads demo demo

examples: $(VENV)/ready
	$(BIN)/python examples/label_sets.py

test: $(VENV)/ready browser
	$(BIN)/pytest -n 2 --dist worksteal

test-all: $(VENV)/ready browser
	$(BIN)/pytest --cov --cov-report=term -n 2 --dist worksteal -m ""

# The lowest versions that pyproject.toml declares; and no extras, each alone, all: a smoke test in a new environment each.
test-lowest: $(VENV)/ready
	$(BIN)/python -m tests.install.environments lowest

test-extras: $(VENV)/ready
	$(BIN)/python -m tests.install.environments extras

check: $(VENV)/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/ready
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.files
	$(BIN)/python -m benchmarks.evaluation
	$(BIN)/python -m benchmarks.scale
	$(BIN)/python -m benchmarks.many_classes
	$(BIN)/python -m benchmarks.grades

# Tables larger than memory, and a cluster: about half an hour, 8 GB of memory, 6 GB of disk.
bench-large: $(VENV)/ready
	$(BIN)/python -m benchmarks.scale --large
	$(BIN)/python -m benchmarks.large

# The site, in site/: warnings are errors, nothing is fetched, and the examples of the gallery are run.
docs: $(VENV)/docs-ready
	$(MKDOCS) build

# The same without running the gallery.
docs-quick: $(VENV)/docs-ready
	TWOHEADS_GALLERY=false $(MKDOCS) build

docs-serve: $(VENV)/docs-ready
	TWOHEADS_GALLERY=false $(MKDOCS) serve

# Every page of the site in a browser, wide and narrow, light and dark: nothing overflows, no figure is broken.
look: docs browser
	$(BIN)/python -m tools.look_at_site site

# Wheel and sdist, each installed into an empty environment and tried.
package: $(VENV)/ready
	$(BIN)/python -m tools.try_package

# How often every claim holds, by simulation and on the data in ../shared/data: the table of docs/honesty.md.
validation: $(VENV)/ready
	$(BIN)/python -m benchmarks.honesty

format: $(VENV)/ready
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The demo needs the package alone; all other targets need the tools too. Compiling modules that it does not use would take
# longer than the demo; tests start many processes, which would compile what the demo did not.
$(VENV)/demo-ready: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable '.[cli]'
	touch $@

$(VENV)/ready: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	-$(BIN)/python -m compileall -q -j 2 $(VENV)/lib >/dev/null 2>&1
	touch $@ $(VENV)/demo-ready

MKDOCS := DISABLE_MKDOCS_2_WARNING=true NO_MKDOCS_2_WARNING=1 MPLBACKEND=Agg $(BIN)/python -m mkdocs

$(VENV)/docs-ready: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	touch $@ $(VENV)/demo-ready

# The report's page is tested in a browser: Debian's Chromium, where it is missing and may be installed; else that test is
# skipped with a reason.
browser:
	@command -v chromium >/dev/null || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && \
		apt-get update -qq >/dev/null 2>&1 && apt-get install -y -qq --no-install-recommends chromium >/dev/null 2>&1; } || \
		echo "no chromium here, and it may not be installed: the browser's test will be skipped"

clean:
	rm -rf $(VENV) site docs/generated dist .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
