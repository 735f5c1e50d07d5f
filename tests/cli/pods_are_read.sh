#!/bin/sh
# SPDX-License-Identifier: MIT
# pods_are_read.sh HMK_PODS HMKD PODLIST: what hmk-pods makes of a list of pods is a file that hmkd takes.
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
"$1" --allow mode,weight,caps --manage app=redis --render "$3" >"$folder/60-pods.yaml" && cat "$folder/60-pods.yaml" &&
	"$2" --check-config --config-dir "$folder"
