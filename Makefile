# `make` lists what can be made. Everything is built from source with the Go
# toolchain; the first use of a tool or of the Kubernetes binaries takes minutes
# and is kept in $XDG_CACHE_HOME/reminder-operator (~/.cache) for all checkouts.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X github.com/reminder-operator/reminder-operator/cmd.Version=$(VERSION)
PLUGIN_LDFLAGS := -s -w -X github.com/reminder-operator/reminder-operator/internal/plugin.Version=$(VERSION)
CHART := charts/reminder-operator
# Prints the folder of the pinned tools and builds them on first use.
TOOLS := $$(hack/tools/build.sh)
# More flags for `go test`, as in: make test TESTFLAGS='-race -run Crash'
TESTFLAGS ?=
TIMEOUT ?= 45m
# More flags for `make crash` and `make broker-faults`; go run ./test/crash -h lists them.
CRASHFLAGS ?=

##@ Write

.PHONY: generate
generate: ## Write deepcopy, CRDs, RBAC, the chart's copies of them and the reference pages
	$(TOOLS)/controller-gen object:headerFile=hack/boilerplate.go.txt paths=./api/...
	$(TOOLS)/controller-gen crd paths=./api/... output:crd:artifacts:config=config/crd/bases
	$(TOOLS)/controller-gen rbac:roleName=manager-role,headerFile= paths=./controllers/... output:rbac:artifacts:config=config/rbac
	rm -rf $(CHART)/files && mkdir -p $(CHART)/files/crds $(CHART)/files/rbac
	cp config/crd/bases/*.yaml $(CHART)/files/crds/
	cp $$(ls config/rbac/*.yaml | grep -v -e kustomization -e service_account) $(CHART)/files/rbac/
	go run ./hack/docs

.PHONY: fmt
fmt: ## Format all Go files
	$(TOOLS)/golangci-lint fmt ./...

.PHONY: fix
fix: ## Apply what the linters can repair by themselves
	$(TOOLS)/golangci-lint run --fix ./...

##@ Check

.PHONY: lint
lint: ## Lint: mistakes, import rules, clock rules (.golangci.yml)
	$(TOOLS)/golangci-lint run ./...

.PHONY: lint-api
lint-api: ## Lint the API types against the Kubernetes API conventions
	$(TOOLS)/golangci-lint run --config .golangci-kube-api.yml ./api/...

.PHONY: chart
chart: ## Render the Helm chart and the kustomize tree, and check the result
	go -C hack/tools/chart run . -chart $(CURDIR)/$(CHART) -kustomize $(CURDIR)/config/default

.PHONY: verify
verify: ## All checks but the tests; fails when generated files are not committed
	@hack/verify.sh

.PHONY: test
test: ## All tests, on a real API server and a real NATS server (built from source the first time)
	@hack/kube/build.sh >/dev/null
	go test -timeout $(TIMEOUT) $(TESTFLAGS) ./...

.PHONY: test-unit
test-unit: ## Tests that need no control plane
	go test -timeout 5m $(TESTFLAGS) ./internal/...

.PHONY: crash
crash: ## Kill workers and controllers at each boundary, 429 times (minutes); CRASHFLAGS='-cell W4/Park' for a part
	go run ./test/crash $(CRASHFLAGS)

.PHONY: broker-faults
broker-faults: ## Kill and stop NATS servers beside 30,000 reminders (minutes); CRASHFLAGS='-cell stop' for a part
	go run ./test/crash -broker $(CRASHFLAGS)

.PHONY: model
model: ## Walk the model of the delivery protocol through all policies and mutants (docs/proof.md)
	@go run ./test/model/main

SEEDS ?= 10000
.PHONY: simulate
simulate: ## Simulate 10,000 seeds of faults on the real worker, tally and sweep; SEEDS=n for another number
	@mkdir -p bin && go test -c -o bin/simulate.test ./test/simulate
	@bin/simulate.test -test.run Row9 -test.timeout 0 -seeds $(SEEDS)

.PHONY: bench
bench: ## 1,000 schedules due in one minute: lateness, throughput, memory
	go run ./test/bench

##@ Run

.PHONY: build
build: ## Build bin/reminder-operator and bin/kubectl-reminders, static binaries
	CGO_ENABLED=0 go build -trimpath -ldflags "$(LDFLAGS)" -o bin/reminder-operator .
	CGO_ENABLED=0 go build -trimpath -ldflags "$(PLUGIN_LDFLAGS)" -o bin/kubectl-reminders ./cmd/kubectl-reminders

.PHONY: kube
kube: ## Build etcd, kube-apiserver and kubectl for tests and the demo; prints their folder
	@hack/kube/build.sh

.PHONY: demo
demo: ## The whole system on this machine, end to end, with a worker killed in the middle
	go run ./hack/demo run

.PHONY: dev-up
dev-up: ## Start the same and leave it running; prints addresses and logs
	go run ./hack/demo up

.PHONY: dev-down
dev-down: ## End what dev-up started
	go run ./hack/demo down

.PHONY: image
image: ## Build the container image reminder-operator:$(VERSION) with docker
	docker build --build-arg VERSION=$(VERSION) -t reminder-operator:$(VERSION) .

##@ Other

.PHONY: clean
clean: ## Remove what was built in this checkout (not the caches)
	rm -rf bin dist cover.*

.PHONY: help
help: ## This list
	@awk 'BEGIN {FS = ":.*## "} \
		/^##@ / {printf "\n%s\n", substr($$0, 5)} \
		/^[a-z-]+:.*## / {printf "  %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
