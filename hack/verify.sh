#!/usr/bin/env bash
# All checks but the tests, in order, each with its duration; a failure does not
# keep the others from running. It regenerates what is generated and fails when the
# checkout then differs from the last commit. Run by `make verify`.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

failures=()

step() {
	local name=$1 from=$SECONDS result=ok
	shift
	echo "== $name"
	"$@" || {
		result=FAILED
		failures+=("$name")
	}
	echo "== $name: $result, $((SECONDS - from)) s"
}

formatted() {
	local files
	files=$(git ls-files -z --cached --others --exclude-standard '*.go' | xargs -0 gofmt -l)
	[ -z "$files" ] || {
		printf 'run `make fmt` for:\n%s\n' "$files" >&2
		return 1
	}
}

clean() {
	local changes
	changes=$(git status --porcelain)
	[ -z "$changes" ] || {
		git --no-pager diff HEAD >&2
		printf '\nThe checkout differs from the last commit:\n%s\nCommit what `make generate` wrote.\n' "$changes" >&2
		return 1
	}
}

export MAKEFLAGS="${MAKEFLAGS:-} --no-print-directory"

step "tools" hack/tools/build.sh
step "generate" make -s generate
for module in . hack/tools hack/tools/lint hack/tools/chart; do
	step "go mod tidy in $module" go -C "$module" mod tidy -diff
done
step "gofmt" formatted
step "build" go build ./...
step "build with failpoints" go build -tags failpoint ./...
step "failpoints" go test -tags failpoint ./internal/failpoint
step "lint" make -s lint
step "lint-api" make -s lint-api
step "chart" make -s chart
step "committed" clean

[ ${#failures[@]} -eq 0 ] || {
	printf '\nfailed:\n' >&2
	printf '  %s\n' "${failures[@]}" >&2
	exit 1
}
