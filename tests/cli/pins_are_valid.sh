#!/bin/sh
# SPDX-License-Identifier: MIT
# pins_are_valid.sh HMKCTL HMKD RECORDING: the last lines of `hmkctl plan pins` are a file that hmkd takes.
file=$(mktemp)
trap 'rm "$file"' EXIT
"$1" plan pins "$3" --tier 1=24MiB | sed -n '/^pins:/,$p' >"$file" && "$2" --check-config --config "$file"
