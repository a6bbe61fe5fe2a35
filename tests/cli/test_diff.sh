#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# sprof diff: verdicts of runs with a known difference, its formats, refusals and exit statuses. The numbers
# behind the verdicts are tested by tests/unit/test_diff.c.
. "$top_srcdir/tests/cli/lib.sh"
. "$top_srcdir/tests/cli/diff_recordings.sh"
export LC_ALL=C
cd "$tmp" || exit 99

# run FILE ALPHA BETA GAMMA [CMDLINE...]: makes a recording of three threads. The numbers are those of their
# samples, which stand for 1 ms each.
run() {
	file=$1 alpha=$2 beta=$3 gamma=$4
	shift 4
	{
		echo "event cpu-clock"
		echo "cmdline ${*:-sprof record -o x -- ./app}"
		awk -v a="$alpha" -v b="$beta" -v c="$gamma" 'BEGIN {
			split("alpha beta gamma", name, " ")
			count[1] = a; count[2] = b; count[3] = c
			for (i = 1; i <= 3; i++) {
				printf "comm 10 %d %s\n", 10 + i, name[i]
				for (j = 0; j < count[i]; j++)
					printf "sample 0 10 %d 0 %.0f 1000000 0x401000\n", 10 + i, 1000000000 + j * 1000000
			}
		}'
	} | recording "$file"
}
diff_of() { "$SPROF" diff -s comm "$@"; }

# beta takes 30 % more, gamma is gone.
i=0
for numbers in "400 200 20" "410 205 22" "395 198 19" "405 199 21"; do
	i=$((i + 1))
	# shellcheck disable=SC2086
	run "old.$i" $numbers
	set -- $numbers
	run "new.$i" $(($1 + i)) $(($2 * 13 / 10)) 0
done

prints "functions have verdicts, found changes first" diff_of -q old.? -- new.? <<'END'
verdict    base ms   new ms   change      95% interval  comm
slower       200.5    260.2   +29.8%   +17.5 to +43.2%  beta
gone          20.5        -        -                    gamma
same         402.5    405.0    +0.6%     -6.6 to +8.3%  alpha
END
"$SPROF" diff -s comm old.? -- new.? >got
check "the head has the total" grep -q '^total  +6.7%  (+3.8 to +9.6%)  slower$' got
check "the head has the command" grep -q '^base   4 runs of ./app, 623.5 ms of CPU time a run$' got

diff_of --format json old.? -- new.? >got.json
if command -v python3 >/dev/null; then
	python3 - got.json >got <<'END'
import json, sys
diff = json.load(open(sys.argv[1]))
rows = diff["rows"]
for side in "base", "new":
    print(side, round(sum(row[side] for row in rows)) == round(diff["total"][side]), len(diff[side]))
print(diff["verdict"], diff["by"], diff["unit"], [row["verdict"] for row in rows])
print(all(row["verdict"] == "gone" or row["change_low"] <= row["change"] <= row["change_high"] for row in rows))
END
	cat >want <<'END'
base True 4
new True 4
slower time ns ['slower', 'gone', 'same']
True
END
	same "JSON adds up" got want
else
	skip "JSON adds up" "no python3"
fi
diff_of --format csv old.? -- new.? | cut -d, -f1,2,3,10 >got
cat >want <<'END'
verdict,base,new,comm
slower,200500000,260250000,beta
gone,20500000,0,gamma
same,402500000,405000000,alpha
END
same "CSV has the same rows" got want
diff_of --format markdown old.? -- new.? | head -n 6 >got
cat >want <<'END'
**slower**: total +6.7% (+3.8 to +9.6%), 2 functions changed, by 4 and 4 runs

| verdict | base ms | new ms | change | 95% interval | comm |
|---|--:|--:|--:|--:|---|
| slower | 200.5 | 260.2 | +29.8% | +17.5 to +43.2% | <code>beta</code> |
| gone | 20.5 | - | - |  | <code>gamma</code> |
END
same "Markdown begins with the verdict" got want

# Exit statuses. Only the lower bound counts: beta is at least 17.5 % slower.
status_of() {
	diff_of "$@" >/dev/null 2>err
	echo $?
}
check "a new function fails by the total only" test "$(status_of --fail-on 20 new.? -- old.?)" = 0
check "without --fail-on: 0" test "$(status_of old.? -- new.?)" = 0
check "--fail-on below the lower bound: 1" test "$(status_of --fail-on 17% old.? -- new.?)" = 1
check "--fail-on above the bound: 0" test "$(status_of --fail-on 18 old.? -- new.?)" = 0
check "the same runs: 0" test "$(status_of --fail-on 5 old.? -- old.?)" = 0
check "one run of each: 2" test "$(status_of --fail-on 5 old.1 new.1)" = 2
check "nothing passes the filters: 2" test "$(status_of --fail-on 5 -c delta old.? -- new.?)" = 2
check "no such file: 125" test "$(status_of --fail-on 5 old.1 nothing)" = 125

