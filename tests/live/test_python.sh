#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Functions and lines of CPython, which are read from its memory: shares as the program measures them.
. "$top_srcdir/tests/tap.sh"
need_sampling
script=$top_srcdir/tests/workload/frames.py

python=
for candidate in /usr/bin/python3 "$(command -v python3)"; do
	[ -z "$python" ] && "$candidate" -c '
import sys
sys.exit(not ((3, 11) <= sys.version_info[:2] <= (3, 14)))' 2>"$tmp/err" && python=$candidate
done
[ -n "$python" ] || skip_all "needs Python 3.11 to 3.14"
"$SPROF" record -q --call-graph dwarf -o "$tmp/data" true 2>"$tmp/err" ||
	skip_all "$(tail -n 1 "$tmp/err")"

# judge DATA: 1 if each function has its share of main(), within 6 of 100; then how many there are.
judge() {
	"$SPROF" report -i "$1" --children -s dso,function --format json >"$tmp/json" 2>"$tmp/err"
	"$SPROF" report -i "$1" --format folded 2>"$tmp/err" | awk '
		FILENAME == ARGV[1] { if ($1 == "share") truth[$2] = $3; next }
		{
			weight = $NF
			all += weight
			if ($0 !~ /;main( [(][^;]*)?;/)
				next
			inside += weight
			for (name in truth)
				if (index($0, ";" name ";"))
					sum[name] += weight
		}
		END {
			good = inside > 0.8 * all
			for (name in truth) {
				share = 100 * sum[name] / (inside + !inside)
				print "#", name, share, truth[name] >"/dev/stderr"
				good = good && share > truth[name] - 6 && share < truth[name] + 6
				count++
			}
			print "#", inside, "of", all >"/dev/stderr"
			print good + 0, count + 0
		}' "$tmp/truth" -
}

whole_command() {
	"$SPROF" record -q -F 997 --call-graph dwarf -o "$tmp/command" "$python" "$script" 1.5 \
		>"$tmp/truth" 2>"$tmp/err"
	comment "$(cat "$tmp/truth" "$tmp/err")"
	check "functions of a command have their shares" test "$(judge "$tmp/command")" = "1 3"

	"$SPROF" script -i "$tmp/command" -F ip,sym,srcline 2>"$tmp/err" |
		awk -v first="$(awk '$1 == "line" { print $3 }' "$tmp/truth")" '
			/^\t/ { is = $2 == "squares" || $2 ~ /^squares\+/; next }
			is && match($0, /frames\.py:[0-9]+/) {
				line = substr($0, RSTART + 10, RLENGTH - 10) - first
				# The loop has lines 2 and 3 of the function, and nearly all its time.
				if (line == 2 || line == 3) good++; else bad++
			}
			END { print "#", good + 0, bad + 0; exit !(good > 20 && bad < good / 10) }' >"$tmp/lines"
	check "lines of a function are those of its loop" test $? = 0
	cat "$tmp/lines"
}
noisy whole_command

# weights [OPTION]: sums of all self times, of Python functions, and of the evaluation function.
weights() {
	"$SPROF" report -i "$tmp/command" --format csv -s dso,function "$@" 2>"$tmp/err" | awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
		{ sum += $column["self_weight"] }
		$column["dso"] == "[python]" { python += $column["self_weight"] }
		$column["function"] == "_PyEval_EvalFrameDefault" { eval += $column["self_weight"] }
		END { printf "%.0f %.0f %.0f\n", sum, python, eval }'
}
read -r all python_all eval_all <<EOF
$(weights)
EOF
read -r all_folded python_folded eval_folded <<EOF
$(weights --no-interpreter-frames)
EOF
comment "all frames: $all $python_all $eval_all; folded: $all_folded $python_folded $eval_folded"
check "folding the interpreter's frames keeps the sum" test "$all" = "$all_folded"
check "all frames: Python functions have no self time" test "$python_all" = 0 -a "$eval_all" -gt 0
check "folded: the evaluation's time is the Python functions'" \
	test "$python_folded" -gt "$((eval_all / 2))" -a "$eval_folded" -lt "$((eval_all / 2))"
"$SPROF" report -i "$tmp/command" -d '[python]' -s srcline >"$tmp/out" 2>"$tmp/err"
check "text shows lines of Python code with self time" grep -q 'frames\.py:' "$tmp/out"
COLUMNS=200 "$SPROF" report -i "$tmp/command" --my-code -s function >"$tmp/out" 2>"$tmp/err"
check "text advises the lines of a Python function" \
	grep -q '^By lines: sprof report --my-code -s function,srcline ' "$tmp/out"
COLUMNS=200 "$SPROF" report -i "$tmp/command" --my-code -s function,srcline >>"$tmp/out" 2>"$tmp/err"
check "text advises neither its instructions nor its lines again" \
	test "$(grep -c -e 'sprof annotate' -e '^By lines' "$tmp/out")" = 1
"$SPROF" report -i "$tmp/command" --interpreter-frames >"$tmp/out" 2>"$tmp/err"
check "--interpreter-frames shows the evaluation function in text" \
	grep -q '_PyEval_EvalFrameDefault' "$tmp/out"

"$SPROF" record -q -F 997 --call-graph dwarf --no-python -o "$tmp/without" "$python" "$script" 0.2 \
	>"$tmp/out" 2>"$tmp/err" || not_ok "--no-python records" "$(cat "$tmp/err")"
"$SPROF" report -i "$tmp/without" --format folded >"$tmp/folded" 2>"$tmp/err"
check "--no-python: no Python functions" \
	test "$(grep -c ';main;' "$tmp/folded")" = 0 -a -s "$tmp/folded"

running() {
	"$python" "$script" 2.5 >"$tmp/truth" 2>"$tmp/err" &
	pid=$!
	"$SPROF" record -q -F 997 --call-graph dwarf -o "$tmp/attached" -p $pid 2>"$tmp/err"
	wait $pid
	comment "$(cat "$tmp/truth" "$tmp/err")"
	check "functions of a running process have their shares" test "$(judge "$tmp/attached")" = "1 3"
}
noisy running

cat >"$tmp/waits.py" <<'END'
import sys, threading, time

def key(i):
    return i * 7919 % 10007

def work():
    sorted(range(4000), key=key)

def short():
    time.sleep(0.002)

def longer():
    time.sleep(0.003)

def loop(end):
    while time.time() < end:
        short()
        longer()
        work()

end = time.time() + float(sys.argv[1])
threads = [threading.Thread(target=loop, args=(end,)) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
END
# The recorder preempts a thread to read it: with waits, that switch is a sample after the one to be read.
waiting() {
	"$python" "$tmp/waits.py" 3 >"$tmp/out" 2>"$tmp/err" &
	pid=$!
	sleep 0.3
	"$SPROF" record -q --off-cpu -o "$tmp/waits" -p $pid 2>"$tmp/err"
	wait $pid
	"$SPROF" info -i "$tmp/waits" 2>"$tmp/err" | tr -d ',' |
		sed -n 's/.*Python functions are missing at \([0-9]*\) of \([0-9]*\) .*/\1 \2/p' >"$tmp/missing"
	comment "missing: $(cat "$tmp/missing")"
	check "with waits, Python functions are missing at less than 15 % of the calls" \
		awk '100 * $1 >= 15 * $2 { exit 1 }' "$tmp/missing"
}
noisy waiting

# Each level of sorted() needs 2 KB of the stack: 25 of them exceed a copy.
cat >"$tmp/nested.py" <<'END'
import sys, time

def leaf(n):
    total = 0
    for i in range(n):
        total += i
    return total

def nested(depth):
    return leaf(20000) if depth == 0 else sorted([0], key=lambda _: nested(depth - 1))[0]

while time.thread_time() < float(sys.argv[1]):
    nested(60)
END
nested() {
	"$SPROF" record -q -F 997 --call-graph dwarf -o "$tmp/nested" "$python" "$tmp/nested.py" 0.7 \
		>"$tmp/out" 2>"$tmp/err"
	"$SPROF" report -i "$tmp/nested" --format folded 2>"$tmp/err" | awk '
		/truncated/ { truncated += $NF; if (/;nested;/ && /;leaf[ ;]/) named += $NF }
		END { print named + 0, truncated + 0 }' >"$tmp/named"
	comment "truncated stacks with Python functions: $(cat "$tmp/named")"
	check "truncated stacks have the Python functions of their frames" \
		awk '{ exit $2 < 20 || 100 * $1 < 70 * $2 }' "$tmp/named"
}
noisy nested

cat >"$tmp/deep.py" <<'END'
import sys, time

def spin(n):
    while n:
        n -= 1

def fall(depth):
    return fall(depth - 1) if depth else spin(100000)

sys.setrecursionlimit(4000)
while time.thread_time() < float(sys.argv[1]):
    fall(3000)
END
deep() {
	"$SPROF" record -q -F 997 --call-graph dwarf -o "$tmp/deep" "$python" "$tmp/deep.py" 0.7 \
		>"$tmp/out" 2>"$tmp/err"
	"$SPROF" report -i "$tmp/deep" --format folded 2>"$tmp/err" | awk '
		/;spin[ ;]/ { all += $NF }
		/;fall;[[]omitted Python frames];fall;.*;spin[ ;]/ { both += $NF }
		END { print both + 0, all + 0 }' >"$tmp/both"
	comment "stacks with both ends of 3000 calls: $(cat "$tmp/both")"
	check "deep stacks have the Python functions of both ends" \
		awk '{ exit $2 < 100 || 10 * $1 < 8 * $2 }' "$tmp/both"
}
noisy deep

mkdir "$tmp/files"
"$SPROF" record -q -F 997 --call-graph dwarf --switch-output=1s -o "$tmp/files/data" \
	"$python" "$script" 2 >"$tmp/out" 2>"$tmp/err"
named=0
for file in "$tmp/files"/data*; do
	# Another main(), as that of site.py, makes it "main (frames.py)".
	"$SPROF" report -i "$file" --format folded 2>"$tmp/err" |
		grep -Eq ';main( [(][^;]*)?;.*squares;' &&
		named=$((named + 1))
done
check "each file of --switch-output names its functions" test $named -ge 2

if command -v perf >/dev/null; then
	perf report -f -i "$tmp/command" --stdio >"$tmp/out" 2>"$tmp/perf"
	unsurprising "$tmp/command" "$tmp/perf"
	grep -v '^$' "$tmp/perf" | grep -v kptr_restrict >"$tmp/perf.rest"
	check "perf reads the recording without a complaint" test ! -s "$tmp/perf.rest"
	cat "$tmp/perf.rest" | sed 's/^/# /'
else
	skip "perf reads the recording without a complaint" "needs perf"
fi
finish
