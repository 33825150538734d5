# Two commands do everything on a fresh machine: `make run` (the main job) and `make test`.

VENV ?= .venv
PYTHON ?= python3
# where pip would take a CUDA build: TORCH="--index-url https://download.pytorch.org/whl/cpu torch==2.13.0"
TORCH ?= torch==2.13.0
READY := $(VENV)/.ready
PEERS := $(VENV)/.peers
# what `--engine vllm` runs in: this package beside vLLM, whose versions of everything are fixed
VLLM := $(VENV)-vllm
VLLM_REQUIREMENTS := src/agent_eval/spark_backend/vllm/requirements.txt
NATIVE := hatch_build.py $(wildcard src/agent_eval/spark_backend/kernels/native/*)

# workers that tests run in: as many as there are cores, each of some 1.5 GB; 0 for none. The tests of a file stay
# together and in their order: some go on with the phone, or look back on what those before them did
JOBS ?= auto
WORKERS := --numprocesses=$(JOBS) --maxprocesses=4 --dist=loadfile

.PHONY: run test nano vllm test-vllm peers parity parity-mlx parity-vllm check wheel kernels clean

run: $(READY)
	$(VENV)/bin/agent-eval run --builds bf16,w4a16,w4a8

test: $(PEERS)
	$(VENV)/bin/python -m pytest $(WORKERS)

# trains the embedded model and scores it, in an hour or two on two cores; repeated, it goes on where it was
nano: $(READY)
	$(VENV)/bin/agent-eval train --out build/nano

# after it, `.venv-vllm/bin/agent-eval run --engine vllm`
vllm: $(VLLM)/.ready

# the tests that `make test` skips for want of vLLM
test-vllm: $(VLLM)/.ready
	$(VLLM)/bin/python -m pytest -m vllm $(WORKERS)

# other people's clients (docs/peers.md); the main job does without them
peers: $(PEERS)
	$(VENV)/bin/python -m pytest -m peers

# other implementations of the model (docs/peers.md), each in an environment of its own: without, `make test` skips these
parity: $(READY) parity-mlx parity-vllm
	$(VENV)/bin/python -m pytest tests/peers/parity/test_mlx_and_vllm.py

parity-mlx: $(VENV)-mlx/.ready

parity-vllm: $(VLLM)/.peers

check: $(READY)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

# the built wheel, outside the checkout, must find everything that it needs: its data is what a checkout hides
wheel: $(READY)
	rm -rf build/wheel
	$(VENV)/bin/python -m pip wheel --quiet --no-deps --wheel-dir build/wheel .
	$(VENV)/bin/python -m pip install --quiet --no-deps --target build/wheel/site build/wheel/*.whl
	cd build/wheel && PYTHONPATH=site $(abspath $(VENV))/bin/python -m agent_eval run \
		--tasks WifiSet --instances 1 --out run > report.txt
	cd build/wheel && PYTHONPATH=site $(abspath $(VENV))/bin/python -m agent_eval html run
	cd build/wheel && PYTHONPATH=site $(abspath $(VENV))/bin/python -c \
		'import agent_eval; assert "build/wheel/site" in agent_eval.__file__, agent_eval.__file__'

# after an edit of the C++ sources: compiles what changed, in place
kernels:
	$(PYTHON) hatch_build.py

clean:
	rm -rf $(VENV) $(VENV)-mlx $(VLLM) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis

# torch comes first and by its exact version, so that no later requirement draws in another build of it
$(READY): pyproject.toml Makefile $(NATIVE)
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "agent-eval needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --upgrade pip
	$(VENV)/bin/python -m pip install --quiet $(TORCH)
	$(VENV)/bin/python -m pip install --quiet --group dev --editable .
	touch $@

$(PEERS): $(READY)
	$(VENV)/bin/python -m pip install --quiet --group peers
	touch $@

$(VENV)-mlx/.ready: tests/peers/parity/requirements-mlx.txt
	$(PYTHON) -m venv --clear $(VENV)-mlx
	$(VENV)-mlx/bin/python -m pip install --quiet --requirement $<
	touch $@

# without dependencies: the list is whole, and what it leaves out would bring a vLLM that does not start
$(VLLM)/.pinned: $(VLLM_REQUIREMENTS)
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "agent-eval needs Python 3.11 or newer")'
	$(PYTHON) -m venv --clear $(VLLM)
	$(VLLM)/bin/python -m pip install --quiet --upgrade pip
	$(VLLM)/bin/python -m pip install --quiet $(TORCH)
	$(VLLM)/bin/python -m pip install --quiet --no-deps --requirement $<
	touch $@

$(VLLM)/.ready: $(VLLM)/.pinned pyproject.toml $(NATIVE)
	$(VLLM)/bin/python -m pip install --quiet --group dev --editable .
	touch $@

# the authors' plugin stands beside this package's, for comparison; whoever starts vLLM names the one that it wants
$(VLLM)/.peers: $(VLLM)/.ready tests/peers/parity/requirements-vllm.txt
	$(VLLM)/bin/python -m pip install --quiet --no-deps --requirement tests/peers/parity/requirements-vllm.txt
	touch $@
