#!/bin/sh
# SPDX-License-Identifier: MIT
# plan_then.sh HMKCTL SOCKET WORDS...: record one interval, make a plan of it, then run HMKCTL with WORDS and the plan
# behind them.
set -eu
hmkctl=$1 socket=$2
shift 2
file=$(mktemp)
trap 'rm -f "$file" "$file.plan"' EXIT
"$hmkctl" --socket "$socket" record "$file" --intervals 1 > /dev/null
"$hmkctl" plan schedule "$file" -o "$file.plan" > /dev/null
"$hmkctl" --socket "$socket" "$@" "$file.plan"
