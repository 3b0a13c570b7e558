# Weir. `make` lists what there is.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS += --no-print-directory --no-builtin-rules
PYTHON ?= python3.11
RUN := setup/run
ARGS ?=
WORKERS ?= 2

.DEFAULT_GOAL := help
.PHONY: help setup demo test check lint types contracts airflow bench lock zip clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## environment, Java and the Delta jars; the other targets do it themselves
	@$(PYTHON) -m setup

demo: setup ## answers over five versions of the Brick ontology, through the real DAGs
	@$(RUN) python -m demo

test: setup ## all tests, by two processes; ARGS='-k name' for some, WORKERS=0 for none but this
	@$(RUN) pytest --numprocesses $(WORKERS) --dist worksteal $(ARGS)

check: lint types contracts ## what must hold of the code

lint: setup ## formatting and lint
	@$(RUN) ruff format --check .
	@$(RUN) ruff check .

types: setup ## types
	@$(RUN) mypy

contracts: setup ## who may import whom
	@$(RUN) lint-imports --no-logo

airflow: setup ## Airflow on this machine, for a look at the DAGs
	@$(RUN) python -m setup.airflow

bench: setup ## stage times and bytes; ARGS for its options
	@$(RUN) python -m bench $(ARGS)

lock: setup ## the lock files anew from requirements/*.in
	@$(RUN) python -m setup.lock $(ARGS)

zip: ## the packages as dist/weir.zip, for executors on a cluster (see dags/common.py)
	@$(PYTHON) -m setup.zip

clean: ## remove everything that make made, the environment too
	rm -rf .venv .cache .pytest_cache demo/lake dist
