#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The line with the hottest functions after a recording, and record and report in one command.
#
# Parallel: a line that is not printed in time is asked for again.
. "$top_srcdir/tests/tap.sh"
need_sampling
unset SPROF_PAGER PAGER NO_COLOR
export XDG_CACHE_HOME="$tmp/cache" TERM=dumb LC_ALL=C
cd "$tmp" || exit 99
case $SPROF in /*) ;; *) SPROF=$OLDPWD/$SPROF ;; esac
case $workload in /*) ;; *) workload=$OLDPWD/$workload ;; esac
export SPROF workload

# on_terminal COMMAND: runs it by a shell on a terminal; what that shows is in `shown`.
on_terminal() {
	script -qec "$1" /dev/null </dev/null >typescript 2>&1
	on_status=$?
	tr -d '\r' <typescript >shown
	return $on_status
}

# answered COMMAND: the same, again until the line is there: a loaded machine may not make it in time.
answered() {
	for _ in 1 2 3 4 5 6 7 8; do
		on_terminal "$1"
		! grep -q '^hottest: \|threads\{0,1\}: ' shown || return 0
	done
	return 1
}

program="$workload/proportions 1"
record="$SPROF record -e cpu-clock -F 997"
terminal= reason="needs script of util-linux"
on_terminal 'test -t 2' && terminal=1

if [ "$terminal" ] && ! answered "$record $program"; then
	reason="no analysis ends in time here"
	check "nothing is printed in place of the line" sh -c 'tail -n 1 shown | grep -q "samples, "'
elif [ "$terminal" ]; then
	check "record ends with the hottest functions" \
		sh -c 'tail -n 1 shown | grep -q "^hottest: .*; sprof report shows all\$"'
	check "they fit 80 columns" test "$(tail -n 1 shown | wc -c)" -le 81
	sed -n '$s/^hottest: //;$s/; sprof report.*//;$s/, /\n/g;$p' shown |
		sed 's/ >\{0,1\}[0-9.]*%.*//' >names
	rows=$(wc -l <names)
	check "there are up to three ($rows)" test "$rows" -ge 1 -a "$rows" -le 3
	"$SPROF" report --no-children --format csv 2>/dev/null |
		awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "function") column = i; next }
			{ print $column }' | head -n "$rows" >wanted
	same "they are the first rows of the report by self" wanted names
	# Bounds of the line, then of the report, which has a decimal more: a mark, low, high.
	{ sed -n '$s/^hottest: [^(]* (\([^)]*\)).*/\1/p' shown
		"$SPROF" report -q --no-children 2>/dev/null | sed -n '/%/{s/^ *[^ ]*% *//;p;q;}'; } |
		sed 's/^\([~*]*\) *\([0-9.]*\)- *\([0-9.]*\).*/\1 \2 \3/' >ranges
	check "the first one has the report's interval: $(tr '\n' ';' <ranges)" awk -F ' ' '
		{ mark[NR] = NF > 2 ? $1 : ""; low[NR] = $(NF - 1); high[NR] = $NF }
		END { l = low[1] - low[2]; h = high[1] - high[2]
			exit NR != 2 || mark[1] != mark[2] || l * l > 0.31 || h * h > 0.31 }' ranges

	answered "$record -o other.data $program"
	check "another file is named" grep -q '; sprof report other.data' shown
	answered "$record -o 'a file' $program"
	check "its name is quoted" grep -q "; sprof report 'a file'" shown
	long=$(printf '%070d' 1).data
	answered "$record -o $long $program"
	check "a long name is left out, and the line fits 80 columns" \
		sh -c 'grep "^hottest: [^;]*$" shown | awk "length > 80 { exit 1 } END { exit !NR }"'

	answered "$record --off-cpu $workload/waits 0.5 pipe"
	check "the last line of waits has the times by state" \
		sh -c 'tail -n 1 shown | grep -q "^[0-9.]* m\{0,1\}s of .* threads*: .* blocked$"'
	for how in -q --no-summary '-o -' --switch-output '-F 15' '-F 1 --delay 100000'; do
		on_terminal "$record $how $program >discarded"
		check "there is no such line with $how" sh -c '! grep -q hottest shown'
	done
	on_terminal "$record $program 2>messages"
	check "nor in a file" sh -c 'grep -q "samples, " messages && ! grep -q hottest messages shown'
	on_terminal "$record $program 2>&1 | cat >messages"
	check "nor in a pipe" sh -c '! grep -q hottest messages shown'
	answered "$record sh -c '$program; exit 7'"
	check "the status is the command's ($on_status)" test $on_status = 7
	check "and the line is printed" grep -q '^hottest: ' shown
	check "a file of another format is kept silent" sh -c '! grep -q "not a perf.data" shown'