# In new.1, alpha has 401 samples, one each ms, and beta 260. The header has the last sample's time, so
# that 50 % is after 130 ms: beta has 130 of the 401 samples after it.
diff_of --time 0%-50% --time 50%-100% new.1 >got
check "ranges name the sides" \
	test "$(sed -n 's/.* of .*, \(.*\) of the time$/\1/p' got | tr '\n' ' ')" = "0%-50% 50%-100% "
check "shares are those of the ranges" \
	test "$(awk '$NF == "beta" { print $1, $2 }' got)" = "50.0% 32.4%"
diff_of --time 0%-50% --time 50%-100% new.1 new.2 >got2
check "two recordings have a range each" grep -q '^new .* 50%-100% of the time$' got2
fails "a third range is refused" 129 diff_of --time 0%-50% --time 50%-100% --time 1,2 new.1 <<'END'
sprof: --time: '1,2' is not a range, as 0%-50% or +1.5,+3, at most twice
       'sprof diff --help' lists the options.
END

# A file's name chooses the format; names of formats that comparisons lack are refused.
for format in json:json csv:csv markdown:md folded:folded html:html text:out; do
	diff_of -o "got.${format#*:}" old.? -- new.? && diff_of --format "${format%:*}" -o want.x old.? -- new.?
	same "-o FILE.${format#*:} is ${format%:*}" "got.${format#*:}" want.x
done
fails "there is no picture" 129 diff_of -o diff.svg old.1 new.1 <<'END'
sprof: -o diff.svg: comparisons have no such format; --format selects text, json, csv, markdown, folded or html
       -o diff.html writes a page with a flame graph
END

if [ -c /dev/full ]; then
	diff_of --fail-on 50 old.? -- new.? >/dev/full 2>err
	check "a full disk is no change" test $? = 125
else
	skip "a full disk is no change" "no /dev/full"
fi

# One run a side has no verdict, in any format.
diff_of old.1 new.1 >got
check "one run a side has no verdict" sh -c '! grep -qE "^(slower|faster|same)" got'
check "and says how to get one" grep -q 'they need 3 runs of each side' got
check "nor in Markdown" sh -c '"$SPROF" diff -s comm --format markdown old.1 new.1 |
	grep -q "^[*][*]untested[*][*]: total +6.6%, by 1 and 1 runs$"'
check "nor in JSON" sh -c '"$SPROF" diff -s comm --format json old.1 new.1 | grep -q "\"verdict\": \"untested\""'

# One of four runs is nine times as long. Each output has the change of the columns that it shows.
for i in 1 2 3 4; do
	run "even.$i" $((100 + i)) 1000 20
	run "odd.$i" $((100 + i)) $((i == 4 ? 9000 : 1000)) 20
done
diff_of even.? -- odd.? >got
check "the change is that of the columns" grep -q '^?  *1000  *3000  *x3.0 ' got
check "also of the total" grep -q '^total  +178.*%  (' got
diff_of --format csv even.? -- odd.? | awk -F, 'NR > 1 {
	far = $4 - ($3 / $2 - 1)
	print $10, (far * far < 1e-12), ($5 <= $4 && $4 <= $6)
}' | sort >got
printf '%s 1 1\n' alpha beta gamma >want
same "and in CSV, inside its interval" got want
diff_of --format markdown even.? -- odd.? >got
check "and in Markdown" grep -qF '| 1000 | 3000 | x3.0 |' got

# Rows below 0.5 % are one row, unless the limit is lower.
for i in 1 2 3; do
	run "light.$i" 4000 10 10
done
diff_of --format csv light.? -- light.? | cut -d, -f12 | grep -c rest >got
diff_of --format csv --percent-limit 0 light.? -- light.? | grep -c ',\(alpha\|beta\|gamma\),' >>got
printf '1\n3\n' >want
same "--percent-limit 0 tests all rows" got want

# The forecast is plain English, and has no number that it does not know.
diff_of even.? -- odd.? | tr '\n' ' ' | tr -s ' ' | grep -o '?: inconclusive.*as these\.' >got
cat >want <<'END'
?: inconclusive. The total needs over 1000 runs of each side, the least certain row over 1000 runs. With them, 9 of 10 comparisons find a change or exclude one of 10 %, if runs differ as much as these.
END
same "the forecast is in words" got want

