#!/bin/sh
# Prints the folder that holds etcd, kube-apiserver and kubectl, and builds them
# first when this machine does not have them yet (once; 10 to 25 minutes on two
# cores). Progress goes to stderr. See cmd/kubebuild.
set -eu
cd "$(dirname "$0")"
exec env GOFLAGS= GOWORK=off go run ./cmd/kubebuild "$@"
