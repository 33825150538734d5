# Two commands do everything on a fresh machine: `make run` (the main job) and `make test`.

VENV ?= .venv
PYTHON ?= python3
READY := $(VENV)/.ready

.PHONY: run test check clean

run: $(READY)
	$(VENV)/bin/agent-eval run --builds bf16,w4a16,w4a8

test: $(READY)
	$(VENV)/bin/python -m pytest

check: $(READY)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis

# torch comes first and by its exact version, so that no later requirement draws in another build of it
$(READY): pyproject.toml Makefile
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "agent-eval needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --upgrade pip
	$(VENV)/bin/python -m pip install --quiet torch==2.13.0
	$(VENV)/bin/python -m pip install --quiet --group dev --editable .
	touch $@
