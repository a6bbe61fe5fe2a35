#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The filters --argument and --cmdline: patterns of what the keys argument and cmdline show, at the
# time of each sample. The sums over all values are those of the whole recording.
. "$top_srcdir/tests/cli/lib.sh"
cd "$tmp" || exit 99

# A make (1) forks a process (2) that becomes cc1, and then cc1 of another file. 3 is a fork of make,
# 4 has no command line.
recording data <<'END'
event cpu-clock
comm 1 1 make
command 1 0 make -j2
sample 0 1 1 0 1000 10 0x10
fork 2 1 2 2000
sample 0 2 2 0 2500 10 0x10
command 2 3000 cc1 -Wl,-O1 *src/a.c
sample 0 2 2 0 3000 10 0x10
sample 0 2 2 0 3500 10 0x20
sample 0 2 2 0 3600 10 0x20
command 2 4000 cc1 *src/b.c *b.h
sample 0 2 2 0 4000 10 0x10
fork 3 1 3 4100
sample 0 3 3 0 4200 10 0x10
comm 4 4 other
sample 0 4 4 0 5000 10 0x10
sample 0 4 4 0 5100 10 0x10
END

samples() {
	"$SPROF" report -q --format csv -s comm -i data "$@" 2>/dev/null |
		awk -F, 'NR > 1 { sum += $4 } END { printf "%.0f\n", sum }'
}

# passes SAMPLES OPTION...
# Number of samples that report and script show.
passes() {
	wanted=$1
	shift
	check "report $* lets $wanted samples pass" test "$(samples "$@")" = "$wanted"
	check "script $* lets $wanted samples pass" \
		test "$("$SPROF" script -i data -F tid "$@" | grep -c .)" = "$wanted"
}
passes 9 --argument '*'
passes 3 --argument src/a.c
passes 1 --argument 'src/b.c b.h'
passes 4 --argument 'src/*'
passes 4 --argument src/a.c,src/b.*
passes 4 --argument src/a.c --argument 'src/b*'
passes 3 --argument '-'
passes 2 --argument '[?]'
passes 3 --cmdline 'make -j2'
passes 3 --cmdline 'make *'
passes 3 --cmdline 'cc1 -Wl?-O1 *'
passes 7 --cmdline 'cc1 *','make*'
passes 2 --cmdline '[?]'
passes 3 --cmdline 'cc1 *' --argument '*a.c'
passes 1 --argument - --time ,0.000002
passes 2 --argument - --comms make --pid 1,2,3 --tid 1,3
passes 0 --cmdline make
passes 0 --argument a.c

# sums KEY OPTION...: every row of the key, as its own filter, has the weight of the row, and all of
# them have the total.
sums() {
	key=$1
	shift
	"$SPROF" report -q --format json -s "$key" -i data "$@" | grep '"self_weight"' >rows
	total=0 whole=$(weight "$@")
	while IFS= read -r row; do
		value=$(echo "$row" | sed -n "s/.*\"$key\": \"\([^\"]*\)\".*/\1/p" | tr , '?')
		of_row=$(echo "$row" | sed 's/.*"self_weight": \([0-9]*\).*/\1/')
		got=$(weight "--$key" "${value:-[?]}" "$@")
		[ "$got" = "$of_row" ] || not_ok "--$key '$value' $* has $got, not $of_row"
		total=$((total + got))
	done <rows
	check "--$key $*: the rows' filters have the whole weight, $whole" \
		test "$whole" -gt 0 -a "$total" = "$whole"
}

# Prints the weight of all rows.
weight() {
	"$SPROF" report -q --format json -s pid -i data "$@" 2>/dev/null |
		sed -n 's/.*"self_weight": \([0-9]*\).*/\1/p' | awk '{ sum += $1 } END { printf "%.0f\n", sum }'
}
sums argument
sums cmdline
sums cmdline --comms make

prints "the head counts what passes" sh -c \
	'"$SPROF" report -i data --argument "src/*" -s argument | grep -v "^  ! \|^    ->"' <<'END'
data
9 samples of cpu-clock, 90 ns of CPU time, none lost, filters pass 4 of them (44.4% of the time)
Percentages are of total CPU time; low-high is the 95% confidence interval.
The total is before filters; with --percentage relative it is what passes them.

  self   low-high  argument
