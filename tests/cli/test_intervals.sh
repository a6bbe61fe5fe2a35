#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Between-run intervals of report. R computed the numbers: the functions are in tests/unit/test_interval.c.
. "$top_srcdir/tests/cli/lib.sh"
export LC_ALL=C
cd "$tmp" || exit 99
report() { "$SPROF" report "$@"; }

# made FILE EACH [WORD]...: a command with 20 parts of 50 samples each. "steady" has 15 of each part, "burst" EACH, or
# 30 of every fourth if EACH is 0.
made() {
	name=$1 each=$2
	shift 2
	awk -v each="$each" -v command="$*" 'BEGIN {
		print "event cpu-clock"
		print "cmdline sprof record -o x -- " command
		print "span 1000 20999"
		split("steady burst other", names)
		print "mmap 1 0x400000 65536 0 /nowhere"
		if (command ~ /part/) print "note 1000 #57"
		for (i = 1; i <= 3; i++) print "comm 1", i, names[i]
		for (i = 0; i < 1000; i++) {
			part = int(i / 50); at = i % 50
			of = each ? each : part % 4 ? 0 : 30
			task = at < 15 ? 1 : at < 15 + of ? 2 : 3
			print "sample 0 1", task, 0, 1000 + i * 20, 10, 0x401000
		}
	}' | "$top_builddir/tests/cli/recording" "$name" || exit 99
}
made one.data 0 ./demo
# columns: comm and bounds of the CSV
columns() { awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
	{ printf "%s %.4f %.4f %.4f %.4f\n", $c["comm"], $c["self_low"], $c["self_high"],
		$c["self_between_low"], $c["self_between_high"] }'; }

# parts(rep(c(30,0,0,0),5), rep(50,20), 1000): 0.0643 to 0.3118. "steady" never varies: Wilson for both.
report --format csv -s comm one.data | columns | grep -v other >got
cat >want <<'END'
steady 0.2724 0.3291 0.2724 0.3291
burst 0.1292 0.1735 0.0643 0.3118
END
same "a row that comes and goes has a wide between-run interval, others have not" got want
# parts(rep(c(5,35,35,35),5), rep(50,20), 1000): 0.4260 to 0.6681.
report -s comm one.data | sed '/^Perc/,$!d' >got
cat >want <<'END'
Percentages are of total CPU time; low-high is the 95% confidence interval.
~: for another run, as the share varies over time.

  self    low-high  comm
55.00%  ~42.6-66.8  other
30.00%   27.2-32.9  steady
15.00%  ~ 6.4-31.2  burst
END
same "text marks rows that vary, and states why" got want
prints "within" report -q -s comm --interval within one.data <<'END'
  self   low-high  comm
55.00%  51.9-58.1  other
30.00%  27.2-32.9  steady
15.00%  12.9-17.3  burst
END
report -s comm --interval between one.data | sed -n '/^Perc/,/^$/p; /steady/p' >got
cat >want <<'END'
Percentages are of total CPU time; low-high is the 95% confidence interval for another run.
~: for another run, as the share varies over time.

30.00%   27.2-32.9  steady
END
same "between" got want
for jobs in 1 4; do
	report -s comm --format json -j $jobs one.data >json$jobs
done
same "threads change nothing" json4 json1

# Totals have those of all samples below: g is called by f, which also calls itself.
{
	printf 'event cpu-clock chain\nspan 1000 20999\nmmap 1 0x400000 65536 0 /nowhere\ncomm 1 1 one\n'
	awk 'BEGIN { for (i = 0; i < 1000; i++) {
		inside = int(i / 50) % 4 == 0 && i % 50 < 30
		stack = inside ? "0x401000 0x401000 0x402000 0x402000" : "0x404000 0x404000"
		print "sample 0 1 1 0", 1000 + i * 20, 10, stack, "0x403000"
	} }'
} | "$top_builddir/tests/cli/recording" calls.data
report --format csv -s symbol calls.data | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
	{ printf "%s %.4f %.4f %.4f %.4f\n", $c["symbol"], $c["self_between_low"], $c["self_between_high"],
		$c["total_between_low"], $c["total_between_high"] }' | grep '0x[12]000' >got
