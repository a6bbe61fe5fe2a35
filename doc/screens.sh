#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# doc/screens.sh BUILD <README >README.new: copies a document and replaces each screen, the lines
# indented below "$ sprof ...", by that command's present output. Demo recordings of
# 5 seconds are made in a temporary folder. "./bootstrap demo" builds what it needs.
set -eu
build=$(cd "$1" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/bin"
ln -s "$build/src/sprof" "$folder/bin/sprof"
cp "$build/tests/workload/proportions" "$folder/"
PATH=$folder/bin:$PATH
export COLUMNS=80
screen=
while IFS= read -r line; do
	case $line in
	'	$ '*)
		printf '%s\n' "$line"
		# The head of a recording names this machine and its folders.
		(cd "$folder" && sh -c "${line#?$ }" </dev/null 2>/dev/null) |
			awk '/^[0-9,]+ samples of / || / low.*high / { shown = 1 }
				shown { print (/./ ? "\t" : "") $0 }' | sed 's/[ \t]*$//'
		screen=1
		;;
	'	'*)
		[ -n "$screen" ] || printf '%s\n' "$line"
		;;
	*)
		[ -n "$screen" ] && [ -z "$line" ] || {
			[ -z "$screen" ] || echo
			screen=
			printf '%s\n' "$line"
		}
		;;
	esac
done
