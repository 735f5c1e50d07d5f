#!/bin/bash
# SPDX-License-Identifier: MIT
# events.sh HMKCTL SOCKET: what follows another hmkctl's changes, without the time of day.
set -u
out=$(mktemp)
trap 'rm "$out"' EXIT
"$1" --socket "$2" events --count 4 >"$out" &
until [ -s "$out" ] || ! kill -0 $! 2>/dev/null; do sleep 0.05; done
for change in pause resume "set interval 2s" "detach 4711"; do
	# shellcheck disable=SC2086 # words
	"$1" --socket "$2" $change >/dev/null || exit 1
done
wait $! || exit 1
sed 's/^[0-9:]\{8\} //' "$out"
