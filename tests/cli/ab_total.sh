#!/bin/sh
# SPDX-License-Identifier: MIT
# ab_total.sh HMKCTL SOCKET: a total that grows by 1000 a second, whoever asks; what hmkctl makes of it, rounded. Not the verdict's
# word: by chance one run in twenty finds a change where there is none.
set -eu
"$1" --socket "$2" --json ab 4711 --metric "date +%s%3N" --metric-kind total --block 300ms --settle 20ms --within 50% |
	sed -n 's/^ *"metric": "\(.*\)",$/metric \1/p; s/^ *"\(verdict\)": "[a-z]*",$/\1/p; s/^ *"figure": \([0-9]\)\([0-9]*\)\..*/\1 \2/p' |
	awk '$1 ~ /^[0-9]$/ { per_second = ($1 $2) + 0; if (per_second < 500 || per_second > 2000) print "a block of " per_second; next } { print }'
