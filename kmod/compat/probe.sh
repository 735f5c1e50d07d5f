#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# probe.sh DIR COMPILER FLAGS...: print -DHMK_HAVE_<NAME> for each DIR/<name>.c
# that compiles against the kernel the flags point at.
dir=$1
shift
for source in "$dir"/*.c; do
	name=$(basename "$source" .c | tr '[:lower:]' '[:upper:]')
	if "$@" -Werror -DMODULE -fsyntax-only "$source" >/dev/null 2>&1; then
		printf ' -DHMK_HAVE_%s' "$name"
	fi
done
