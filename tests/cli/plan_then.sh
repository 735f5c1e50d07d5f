#!/bin/sh
# SPDX-License-Identifier: MIT
# plan_then.sh HMKCTL SOCKET WORDS...: record one interval, make a plan of it, then run HMKCTL with WORDS and the plan
# behind them.
set -eu
hmkctl=$1 socket=$2
shift 2
plan=$(mktemp)
trap 'rm -f "$plan"' EXIT
sh "$(dirname "$0")/record_then.sh" "$hmkctl" "$socket" plan schedule -o "$plan" > /dev/null
"$hmkctl" --socket "$socket" "$@" "$plan"