else
	skip "record ends with the hottest functions" "$reason"
fi

# One command.
one_command() {
	rm -f sprof.data*
	status "sprof PROGRAM ends with the program's status" 7 "$SPROF" sh -c "$program; exit 7"
	"$workload/proportions" 0.1 | sed 's/[0-9][0-9]*/N/g' >plain
	sed 's/[0-9][0-9]*/N/g' out >recorded
	same "standard output is the program's alone" plain recorded
	check "the report goes to standard error" grep -Eq ' compress( |$)' err
}
noisy one_command
"$SPROF" info --format json >info
check "as record with these words" grep -q '"sprof", *"record", *"--", *"sh", *"-c"' info
check "the recorder's summary is printed once" test "$(grep -c 'samples, ' err)" = 1
if [ "$terminal" ]; then
	on_terminal "PAGER=cat $SPROF $program"
	check "on a terminal there is the report, and no answer" \
		sh -c 'grep -q " compress" shown && ! grep -q ^hottest shown'
fi
status "a signal that ends the program ends sprof" 143 \
	sh -c '"$SPROF" sh -c "\$workload/proportions 0.2; kill -TERM \$\$"; exit $?'
check "after the report" grep -Eq ' compress( |$)' err
mkdir bin
cp "$workload/proportions" bin/sp_proportions
status "a program is found in PATH" 0 env PATH="$tmp/bin:$PATH" "$SPROF" sp_proportions 0.2
check "and reported" grep -Eq ' compress( |$)' err
cp bin/sp_proportions bin/annotate
status "after --, a program may have the name of a command" 0 env PATH="$tmp/bin:$PATH" \
	"$SPROF" -- annotate 0.2
check "and it is reported" grep -Eq ' compress( |$)' err
rm -f sprof.data*
status "record -o x.html records and writes the page" 0 \
	"$SPROF" record -o x.html "$workload/proportions" 0.3
says "both are named" "x.html has the report of sprof.data"
check "the page is one" grep -q compress x.html
check "the recording is one" sh -c '"$SPROF" report -q -i sprof.data | grep -q compress'
status "record -o x.folded ends as the program does" 143 \
	"$SPROF" record -q -o x.folded sh -c "\$workload/proportions 0.3; kill -TERM \$\$"
check "after it wrote the stacks" grep -q compress x.folded

# The commands that 'sprof help TASK' lists, with a program and a function of their own.
for task in hot lines callers waits threads latency flamegraph; do
	rm -f sprof.data*
	"$SPROF" help $task | sed -n 's/^  \(sprof [a-z]* [^ ].*\)/\1/p; s/^  \(sprof report\)$/\1/p' |
		sed 's/   .*//; s/ --open//; s/FUNCTION/compress/' |
		sed "s|[.]/program|$workload/proportions 0.3|; s|^sprof|\"\$SPROF\"|" >commands
	check "sprof help $task: its commands work" sh -ec '[ -s commands ]; . ./commands >out 2>&1'
	check "sprof help $task: they show functions, threads or reasons" \
		sh -c '[ "$0" = flamegraph ] || grep -Eq "compress|proportions|CPU" out' $task
done
rm -f sprof.data*
status "a path that is not there" 127 "$SPROF" ./not-there
says "it is printed" "cannot run ./not-there: No such file"
check "nothing is reported" test ! -s out -a ! -e sprof.data
"$SPROF" "$workload/proportions" 60 >out 2>err &
recorder=$!
left=200
until [ -s sprof.data ] || [ $left = 0 ]; do
	sleep 0.1
	left=$((left - 1))
done
sleep 0.5
kill -TERM $recorder
wait $recorder
check "SIGTERM ends the recording, and a report follows" grep -Eq ' compress( |$)' err
finish