33.33%  12.1-64.6  src/a.c
11.11%   2.0-43.5  src/b.c b.h
END
prints "folded stacks have what passes" \
	"$SPROF" report --format folded -i data --cmdline 'cc1 *' -c make <<'END'
make;[unknown] 4
END
"$SPROF" report -q --format json -i data --argument src/a.c >json
check "json counts what passes" \
	test "$(grep -o '"shown_[a-z]*": [0-9]*' json | tr '\n' ' ')" = \
	'"shown_samples": 3 "shown_weight": 30 '
head='self,self_low,self_high,self_samples,self_weight,total,total_low,total_high,total_samples,total_weight,argument'
prints "the nearest of each kind" \
	"$SPROF" report --format csv -s argument -i data -c make --argument a.c,src/a.x,zork <<END
$head
(stderr) sprof: data: no samples pass the filters
(stderr) sprof: no argument matches a.c; the nearest one is src/a.c
(stderr) sprof: no argument matches src/a.x; the nearest one is src/a.c
(stderr) sprof: no argument matches zork; 'sprof report -i data -s argument' lists all
END
prints "the nearest command line" \
	"$SPROF" report --format csv -s argument -i data --cmdline 'make -j3' -d nope <<END
$head
(stderr) sprof: data: no samples pass the filters
(stderr) sprof: no program or library is named nope; 'sprof report -i data -s dso' lists all
(stderr) sprof: no command line matches make -j3; the nearest one is make -j2
END
prints "of two options, the one that fits nothing" \
	"$SPROF" report --format csv -s argument -i data -c make -d nope <<END
$head
(stderr) sprof: data: no samples pass the filters
(stderr) sprof: no program or library is named nope; 'sprof report -i data -s dso' lists all
END
prints "what exists is not said to be missing" \
	"$SPROF" report --format csv -s argument -i data --cmdline 'make*' -c other <<END
$head
(stderr) sprof: data: no samples pass the filters
END

# Time without samples of two processes. One waits, and one forks a thread.
recording data <<'END'
event cpu-clock chain
event offcpu-time chain addr
arch x86_64
comm 7 7 main
command 7 0 main *one.txt
fork 8 7 8 5000000000
exec 8 8 worker
command 8 5000000000 worker *two.txt
switch 7 7 0 5000000000 in
switch 8 8 1 5000000000 in
sample 0 7 7 0 5050000000 1000000 0x401010 0x401010 0x401020
sample 0 8 8 1 5060000000 1000000 0x401030 0x401030 0x401040
with addr 203
sample 1 7 7 0 5100000000 500000000 0x401050 0x401050 0x401020
with
switch 7 7 0 5100000000 out
sample 0 8 8 1 5200000000 1000000 0x401030 0x401030 0x401040
switch 8 8 1 5300000000 preempt
switch 8 8 1 5350000000 in
switch 7 7 0 5600000000 in
fork 7 7 9 5600000000
switch 7 9 1 5600000000 in
with addr 36
sample 1 8 8 1 5600000000 400000000 0x401070 0x401070 0x401040
with
switch 8 8 1 5600000000 out
switch 7 9 1 5620000000 out
sample 0 7 7 0 5700000000 1000000 0x401010 0x401010 0x401020
switch 7 7 0 6000000000 out
END
sums argument -e cpu-clock --mode cpu
sums cmdline -e cpu-clock --mode cpu --time 5.04,5.65
for mode in wall off-cpu latency; do
	sums argument --mode $mode
	sums cmdline --mode $mode --time 5.04,5.65
done
"$SPROF" report -q --mode wall --all-threads --format json -s tid -i data --argument one.txt >got
"$SPROF" report -q --mode wall --all-threads --format json -s tid -i data --pid 7 >wanted
same "the threads of a command line are those of its process" wanted got

recording none <<'END'
event cpu-clock
comm 1 1 make
sample 0 1 1 0 1000 10 0x10
END
prints "no recorded command line" "$SPROF" report --format csv -s argument -i none --argument x,y <<END
$head
(stderr) sprof: none: no samples pass the filters
(stderr) sprof: the recording has no command lines; 'sprof record --command-lines' records them
END
finish
