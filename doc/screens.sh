#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# doc/screens.sh BUILD <README >README.new: copies a document and replaces each screen, the lines
# indented below "$ sprof ...", by that command's present output. Demo recordings of
# 5 seconds are made in a temporary folder. "./bootstrap demo" builds what it needs.
# "$ sprof COMMAND ...   keys: KEYS" is run in a terminal of tmux, after these keys.
set -eu
build=$(cd "$1" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/bin"
ln -s "$build/src/sprof" "$folder/bin/sprof"
cp "$build/tests/workload/proportions" "$folder/"
PATH=$folder/bin:$PATH
export COLUMNS=80

# browse COMMAND KEYS: prints the screen after the keys, without the keys of the last line.
browse() {
	terminal="tmux -L screens-$$ -f /dev/null"
	LC_ALL=C.UTF-8 $terminal -u new-session -d -x 80 -y 16 "cd '$folder' && $1"
	for key in '' $2; do
		[ -z "$key" ] || $terminal send-keys "$key"
		sleep 2
	done
	$terminal capture-pane -p | sed '1d;$d'
	$terminal kill-server
}

screen=
while IFS= read -r line; do
	case $line in
	'	$ '*)
		printf '%s\n' "$line"
		# The head of a recording names this machine and its folders.
		command=${line#?$ }
		case $command in
		*'   keys: '*) browse "${command%%   keys: *}" "${command##*keys: }" ;;
		*) (cd "$folder" && sh -c "$command" </dev/null 2>/dev/null) ;;
		esac |
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
