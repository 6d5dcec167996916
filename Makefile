# perhop: everything lives in .venv of this checkout.
PYTHON ?= python3
ARGS ?=
BIN := .venv/bin
PIP := $(if $(shell command -v uv),uv pip install --python $(BIN)/python,$(BIN)/python -m pip install --disable-pip-version-check)
VENV := $(if $(shell command -v uv),uv venv --seed --python $(PYTHON) --allow-existing,$(PYTHON) -m venv)
# New files count before `git add`; one that was deleted is no longer a prerequisite.
RUST := $(wildcard $(shell git ls-files --cached --others --exclude-standard 'crates/*.rs' 'crates/*.toml' 2>/dev/null)) Cargo.toml Cargo.lock pyproject.toml
# The program as it ships. The module's package is named so that dependencies have the features that `make install` gave them.
PROGRAM := cargo build --release -p perhop -p perhop-py --bin perhop
# One worker per core; the tests of a file run on one worker, because they share fixtures.
PARALLEL := -n auto --dist loadfile --no-loadscope-reorder
# Modules of the crates' tests.
FAST := heads port sched conditioners engine owners bad changes ports scenario schema selector series stages errors headers mark \
  roundtrip fuzz bad_input docs tune
# Files that tests compare with and a checkout can write, by test.
WHAT ?= columns codes docs words examples bad studies kernel results texts notebooks walkthroughs kernel_tcp kernel_live
export PERHOP_PYTHON := $(CURDIR)/$(BIN)/python
# Property tests draw the same cases in each run, those of hypothesis by tests/python/conftest.py; `make free` draws others.
export PROPTEST_RNG_SEED ?= 2475
ROUNDS ?= 10
PORT ?= 8000
# A directory of public files, for `make same-texts` and `make renew WHAT=texts`.
CORPUS ?=
PUBLIC = $(if $(CORPUS),--corpus $(abspath $(CORPUS)))
# The lines of target/$(1) become the records of their papers: readings-pam-fsam.jsonl those of perhop_studies/pam_fsam.
keep = for found in target/$(1)/*.jsonl; do name=$$(basename $$found .jsonl | tr - _); \
  cp $$found python/perhop_studies/$${name\#$(1)_}/records/$(1).jsonl; done

.PHONY: install test free test-rust test-differential test-python test-fast same-results same-texts reproduce maps lint wasm-check wheel release-check first-minute bench instructions growth lab lab-configurations lab-defaults lab-ports lab-tcp lab-live lab-reality live-lab live-bench soak renew docs site serve-site lock clean
.DEFAULT_GOAL := install

install: .venv/extension.stamp          ## build the release extension into .venv
	@echo "perhop is at $(BIN)/perhop"

test:                                   ## all tests; tests whose tools are missing are skipped with a message
	@failed=; times=; for part in rust differential python; do from=$$(date +%s); \
	  $(MAKE) --no-print-directory test-$$part || failed="$$failed test-$$part"; \
	  times="$$times test-$$part $$(($$(date +%s) - from)) s"; \
	done; echo "== $$times"; [ -z "$$failed" ] || { echo "make test failed in:$$failed" >&2; exit 1; }

test-rust: .venv/tools.stamp
	cargo test --workspace --no-fail-fast

test-differential:                      ## laws beside other implementations: a separate workspace, which asks for a newer Rust
	@if printf '1.95.0\n%s\n' "$$(rustc --version | cut -d' ' -f2)" | sort -VC; then \
	  cargo test --manifest-path tests/differential/Cargo.toml --target-dir target; \
	else echo "tests/differential skipped: s2n-quic-core needs Rust 1.95"; fi

test-python: .venv/extension.stamp .venv/tools.stamp
	$(BIN)/python -m pytest $(PARALLEL) $(ARGS)

test-fast: .venv/extension.stamp .venv/tools.stamp ## the most telling tests, 90 s after the build: no comparison with ns-2, no second build
	cargo test --workspace --lib -- --skip ns2
	cargo test --workspace --test all -- $(addsuffix ::,$(FAST)) --skip ns2 --skip transport::
	$(BIN)/python -m pytest $(PARALLEL) -m "not slow" $(ARGS)

free: .venv/extension.stamp .venv/tools.stamp ## property tests with ROUNDS=10 new seeds, each printed where it fails; SEED=7 for one known
	$(PYTHON) tests/free.py --rounds $(ROUNDS) $(if $(SEED),--seed $(SEED)) $(ARGS)

same-results: .venv/extension.stamp .venv/tools.stamp ## every column and quantity against tests/reference/results; ARGS="--against PYTHON"
	cd tests/python && ../../$(BIN)/python -m same --check $(ARGS)

same-texts: .venv/extension.stamp .venv/tools.stamp ## what the verbs print of every text against hashes on record; CORPUS=DIR for public files, too; ARGS="--against PERHOP"
	cd tests/python && ../../$(BIN)/python -m same_texts --check $(PUBLIC) $(ARGS)

reproduce: .venv/extension.stamp        ## the papers' tables and figures with verdicts; ARGS="--setting all"
	$(BIN)/perhop reproduce all $(ARGS)

maps: .venv/extension.stamp             ## where the papers' claims are true; ARGS="fsam-gain" for one
	$(BIN)/perhop map $(ARGS)

lint: .venv/tools.stamp                 ## clippy, rustfmt, ruff, mypy: warnings are errors
	cargo clippy --workspace --all-targets -- -D warnings
	rustfmt --edition 2024 --check $$(git ls-files '*.rs')
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

wasm-check:                             ## cargo check for browsers of the crates that need no disk; a compiler of Debian's, 400 MB, once
	scripts/wasm_check.sh

wheel: .venv/packages.stamp             ## dist/perhop-*.whl
	$(BIN)/python scripts/backend.py --wheel
	$(BIN)/maturin build --release --out dist

release-check: .venv/release.stamp      ## what a release publishes, made and tried: crates, sdist, a wheel for every Linux; a quarter of an hour
	PATH="$(CURDIR)/$(BIN):$$PATH" tests/release.sh

first-minute:                           ## the seconds from an empty environment to the README's first finding and picture; WHEEL=1: by a wheel
ifdef WHEEL
	[ -e dist/perhop-*.whl ] || $(MAKE) wheel
	$(PYTHON) tests/first_minute.py --wheel dist/perhop-*.whl
else
	$(PYTHON) tests/first_minute.py --make
endif

bench:                                  ## this machine: packet-hops, decisions, memory, and whole processes beside ns-2
	$(PROGRAM)
	cargo build --release -p perhop-bench
	target/release/perhop-bench $(ARGS)

instructions:                           ## instructions of all that perhop does against tests/instructions/baseline.toml
	$(PROGRAM)
	cargo build --release -p perhop-bench
	$(PYTHON) tests/instructions/count.py $(ARGS)

growth:                                 ## instructions of `check` at three sizes of all kinds of configurations, 7 minutes; KIND=htb for some
	PERHOP_KIND=$(or $(KIND),all) cargo test --workspace --test all growth:: -- --nocapture

lab: lab-ports lab-tcp                  ## what a Linux kernel does in the cells of lab/cells, against what is recorded; ARGS=--write

live-lab: .venv/packages.stamp          ## perhop forward beside the kernel's tbf and htb, in namespaces; root, a minute
	$(PROGRAM)
	scripts/live_lab.sh target/release/perhop $(BIN)/python target/live-lab.png

live-bench:                             ## perhop forward beside the C forwarder FWD: CPU time, round trips; root, two minutes
	$(PROGRAM)
	cargo build --release -p perhop-live --examples
	$(PYTHON) scripts/live_bench.py target/release $(FWD)

soak:                                   ## perhop forward at full load for MINUTES=20: counts close, memory is flat; root
	$(PROGRAM)
	$(PYTHON) scripts/soak.py target/release/perhop

lab-ports:
	$(PYTHON) lab/recording/record.py $(ARGS)

lab-configurations:                     ## perhop beside the lab's kernel at tc configurations drawn at random; ARGS="--seed 1 --count 100"
	$(PYTHON) lab/recording/differential.py $(ARGS)

lab-defaults:                           ## what the lab's kernel has of queueing disciplines where nothing is said; ARGS=--write
	$(PYTHON) lab/recording/defaults.py $(ARGS)

lab-live:                               ## perhop forward beside the kernel's queues, in the lab's kernel; ARGS=--write
	$(PROGRAM)
	$(PYTHON) lab/recording/live.py $(ARGS)

lab-reality: .venv/extension.stamp      ## policies in forward under the kernel's TCP; records what is missing
	$(PROGRAM)
	$(BIN)/python lab/recording/reality.py $(ARGS)

lab-tcp: .venv/extension.stamp
	$(BIN)/python lab/recording/connect.py $(ARGS)

renew: $(addprefix renew-,$(WHAT))      ## writes again what tests compare with; WHAT="docs bad" for some; others: CONTRIBUTING.md

renew-docs:
	cargo run -q -p perhop --example docs

renew-columns:
	PERHOP_RENEW=1 cargo test -q -p perhop-results --lib names_of_all_columns

renew-examples renew-codes: renew-%:
	PERHOP_RENEW=1 cargo test -q -p perhop --test all $*::

renew-bad renew-studies renew-kernel: renew-%:
	PERHOP_RENEW=1 cargo test -q -p perhop-scenario --test all $*::

renew-words:
	PERHOP_RENEW=1 cargo test -q -p perhop-config --lib words_that_readers_name

renew-results: .venv/extension.stamp .venv/tools.stamp
	cd tests/python && ../../$(BIN)/python -m same --write

renew-texts: .venv/extension.stamp .venv/tools.stamp
	cd tests/python && ../../$(BIN)/python -m same_texts --write $(PUBLIC)

renew-notebooks renew-walkthroughs renew-kernel_tcp renew-kernel_live: renew-%: .venv/extension.stamp .venv/tools.stamp
	PERHOP_RENEW=1 $(BIN)/python -m pytest tests/python/test_$*.py

renew-lab renew-instructions: renew-%:
	$(MAKE) $* ARGS="--write $(ARGS)"

renew-wire:
	$(PYTHON) lab/recording/wire.py

renew-bursts:
	PERHOP_RENEW=$(or $(ARGS),1) cargo test -q --release -p perhop-scenario --test all bursts:: -- --skip own_bursts

renew-mutants:
	$(PYTHON) tests/mutants/run.py --write

renew-tells: .venv/extension.stamp .venv/tools.stamp       # which criteria of the papers tell; WHICH="redp pps" for some
	$(BIN)/python tests/mutants/papers.py $(WHICH)

renew-readings: .venv/extension.stamp    # what other answers to what the papers leave open give; WHICH=redp
	$(BIN)/perhop reproduce $(or $(WHICH),all) --readings --out target/readings
	$(call keep,readings)

renew-causes: .venv/extension.stamp      # what becomes of failing claims once a suspected cause is taken away; WHICH=redp
	$(BIN)/perhop reproduce $(or $(WHICH),all) --causes --out target/causes
	$(call keep,causes)
	$(BIN)/python scripts/docs/studies_causes.py

renew-today: .venv/extension.stamp
	$(BIN)/perhop reproduce today --seeds 5
	$(BIN)/python scripts/docs/studies_today.py reproduction

renew-growth: .venv/extension.stamp
	$(MAKE) -s bench ARGS="--growth --most 64000 --json" | $(BIN)/python scripts/docs/growth.py

docs: renew-docs                        ## the generated part of docs/, and target/doc
	cargo doc --workspace --no-deps

site: .venv/site.stamp                  ## docs with navigation and search, to open or to serve: target/site/html/index.html
	$(BIN)/python site/pages.py
	@echo "open file://$(CURDIR)/target/site/html/index.html, or make serve-site"

serve-site:                             ## the site on this machine alone; PORT=8000
	@[ -e target/site/html/index.html ] || $(MAKE) --no-print-directory site
	@echo "http://127.0.0.1:$(PORT)/"
	@$(PYTHON) -m http.server --bind 127.0.0.1 --directory target/site/html $(PORT)

lock: .venv/packages.stamp              ## newest versions into requirements-*.lock
	scripts/lock.sh $(BIN)/python

clean:                                  ## remove everything built; keep results
	rm -rf .venv target dist python/perhop/_core*.so

# What perhop runs and is built with.
.venv/packages.stamp: requirements.lock
	@scripts/need.sh $(PYTHON)
	$(VENV) .venv
	$(PIP) -q -r requirements.lock
	@touch $@

# What its tests take besides.
.venv/tools.stamp: requirements-dev.lock .venv/packages.stamp
	@echo "installing what the tests need"
	$(PIP) -q -r requirements-dev.lock
	@touch $@

.venv/site.stamp: requirements-site.lock .venv/packages.stamp
	$(PIP) -q -r requirements-site.lock
	@touch $@

.venv/release.stamp: requirements-release.lock .venv/tools.stamp
	$(PIP) -q -r requirements-release.lock
	@touch $@

.venv/extension.stamp: .venv/packages.stamp $(RUST)
	@scripts/need.sh $(PYTHON)
	$(BIN)/python scripts/backend.py
	PATH="$(CURDIR)/$(BIN):$$PATH" VIRTUAL_ENV=$(CURDIR)/.venv $(BIN)/maturin develop --release
	@touch $@
