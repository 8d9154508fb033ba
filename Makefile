# Needs Go, git, make and bash. Everything else comes through the Go module proxy. Go's own variables are passed on:
#   make test GOFLAGS=-count=1      make test PKG=./internal/...      make test MODULES=internal/e2e      make lint GOWORK=off

SHELL       := bash
.SHELLFLAGS := -euo pipefail -c

# Every module of the repository but the tools; when packages are named, the root alone.
PKG     ?= ./...
MODULES ?= $(if $(filter-out ./...,$(PKG)),.,$(ALL))
ALL      = $(patsubst %/go.mod,%,$(shell find . -name go.mod -not -path './tools/*' -not -path '*/testdata/*' | sort))

# The race detector needs a C compiler; Go turns cgo off where there is none.
RACE ?= $(if $(filter 1,$(shell go env CGO_ENABLED)),-race)

FUZZTIME ?= 20s
BENCH    ?= .

BIN := $(CURDIR)/bin

# Jaeger takes minutes to build, so each version is built once on a machine. JAEGER_BIN may name one that is there already.
JAEGER     := github.com/jaegertracing/jaeger
JAEGER_BIN ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/sessionspan/jaeger-$(jaeger-version)/jaeger
jaeger-version = $(shell awk '$$1 == "$(JAEGER)" { print $$2 }' tools/jaeger/go.mod)-$(firstword $(shell go env GOVERSION))

# The Collector is a thousand packages of others around one of ours, whose own tests have the race detector.
UNRACED := ./cmd/sessionspan-collector

# $(call each,command) runs a command in every module and stops at the first that fails. $$race is for commands that take it.
each = @for m in $(MODULES); do race="$(RACE)"; [[ "$(UNRACED)" != "$$m" ]] || race=; echo "[$$m] $(1)"; (cd "$$m" && $(1)) || exit 1; done

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-8s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: build
build: ## build every command into ./bin
	@mkdir -p $(BIN)
	$(call each,GOBIN=$(BIN) go install ./...)

.PHONY: test
test: ## run the tests of every module, with the race detector but for the Collector's
	$(call each,go test $$race $(PKG))

.PHONY: e2e
e2e: jaeger ## run the end-to-end tests, with a real Jaeger
	cd internal/e2e && SESSIONSPAN_JAEGER=$(abspath $(JAEGER_BIN)) SESSIONSPAN_BUILDER=1 go test -count=1 -timeout 20m $(PKG)

.PHONY: jaeger
jaeger: out = $(abspath $(JAEGER_BIN))
jaeger: ## build that Jaeger, unless it is there
	@test -x $(out) || { echo "building $(out), which takes some minutes"; \
		mkdir -p $(dir $(out)); GOWORK=off go -C tools/jaeger build -o $(out).part $(JAEGER)/cmd/jaeger; mv $(out).part $(out); }

.PHONY: lint
lint: linters lint-format lint-size ## check format, sizes, vet, staticcheck and tidiness
	$(call each,go vet ./...)
	$(call each,$(BIN)/lint/staticcheck ./...)
	$(call each,go mod tidy -diff)
	GOWORK=off go -C tools/lint mod tidy -diff

# The versions are those of tools/lint/go.mod.
.PHONY: linters
linters:
	@GOWORK=off go -C tools/lint build -o $(BIN)/lint/ tool

.PHONY: lint-format
lint-format: linters
	@echo "gofumpt"; diff=$$($(BIN)/lint/gofumpt -d .) || true; \
		if [ -n "$$diff" ]; then echo "$$diff"; echo "make format writes this"; exit 1; fi

.PHONY: lint-size
lint-size:
	@echo "file sizes"; find . -name '*.go' -not -path './bin/*' -exec wc -l {} \; | awk '\
		{ limit = $$2 ~ /_test\.go$$/ ? 1000 : 500 } \
		$$1 > limit { print $$2 ": " $$1 " lines, more than " limit; bad = 1 } \
		END { exit bad }'

.PHONY: format
format: linters ## format every Go file
	$(BIN)/lint/gofumpt -l -w .

.PHONY: tidy
tidy: ## write every go.mod and go.sum anew
	$(call each,go mod tidy)

.PHONY: bench
bench: ## run the benchmarks (BENCH=regexp picks)
	$(call each,go test -run '^$$' -bench '$(BENCH)' -benchmem $(PKG))

# Writes up to 4 GB below TMPDIR, one size after the other, and takes some two minutes.
ARCHIVE_MB ?= 10,100,1000,4000
.PHONY: measure
measure: ## measure replays of generated archives of ARCHIVE_MB megabytes, and what sends them (docs/results.md)
	cd internal/e2e && SESSIONSPAN_ARCHIVE_MB=$(ARCHIVE_MB) go test ./throughput -run '^$$' -bench . -benchtime 2x -timeout 30m

.PHONY: soak
soak: ## kill 1,000 writers of a store and a Collector 600 times; compare 10,000 sessions traced live, 3,000 histories of files, and 4,000 sessions of Claude Code as they grow, with their replay
	go test ./store/jsonl -run Killed -kills 1000 -count 1 -v -timeout 30m
	go test ./otelwrap -run LiveEqualsReplay -seeds 10000 -count 1 -timeout 30m
	go test ./internal/tracker -run DeliveredEqualsReplay -seeds 3000 -count 1 -timeout 30m
	go test ./internal/tracker -run RandomClaudeCode -seeds 2000 -count 1 -timeout 30m
	cd internal/e2e && go test ./faults -run Faults/killed -faults.size 1GB -faults.kills 600 -count 1 -timeout 60m
	cd internal/e2e && go test ./faults -faults.seeds 4 -faults.size 100MB -faults.kills 30 -count 1 -timeout 60m

.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME (20s)
	@for m in $(MODULES); do \
		cd "$(CURDIR)/$$m"; \
		go test -list '^Fuzz' $(PKG) | \
		awk '/^Fuzz/ { target[n++] = $$1 } /^ok/ { for (i = 0; i < n; i++) print $$2, target[i]; n = 0 }' | \
		while read -r pkg target; do \
			echo "[$$m] $$pkg $$target"; \
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x "$$pkg" </dev/null; \
		done; \
	done

.PHONY: golden
golden: ## write the golden files anew and show what changed
	@for m in $(MODULES); do \
		cd "$(CURDIR)/$$m"; \
		go list -f '{{.Dir}}' $(PKG) | while read -r dir; do \
			if grep -qs 'flag.Bool("update"' "$$dir"/*_test.go; then go test -count=1 "$$dir" -update </dev/null; fi; \
		done; \
	done
	@git --no-pager diff --stat -- ':(glob)**/testdata/**'
	@git status --short -- ':(glob)**/testdata/**'

.PHONY: clean
clean: ## remove what make built
	rm -rf $(BIN)
