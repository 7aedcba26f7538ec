# Everything runs in .venv; crates and packages come from the registries' ordinary caches.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := Cargo.toml Cargo.lock pyproject.toml $(shell find src python -type f -not -name '*.so' -not -name '*.pyc')

.PHONY: all test test-rust test-python test-torch docs stubs lint demo bench develop clean

all: develop

$(VENV)/.ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "maturin>=1.9,<2" numpy "pytest>=8" "mypy>=1.13" "pydantic>=2"
	touch $@

# The package is built as a wheel and installed, so that what is tested is what would be shipped.
$(VENV)/.built: $(VENV)/.ready $(SOURCES)
	rm -rf $(VENV)/wheel
	PATH="$(CURDIR)/$(BIN):$$PATH" VIRTUAL_ENV="$(CURDIR)/$(VENV)" $(BIN)/maturin build --release --quiet --out $(VENV)/wheel
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall $(VENV)/wheel/*.whl
	touch $@

develop: $(VENV)/.built

test: test-rust test-python stubs docs

test-rust:
	cargo test

test-python: develop
	$(BIN)/python -m pytest

# With torch and transformers, in an environment of their own: about 5 GB and two minutes to install.
TORCH := .venv-torch
$(TORCH)/.ready: pyproject.toml
	$(PYTHON) -m venv $(TORCH)
	$(TORCH)/bin/python -m pip install --quiet --disable-pip-version-check numpy "pytest>=8" "torch>=2.1" "transformers>=5"
	touch $@

test-torch: develop $(TORCH)/.ready
	$(TORCH)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall $(VENV)/wheel/*.whl
	$(TORCH)/bin/python -m pytest -W default tests/python/test_transformers.py tests/python/test_masks.py

# The stubs say what the compiled module has, and the package passes the type checker.
stubs: develop
	cd $(VENV) && MYPYPATH= bin/python -m mypy.stubtest interlock --mypy-config-file ../pyproject.toml --allowlist ../tests/python/stubtest-allowlist.txt
	cd $(VENV) && bin/python -m mypy --config-file ../pyproject.toml -p interlock

docs:
	RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --quiet

lint:
	cargo fmt --check
	cargo clippy --all-targets -- -D warnings
	cargo clippy --all-targets --features python -- -D warnings

demo: develop
	$(BIN)/python examples/demo.py

bench: develop
	$(BIN)/python benches/calls.py

clean:
	rm -rf $(VENV) $(TORCH) target
