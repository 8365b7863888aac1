#!/bin/sh
# Prints the folder that holds controller-gen and golangci-lint (with the
# kube-api-linter plugin inside), and builds them first when this machine has no
# build of exactly these versions. Progress goes to stderr.
#
# The versions are pinned by go.mod and lint/go.mod beside this file, so that the
# product's own go.mod stays small. Builds live outside the checkout, so that
# every clone on the machine shares them.
set -eu
cd "$(dirname "$0")"

export GOWORK=off
export CGO_ENABLED=0

inputs="build.sh go.mod go.sum lint/go.mod lint/go.sum"
if command -v sha256sum >/dev/null 2>&1; then sha=sha256sum; else sha="shasum -a 256"; fi
# Not GOFLAGS: they may differ from one shell to the next and change nothing here.
hash=$({ cat $inputs; go env GOVERSION GOOS GOARCH; } | $sha | cut -c1-16)
cache="${REMINDER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/reminder-operator}"
dir="$cache/tools-$hash"

if [ -d "$dir" ]; then
	echo "$dir"
	exit 0
fi

mkdir -p "$cache"
# Without flock (macOS) two builds at once do the work twice; the rename below
# still lets only one of them win.
exec 9>"$cache/tools-$hash.lock"
if command -v flock >/dev/null 2>&1; then
	flock -n 9 || {
		echo "tools: another build is running, waiting for it" >&2
		flock 9
	}
fi
if [ -d "$dir" ]; then
	echo "$dir"
	exit 0
fi

tmp=$(mktemp -d "$cache/tools-$hash.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM

# build <module folder> <package> <name>
build() {
	echo "tools: building $3" >&2
	(cd "$1" && go build -trimpath -ldflags "-s -w" -o "$tmp/$3" "$2" 9>&-) >&2
}

started=$(date +%s)
echo "tools: first use on this machine, about 5 minutes on two cores" >&2
build . sigs.k8s.io/controller-tools/cmd/controller-gen controller-gen
# This binary is golangci-lint as it is, with one more plugin: it serves both configurations.
build lint sigs.k8s.io/kube-api-linter/cmd/golangci-lint-kube-api-linter golangci-lint

chmod 755 "$tmp"
mv "$tmp" "$dir" 2>/dev/null || [ -x "$dir/golangci-lint" ]
echo "tools: built in $(($(date +%s) - started)) s" >&2
echo "$dir"
