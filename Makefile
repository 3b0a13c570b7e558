# Weir. `make` lists the targets.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS += --no-print-directory --no-builtin-rules
PYTHON ?= python3.11
RUN := setup/run
ARGS ?=
WORKERS ?= 2

.DEFAULT_GOAL := help
.PHONY: help setup demo test check lint types contracts airflow bench lock zip clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## install packages, Java and the Delta jars; all other targets do it if needed
	@$(PYTHON) -m setup

demo: setup ## run the DAGs on five versions of the Brick ontology and show the answers
	@$(RUN) python -m demo

test: setup ## run all tests in two processes; ARGS='-k name' selects, WORKERS=0 uses one process
	@$(RUN) pytest --numprocesses $(WORKERS) --dist worksteal $(ARGS)

check: lint types contracts ## run all static checks

lint: setup ## check formatting and lint (ruff)
	@$(RUN) ruff format --check .
	@$(RUN) ruff check .

types: setup ## check types (mypy)
	@$(RUN) mypy

contracts: setup ## check the import contracts (import-linter)
	@$(RUN) lint-imports --no-logo

airflow: setup ## start Airflow on this machine, to look at the DAGs
	@$(RUN) python -m setup.airflow

bench: setup ## measure times and bytes per stage; options in ARGS
	@$(RUN) python -m bench $(ARGS)

lock: setup ## recreate the lock files; ARGS=--upgrade for the newest versions
	@$(RUN) python -m setup.lock $(ARGS)

zip: ## write the packages to dist/weir.zip, for the executors of a cluster (dags/common.py)
	@$(PYTHON) -m setup.zip

clean: ## remove all generated files, the environment included
	rm -rf .venv .cache .pytest_cache demo/lake dist
