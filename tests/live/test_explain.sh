#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Answers of a bounded size: --explain has the numbers of the whole report, and names the time of functions
# with known phases. --limit leaves out the lighter rows and nodes, and says how many.
. "$top_srcdir/tests/tap.sh"
need_sampling
command -v python3 >"$tmp/python" || skip_all "needs python3, which reads JSON"
cd "$tmp" || exit 99
export XDG_CACHE_HOME="$tmp/cache" TMPDIR="$tmp"

"$SPROF" record --off-cpu --no-summary -F 997 -o data -- "$workload/phases" 0.3 >truth 2>err
"$SPROF" report --explain --format json -i data >short.json
"$SPROF" report --format json -g -s dso,function -i data --no-children >whole.json
check "functions, shares and samples are those of the report" python3 - <<'END'
import json
short, whole = json.load(open("short.json")), json.load(open("whole.json"))["events"][0]
rows = {(row["dso"], row["function"]): row for row in whole["rows"]}
assert short["hot"] and short["samples"] == whole["samples"] and short["weight"] == whole["weight"]
for hot in short["hot"]:
    row = rows[hot["dso"], hot["function"]]
    for name in "self", "self_low", "self_high", "self_samples", "self_times", "self_between_low":
        assert hot.get(name) == row.get(name), (hot, row)
assert [hot["self"] for hot in short["hot"]] == sorted((row["self"] for row in whole["rows"]),
    reverse=True)[:len(short["hot"])]
END
# A line has several instructions: its share is that of all.
"$SPROF" report --format json -s dso,function,srcline -i data --no-children >lines.json
check "the hottest lines are those of the report" python3 - <<'END'
import json
lines = {}
for row in json.load(open("lines.json"))["events"][0]["rows"]:
    if row.get("srcline"):
        at = row["dso"], row["function"]
        lines.setdefault(at, []).append((row["self"], row["srcline"]))
found = [hot for hot in json.load(open("short.json"))["hot"] if "srcline" in hot]
assert found
for hot in found:
    of = lines[hot["dso"], hot["function"]]
    assert hot["srcline_self"] == max(of)[0] and (max(of)[0], hot["srcline"]) in of, (hot, of)
END
cat >calls.c <<'END'
volatile unsigned x;
static __attribute__((noinline)) void leaf(int n) { for (int i = 0; i < n; i++) x = x * 31 + i; }
__attribute__((noinline)) void caller(void) { leaf(60000000); leaf(60000000); x++; }
int main(void) { caller(); leaf(80000000); x++; }
END
$CC -O1 -g -o calls calls.c
"$SPROF" record --no-summary -o calls.data -- ./calls 2>err
"$SPROF" report --explain --format json -i calls.data >short-calls.json
"$SPROF" report --format json -s dso,function -i calls.data --children >totals.json
check "callers have the report's totals, and start-up code is left out" python3 - <<'END'
import json
rows = json.load(open("totals.json"))["events"][0]["rows"]
totals = {(row["dso"], row["function"]): row["total"] for row in rows}
found = json.load(open("short-calls.json"))["totals"]
assert "caller" in [row["function"] for row in found], found
assert not {"main", "_start", "leaf"} & {row["function"] for row in found}, found
for row in found:
    assert row["total"] == totals[row["dso"], row["function"]], row
END
# Two functions, one after the other. Each prints the time of its begin.
cat >halves.c <<'END'
#include <stdio.h>
#include <time.h>
#define DEFINE(name)                                                                      \
	__attribute__((noinline)) unsigned name(unsigned x)                               \
	{                                                                                 \
		struct timespec now;                                                      \
		clock_gettime(CLOCK_MONOTONIC, &now);                                     \
		printf("%ld.%09ld\n", (long)now.tv_sec, now.tv_nsec);                     \
		for (unsigned i = 0; i < 200000000; i++)                                  \
			x = x * 31 + (i ^ x >> 3);                                        \
		return x;                                                                 \
	}
