#!/bin/bash
# SPDX-License-Identifier: MIT
# completion.sh HMKCTL: bash completes what is typed; zsh and fish know all that `--help` knows.
set -u
hmkctl=$1 failed=0
eval "$("$hmkctl" completion bash)"

# completes WANTED WORDS...: the last of WORDS is being typed.
completes() {
	wanted=$1
	shift
	COMP_WORDS=(hmkctl "$@") COMP_CWORD=$# COMPREPLY=()
	_hmkctl
	[ "${COMPREPLY[*]}" = "$wanted" ] && return
	echo "hmkctl $*: completed to '${COMPREPLY[*]}', expected '$wanted'"
	failed=1
}
completes "status stats" st
completes "heatmap" --json he
completes "--record --rows" heatmap --r
completes "--json" heatmap --js
completes "--intervals" record status --int
completes "--socket" attach 4711 --so
completes "" status --rec
completes "" doctor --root # hidden
completes "mode move_time move_cost move move_bound" set mo
completes "socket socket_group" get so
completes "" set so # read at start only
completes "track-only dry-run manage" set mode ""
completes "manage" set --save mode m
completes "" set interval ""
completes "--save" set --sa

words=$("$hmkctl" --help | sed -n '/^Subcommands:/,$s/^  \([a-z]\+\) .*/\1/p')
[ "$(echo "$words" | wc -l)" -gt 15 ] || { echo "no verbs in --help"; failed=1; }
for shell in zsh fish; do
	script=$("$hmkctl" completion $shell)
	for word in $words record rows once json socket move_time tier-by-tier; do
		[[ $script == *$word* ]] || { echo "$shell does not know '$word'"; failed=1; }
	done
	[[ $script == *root* ]] && { echo "$shell shows a hidden option"; failed=1; }
	command -v $shell >/dev/null || continue
	echo "$script" | $shell -n || { echo "$shell refuses its script"; failed=1; }
done
exit $failed
