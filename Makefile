# Two commands matter on a fresh machine with only Go: make demo, make test.
# HMSGATE_CACHE (default ~/.cache/hmsgate) holds what the tests against real metastores download.
GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
LDFLAGS := -s -w -X main.version=$(VERSION)
GATES   := ./rewrite ./internal/session

# Packages want a version that begins with a digit.
PACKAGE_VERSION ?= $(if $(filter v%,$(VERSION)),$(patsubst v%,%,$(VERSION)),0.0.0~$(VERSION))
NFPM    := github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.2

.PHONY: build binaries packages demo test-fast check test race fuzz lint bench bench-gate bench-soak clean

# One static binary; after "go mod download" it needs no network.
build:
	CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -ldflags '$(LDFLAGS)' -o bin/hmsgate ./cmd/hmsgate

# The same for both processors that packages are made for.
binaries:
	for a in amd64 arm64; do CGO_ENABLED=0 GOOS=linux GOARCH=$$a $(GO) build -trimpath -buildvcs=false \
		-ldflags '$(LDFLAGS)' -o bin/linux-$$a/hmsgate ./cmd/hmsgate || exit 1; done

# deb and rpm for both, in bin/packages. Needs the module proxy for nfpm.
packages: binaries
	mkdir -p bin/packages
	for a in amd64 arm64; do for p in deb rpm; do ARCH=$$a PACKAGE_VERSION='$(PACKAGE_VERSION)' $(GO) run $(NFPM) package \
		-f packaging/nfpm.yaml -p $$p -t bin/packages/ || exit 1; done; done

# Two in-memory metastores behind one port, a tour, and then it stays up for your own client.
demo: build
	bin/hmsgate demo

# While working: no Java, no race detector, at most 90 seconds a package.
test-fast:
	$(GO) test -short -timeout 90s ./...

# Before a commit.
check: lint test-fast bench-gate

# Everything this machine can run; what it cannot is printed as SKIP lines. CI=true: nothing may be left out.
test:
	@GO='$(GO)' bash .ci/test $(GATES)

race:
	CGO_ENABLED=1 $(GO) test -race -short -shuffle=on -timeout 10m -skip '^TestGate' ./...

# 30 seconds for each target, found by name. FUZZTIME=5m make fuzz for longer.
fuzz:
	@GO='$(GO)' bash .ci/fuzz

lint:
	@GO='$(GO)' bash .ci/lint

# A few minutes through sockets, same-run ratios, written to bench/RESULTS.md. Reports, never fails on speed.
bench: build
	$(GO) build -o bin/bench ./bench
	bin/bench all -gateway bin/hmsgate -out bench/RESULTS.md

# In memory: counts and self-relative ratios, so the figures hold on any machine.
bench-gate:
	$(GO) test -run '^TestGate' -count=1 $(GATES)

# 1 GB reply, slow reader, idle clients: fails on resident memory, never on speed.
bench-soak: build
	$(GO) build -o bin/bench ./bench
	bin/bench soak -gateway bin/hmsgate

clean:
	rm -rf bin
