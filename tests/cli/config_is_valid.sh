#!/bin/sh
# SPDX-License-Identifier: MIT
# config_is_valid.sh HMKCTL SOCKET HMKD: what `hmkctl config` prints is a file that hmkd takes.
file=$(mktemp)
trap 'rm "$file"' EXIT
"$1" --socket "$2" config >"$file" && "$3" --check-config --config "$file"
