#!/bin/sh
# Rebuilds the data of internal/schedule/internal/tzdb from a release of the IANA tz database (https://www.iana.org/time-zones).
#
#   update.sh DIR VERSION      DIR: the unpacked tzcode and tzdata of one release; VERSION: its name, such as 2026c
#
# The build keeps one zone per name of zone.tab (PACKRATLIST), as the distributions and Go do, so that Europe/Stockholm
# stays Europe/Stockholm and is not reported as Europe/Berlin. Needs make, cc and awk.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
src=$(cd "$1" && pwd)
echo "$2" >"$src/version"
make -C "$src" CFLAGS=-DSTD_INSPIRED TZDIR="$src/zi" PACKRATDATA=backzone PACKRATLIST=zone.tab posix_only tzdata.zi >&2
cd "$here/../.."
go run ./hack/tzdata -src "$src" -out internal/schedule/internal/tzdb
