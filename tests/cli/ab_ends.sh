#!/bin/sh
# SPDX-License-Identifier: MIT
# ab_ends.sh END HMKCTL SOCKET ROOT: while hmkctl ab manages, end it by a signal, or let its metric fail. Then tell its
# code, what it said, the mode, and whether memory is back; after KILL nobody puts memory back.
set -eu
end=$1 hmkctl=$2 socket=$3 root=$4
now() { # of `hmkctl gain`
	"$hmkctl" --socket "$socket" --json gain 4711 | sed -n "s/^ *\"$1\": \"*\([^\",]*\)\"*,*\$/\1/p"
}
until_is() { # KEY VALUE: at most 10 s
	tries=0
	until [ "$(now "$1")" = "$2" ]; do
		tries=$((tries + 1))
		[ $tries -lt 500 ] || { echo "$1 is $(now "$1"), not $2"; return; }
		sleep 0.02
	done
	echo "$1 $2"
}
"$hmkctl" --socket "$socket" ab 4711 --metric "test ! -e $root/broken && cat $root/figure" --block 60ms --settle 200ms \
	--within 0% --pairs 100 --seed 1 >"$root/out" 2>"$root/err" &
ab=$!
until_is mode manage
case $end in
fails) : >"$root/broken" ;;
*) kill "-$end" $ab ;;
esac
code=0
{ wait $ab || code=$?; } 2>/dev/null # what the shell says of who was killed
echo "code $code"
sed "s,$root,ROOT,g" "$root/err"
until_is mode track-only
[ "$end" = KILL ] || until_is displaced_bytes 0