cat >want <<'END'
0x2000 0.0000 0.0038 0.0643 0.3118
0x1000 0.0643 0.3118 0.0643 0.3118
END
sort got >sorted
sort want >wanted
same "a caller that recurs counts once" sorted wanted

# Numbers that views share.
report --format csv -s symbol calls.data >csv
report --format json -s symbol calls.data >json
report --explain --format json calls.data >explained
report -s symbol calls.data >text
check "CSV, JSON, --explain and text have the same intervals: $(
	python3 "$top_srcdir/tests/cli/intervals.py" csv json explained text 2>&1 | tail -n 1 | tee compared
) rows" grep -q '^[1-9][0-9]* [1-9][0-9]* [1-9][0-9]*$' compared

# Phases: "first", then "second", and "steady" with both. Their parts of time cannot stand for runs.
awk 'BEGIN {
	print "event cpu-clock"
	print "cmdline sprof record -o x -- ./demo"
	print "span 1000 20999"
	print "mmap 1 0x400000 65536 0 /nowhere"
	split("first second steady", names)
	for (i = 1; i <= 3; i++) print "comm 1", i, names[i]
	for (i = 0; i < 1000; i++) {
		task = i % 5 == 0 ? 3 : i < 500 ? 1 : 2
		print "sample 0 1", task, 0, 1000 + i * 20, 10, "0x40" task "000"
	}
}' | "$top_builddir/tests/cli/recording" phases.data || exit 99
report -s comm phases.data | sed '/^Perc/,$!d' >got
cat >want <<'END'
Percentages are of total CPU time; low-high is the 95% confidence interval.
*: of this run only, as the share varies; sprof record --repeat 5 compares runs.

  self    low-high  comm
40.00%  *37.0-43.1  first
40.00%  *37.0-43.1  second
20.00%   17.6-22.6  steady
END
same "text shows this run's interval if the other one is too wide" got want
report --format csv -s comm phases.data | columns | awk '$1 == "first" {
	print ($2 > 0.36 && $3 < 0.44 && $4 < 0.4 / 3 && $5 > 0.7) }' >got
echo 1 >want
same "CSV has both" got want
report -s comm --interval between phases.data | grep -c '%  *~' >got
echo 2 >want
same "text has the other one on request" got want
report --explain -s comm phases.data >explained
check "--explain has the same marks" \
	sh -c 'grep -q "(\*37.0-43.1)" explained && grep -q "^\*: of this run" explained'
report --format json -s dso,function phases.data >phases.json
report --format html phases.data >phases.html
check "the page has them" python3 "$top_srcdir/tests/cli/html.py" phases.html phases.json

# Three runs: their differences count, not those within a run.
for i in 1 2 3; do
	made same$i.data 0 ./demo
	made part$i.data 0 ./demo part
	made other$i.data 10 ./demo $i
done
made differs1.data 0 ./demo
made differs2.data 10 ./demo
made differs3.data 5 ./demo
report --format csv -s comm same?.data | columns | grep burst >got
echo "burst 0.1377 0.1632 0.1377 0.1632" >want
same "runs that are equal do not differ" got want
# runs(c(150,200,100), rep(1000,3), 3000): 0.026 to 0.274
report --format csv -s comm differs?.data | columns | awk '/burst/ { printf "%.2f %.2f\n", $4, $5 }' >got
echo "0.03 0.27" >want
same "runs that differ do" got want
report -s comm differs?.data | grep -A 2 '95%' >got
cat >want <<'END'
Percentages are of total CPU time; low-high is the 95% confidence interval.
~: for another run, as runs differ.

END
same "and text states it" got want
for kind in other part; do
	check "files of $kind commands have none" sh -c "! \"\$SPROF\" report --format csv -s comm $kind?.data | grep between"
done
check "nor on request" sh -c '! "$SPROF" report --format csv -s comm --interval within one.data | grep between'
check "two runs have none" sh -c '! "$SPROF" report --format csv -s comm same1.data same2.data | grep between'
fails "between needs runs" 1 report -s comm --interval between same1.data same2.data <<'END'
sprof: --interval between needs one finished recording, or at least 3 runs of one command
       it does not work with --mode, -b, --callers, --time, -s time, or files of one rotation
END
check "nor have ranges of time" sh -c '! "$SPROF" report --format csv -s comm --time 10%-50% one.data | grep between'
finish
