# Weir. `make` lists the targets.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS += --no-print-directory --no-builtin-rules
PYTHON ?= python3.11
RUN := setup/run
ARGS ?=
WORKERS ?= 2
PYTEST := $(RUN) pytest --numprocesses $(WORKERS) --dist loadgroup --no-loadscope-reorder

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-all deep check lint types contracts airflow bench docs screenshots lock wheel zip clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## install packages, Java and the jars that Spark lacks; all other targets do it if needed
	@$(PYTHON) -m setup

demo: setup ## run the DAGs on five versions of the Brick ontology and show the answers
	@$(RUN) python -m demo

test: setup ## prove the product in minutes; ARGS='tests/lake -k name' runs these tests instead
	@$(PYTEST) $(or $(ARGS),--lane test)

test-all: setup ## run what `make test` leaves out: Spark, Airflow, torture, more of the laws
	@$(PYTEST) --lane rest $(ARGS)

deep: setup ## run everything whole, for hours: full laws, all mutants, 500 kills
	@$(PYTEST) --lane deep $(ARGS)
	@$(RUN) python -m tests.mutants --known
	@$(RUN) python -m tests.torture --kills 500

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

docs: setup ## build the documents as a site, dist/docs
	@NO_MKDOCS_2_WARNING=1 $(RUN) mkdocs build --quiet
	@echo "docs: open dist/docs/index.html"

screenshots: setup ## take the pictures of the site that the documents show (needs Chromium)
	@$(RUN) python -m tests.site.screenshots

lock: setup ## recreate the lock files; ARGS=--upgrade for the newest versions
	@$(RUN) python -m setup.lock $(ARGS)

wheel: setup ## build the package to install elsewhere, dist/weir-*.whl
	@rm -f dist/weir-*.whl
	@$(RUN) hatchling build --target wheel

zip: wheel ## copy it to dist/weir.zip, for the executors of a cluster (docs/operations.md)
	@cp dist/weir-*.whl dist/weir.zip

clean: ## remove all generated files, the environment included
	rm -rf .venv .cache .pytest_cache demo/lake demo/site dist weir/pages/javascript
