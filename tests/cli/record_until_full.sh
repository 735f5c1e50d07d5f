#!/bin/sh
# SPDX-License-Identifier: MIT
# record_until_full.sh HMKCTL SOCKET: record where files end before the first interval does: what is left is no half of one.
set -eu
hmkctl=$1 socket=$2
file=$(mktemp)
trap 'rm -f "$file"' EXIT
(
	ulimit -f 1 # 512 bytes
	trap '' XFSZ
	"$hmkctl" --socket "$socket" record "$file" --intervals 1 2> /dev/null || exit 0
	echo "it had room"
)
"$hmkctl" heatmap --record "$file"