# Recorders of shared CPUs were killed before they noted the losses of the target.
killed() { # FILE SAMPLES LOST
	{
		echo "event cpu-clock"
		echo "cmdline sprof record -o x -- ./app"
		echo "comm 10 11 beta"
		echo "note 0 #44:0:0"
		awk -v n="$2" 'BEGIN { for (i = 0; i < n; i++)
			printf "sample 0 10 11 0 %.0f 1000000 0x401000\n", 1000000000 + i * 1000000 }'
		test "$3" = 0 || echo "full 0 $3 2000000000"
	} | recording "$1"
}
for i in 1 2 3; do
	killed "short.$i" $((1000 + i)) 0
	killed "long.$i" $((1800 + i)) 264000
	killed "whole.$i" $((2700 + i)) 0
done
diff_of --format csv short.? -- long.? | awk -F, 'NR == 2 { printf "%s %.3f %d\n", $1, $4, ($6 > 100) }' >got
echo "slower 0.798 1" >want
same "losses of unknown programs scale nothing, and widen the interval" got want
diff_of --format csv long.? -- whole.? | awk -F, 'NR == 2 { printf "%s %.3f\n", $1, $4 }' >got
echo "inconclusive 0.499" >want
same "and no verdict rests on them" got want
diff_of short.? -- long.? | tr '\n' ' ' | tr -s ' ' | grep -o 'Note: long.1 was interrupted.*allow for them' >got
echo "Note: long.1 was interrupted before it noted the target's losses: up to 264000 samples are missing; the intervals of rows allow for them" >want
same "a note has their number" got want

# A share changes if only others became slower: it is used where runs are not whole, and that is said.
for i in 1 2 3; do
	run "a.$i" $((400 + i)) 200 20 sprof record -a -o x -- sleep 1
	run "b.$i" $((400 + i)) 200 20 sprof record --duration 5 ./app
done
diff_of a.? -- b.? >got
check "parts of runs are compared by share" grep -q 'Note: a.1 is not one whole run of a command' got
for i in 1 2 3; do
	run "c.$i" $((400 + i)) 200 20 sprof record --off-cpu --pid 123 -- ./app
	run "d.$i" $((400 + i)) 200 20 sprof record --switch-output-event cycles --off-cpu -o x -- ./app
done
diff_of c.? -- d.? >got
check "an option's optional argument is no word of its own" grep -q 'Note: c.1 is not one whole run of' got
check "one that must follow is" sh -c '! grep -q "Note: d.1 is not" got'
check "and have no total" sh -c '! grep -q "^total" got'
diff_of --by time a.? -- b.? >got
check "--by time has a total" grep -q '^total  +0.0%' got
run c.1 400 200 20 sprof record -q ./app -a -p 3
diff_of c.1 c.1 >got
check "options of the command are none of record's" grep -q '^base   1 run of ./app -a -p 3, ' got

# Differences besides the program.
recording other <<'END'
event cycles
cmdline sprof record -- ./app
comm 10 10 alpha
sample 0 10 10 0 1000000000 1000000 0x401000
END
fails "other events are refused" 125 diff_of old.1 other <<'END'
sprof: old.1 has samples of cpu-clock, other of cycles; choose an event of both by -e, or record other with -e cpu-clock
END
recording empty <<'END'
event cpu-clock
comm 10 10 alpha
END
{
	echo "event offcpu-time"
	echo "cmdline sprof record --off-cpu -o x -- ./app"
	echo "comm 10 10 alpha"
	echo "sample 0 10 10 0 1000000000 5000000 0x401000"
} | recording waits
diff_of -e offcpu-time waits waits >got
check "waits are times, not of a CPU" grep -q '^base   1 run of ./app, 5.00 ms a run$' got
check "also in JSON" sh -c '"$SPROF" diff -s comm --format json waits waits | grep -q "\"unit\": \"ns\""'
fails "no samples are refused" 125 diff_of old.1 empty <<'END'
sprof: empty has no samples; 'sprof report -i empty' prints the reason
END
fails "three files need --" 129 diff_of old.1 old.2 new.1 <<'END'
sprof: which of these 3 files are the base? sprof diff BASE... -- NEW...
END
fails "a side needs a file" 129 diff_of -- new.1 <<'END'
sprof: no files before '--': sprof diff BASE... -- NEW...
END
fails "other keys are refused" 129 "$SPROF" diff -s pid old.1 new.1 <<'END'
sprof: -s, --sort: 'pid' is not a list of comm, dso, symbol or function, srcfile or srcline
       'sprof diff --help' lists the options.
END

# Folders of record --repeat, and the last two recordings.
mkdir both one
for i in 1 2 3; do
	cp old.$i both/base.$i.data
	cp new.$i both/new.$i.data
	cp new.$i one/base.$i.data
done
diff_of -q old.1 old.2 old.3 -- new.1 new.2 new.3 >want
diff_of -q both >got
same "a folder has both sides" got want
diff_of -q both/base.1.data both/base.2.data both/base.3.data -- one >got
same "a folder stands for its runs" got want
cp old.1 sprof.data.old
cp new.1 sprof.data
diff_of -q old.1 new.1 >want
diff_of -q >got
same "without files: the last two recordings" got want