DEFINE(before)
DEFINE(after)
int main(int argc, char **argv)
{
	(void)argv;
	return after(before((unsigned)argc)) == 42;
}
END
$CC -g -O1 -o halves halves.c
halves() {
	"$SPROF" record --no-summary -F 997 -o halves.data -- ./halves >begins 2>err
	"$SPROF" report --explain --format json -i halves.data >halves.json
	check "each function is hot in its own time" python3 - <<'END'
import json
before, after = (float(line) for line in open("begins"))
report = json.load(open("halves.json"))
hot = {hot["function"]: hot for hot in report["hot"]}
part = report["duration_ns"] / 1e9 / 20
border = after - before
# The shortest time with 90 % of the samples.
assert hot["before"]["from_s"] < border / 4 and abs(hot["before"]["to_s"] - border) < border / 4 + part
assert abs(hot["after"]["from_s"] - border) < border / 4 + part and hot["after"]["to_s"] > border * 1.2
assert hot["before"]["stack"][-2:] == ["main", "before"], hot
END
}
noisy halves
"$SPROF" report --explain -i data >text
check "text names the same functions" python3 - <<'END'
import json
text = open("text").read()
for hot in json.load(open("short.json"))["hot"]:
    assert hot["function"] in text and "%.2f%%" % (100 * hot["self"]) in text, hot
END

# Names of any length and content fit.
cat >long.c <<'END'
#define A(n) n##0123456789012345678901234567890123456789012345678901234567890123456789_the_end_of_a_long_name
#define DEFINE(n) __attribute__((noinline)) unsigned A(n)(unsigned x)                     \
	{                                                                                 \
		for (unsigned i = 0; i < 40000000; i++)                                   \
			x = x * 31 + (i ^ x >> 3);                                        \
		return x;                                                                 \
	}
DEFINE(a) DEFINE(b) DEFINE(c) DEFINE(d) DEFINE(e)
int main(int argc, char **argv)
{
	(void)argv;
	return (A(a)(argc) + A(b)(argc) + A(c)(argc) + A(d)(argc) + A(e)(argc)) == 42;
}
END
$CC -g -O1 -o long long.c && "$SPROF" record --no-summary -F 997 -o long.data -- ./long 2>err
for format in text json; do
	"$SPROF" report --explain --format $format -i long.data >answer
	check "$format has five functions in 4 KB" sh -c 'test "$(wc -c <answer)" -le 4096 &&
		test "$(grep -c "self_low\|% (" answer)" -eq 5'
done
for file in "$SPROF_CORPUS"/*/*.data; do
	for format in text json; do
		"$SPROF" report --explain --format $format -i "$file" >answer 2>err
		[ "$(wc -c <answer)" -le 4096 ] || echo "$format $file" >>larger
	done
done
check "no recording has a longer answer" test ! -e larger

"$SPROF" report --limit 2 -g -s function --format json -i data >limited.json
"$SPROF" report -g -s function --format json -i data >all.json
check "--limit leaves out rows and nodes, and counts them" python3 - <<'END'
import json
some, all = (json.load(open(name))["events"][0] for name in ("limited.json", "all.json"))
def totals(nodes):
    return [share for node in nodes for share in [node["total"]] + totals(node["children"])]
assert some["rows"] == all["rows"][:2]
assert some["rows_left_out"] == len(all["rows"]) - 2
assert abs(some["self_left_out"] - sum(row["self"] for row in all["rows"][2:])) < 1e-9
kept, whole = sorted(totals(some["tree"])), sorted(totals(all["tree"]))
assert 1 <= len(kept) and kept == whole[-len(kept):] and some["nodes_left_out"] == len(whole) - len(kept)
assert len(kept) <= 2 or kept[0] == kept[-1]
END
"$SPROF" report -q --limit 2 -s function -i data >text
check "text has as many rows" test "$(grep -c '%.*\[' text)" -eq 2
"$SPROF" report --limit 2 -s function --format csv -i data >csv
check "so has csv" test "$(wc -l <csv)" -eq 3
status "exports have all rows" 129 "$SPROF" report --limit 2 --format folded -i data
says "they say so" 'limit is for text, json and csv'
status "--explain is text or json" 129 "$SPROF" report --explain --format csv -i data

# Commands of 'sprof help changes': each half has its function.
"$SPROF" help changes >help
check "a task has the commands for changes within a recording" grep -q -- '--time 0%-50%' help
"$SPROF" record -q --no-summary -F 997 -o halves.data -- ./halves >begins 2>err
for half in before:0%-30% after:70%-100%; do
	"$SPROF" report -i halves.data --no-children -s function --time "${half#*:}" --limit 1 \
		--format csv >half.csv
	check "the hottest of --time ${half#*:}" grep -q "${half%:*}" half.csv
done

# A build's views are named; those of one process are not.
"$SPROF" record -q --no-summary -o several.data -- sh -c './halves >out; ./halves >out; true'
"$SPROF" report --explain -i several.data >several
check "--explain of several processes names --processes and -s argument" \
	grep -q 'report .*--processes.*-s argument' several
"$SPROF" report --explain -i halves.data >one
check "--explain of one process does not" sh -c '! grep -q -e --processes one'
finish
