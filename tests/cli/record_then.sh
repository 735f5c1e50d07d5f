#!/bin/sh
# SPDX-License-Identifier: MIT
# record_then.sh HMKCTL SOCKET WORDS...: record one interval, then run WORDS with the file behind
# them: a verb of HMKCTL, or a program by its path.
set -eu
hmkctl=$1 socket=$2
shift 2
file=$(mktemp)
trap 'rm -f "$file"' EXIT
"$hmkctl" --socket "$socket" record "$file" --intervals 1 > /dev/null
case $1 in
*/*) "$@" "$file" 2> /dev/null ;;
*) "$hmkctl" "$@" "$file" ;;
esac