head -c $(($(wc -c <old.2) / 2)) old.2 >cut
diff_of old.1 cut old.3 -- new.1 new.2 new.3 2>err | tr '\n' ' ' | tr -s ' ' >got
check "a note names a damaged run" grep -q 'Note: cut is damaged or was not finished: its times' got

# perf compares the same two files: times, and differences of shares.
if command -v perf >/dev/null && perf diff -t , -s comm -c ratio -p old.1 new.1 >perf.out 2>/dev/null; then
	for by in time share; do
		columns=delta
		test $by = time && columns="ratio -p"
		# shellcheck disable=SC2086
		perf diff -t , -s comm -c $columns old.1 new.1 2>/dev/null | awk -F, -v by=$by '/^[0-9]/ {
			gsub(/[ %]/, "")
			if (by == "time")
				print $5, $2 + 0, $4 + 0
			else if ($2 != "")
				printf "%s %.2f\n", $3, $2
		}' | sort >want
		diff_of --by $by --format csv old.1 new.1 | awk -F, -v by=$by 'NR > 1 {
			if (by == "time")
				print $10, $2 + 0, $3 + 0
			else if ($3 > 0)
				printf "%s %.2f\n", $10, 100 * ($3 - $2)
		}' | sort >got
		check "perf diff has rows ($by)" test -s want
		same "and changes are those of perf diff ($by)" got want
	done
else
	skip "changes are those of perf diff" "no perf"
fi

# Exact CPU times of runs.json are the total's, if all runs have one, and all of a run is compared.
for i in 1 2 3; do
	echo "{\"file\": \"base.$i.data\", \"side\": \"base\", \"task_clock_ns\": 60000000$i, \"load\": 1},"
	echo "{\"file\": \"new.$i.data\", \"side\": \"new\", \"task_clock_ns\": 61200000$i, \"load\": 1},"
done >both/runs.json
diff_of both >got
check "the total is counted" grep -q '^total  +2.0%  (+2.0 to +2.0%)  slower$' got
check "which the head states" grep -q '^base   3 runs of ./app, 600.0 ms of CPU time a run, counted$' got
diff_of -c alpha both >got
check "a part of a run has no count" grep -q '^base   3 runs of ./app, 401.7 ms of CPU time a run$' got
sed -i /base.2/d both/runs.json
diff_of both >got
check "nor have runs without one" grep -q '^total  +6.' got
rm both/runs.json

# Call trees: code with names of a perf map. hash_find gets another name, and parse becomes slower.
call_recordings
set -- --symfs root call-old.? -- call-new.?
"$SPROF" diff "$@" >got
check "the tree shows where" grep -q '^found slower below main > run > parse: 402.0, now 602.0 ms in total$' got
check "and not its callers" sh -c '! grep -q "below main > run:" got'
sh -c 'tr "\n" " " <got' | grep -qF 'hash_find (gone) and hash_lookup (new) may be one function'
check "a rename is suggested" test $? = 0
check "and both rows stay" sh -c 'test "$(grep -cE "^(new|gone) .* hash_" got)" = 2'
tr '\n' ' ' <got | grep -q 'cpu-clock is compared; .*-e compares: page-faults'
check "other events are named" test $? = 0
"$SPROF" diff --format json "$@" >got
check "JSON has the place" grep -q '"path": \["main", "run", "parse"\]' got
check "and the rename" grep -q '"function": "hash_find", "other_name": "hash_lookup"' got
prints "folded stacks have two counts" "$SPROF" diff --format folded "$@" <<'END'
main;run;hash_find 102000000 0
main;run;hash_lookup 0 102000000
main;run;parse 402000000 602000000
END
prints "-e chooses the event" "$SPROF" diff --format folded -e page-faults,cpu-clock "$@" <<'END'
main;run;parse 1 1
END

# Names of unknown origin neither reach a terminal nor make Markdown.
{
	echo "event cpu-clock"
	echo "comm 10 10 \\x1b[31m|<b>"
	for i in 1 2 3 4 5 6 7 8 9; do
		echo "sample 0 10 10 0 100000000$i 1000000 0x401000"
	done
} | recording bad
diff_of --format markdown bad bad >got
check "escapes do not reach Markdown" sh -c '! grep -q "$(printf "\033")" got'
{
	echo "event cpu-clock"
	echo "cmdline sprof record -o x -- ./app \\x1b[31m"
	echo "comm 10 10 app"
	echo "sample 0 10 10 0 1000000000 1000000 0x401000"
} | recording bad_words
diff_of bad_words bad_words >got2
check "nor do those of commands reach a terminal" sh -c '! grep -q "$(printf "\033")" got2'
check "nor do markup and new cells" grep -qF '&#124;&#60;b&#62;' got
finish
