#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The five hottest rows of a report, one by one: sprof annotate has the same samples in the head, or
# its message has the same share. Rows are of Python's collector, inlined copies, code without
# symbols, JIT code and the kernel.
# Parallel: no share is expected, only equal ones.
. "$top_srcdir/tests/tap.sh"
need_sampling
command -v python3 >/dev/null || skip_all "needs python3"
export XDG_CACHE_HOME="$tmp/cache"
unset SPROF_PAGER PAGER NO_COLOR COLUMNS
cd "$tmp" || exit 99

cat >collect.py <<'END'
class Node:
    def __init__(self, depth):
        self.me = self
        self.kids = [Node(depth - 1) for _ in range(3)] if depth else []

keep = []
for i in range(30):
    keep = keep[-5:] + [Node(7)]
END
cat >inlined.c <<'END'
#include <stdlib.h>
static inline __attribute__((always_inline)) unsigned mix(unsigned s)
{
	for (int i = 0; i < 50; i++)
		s = s * 1664525 + (s >> 7);
	return s;
}
__attribute__((noinline)) unsigned first(unsigned s) { return mix(s) + 1; }
__attribute__((noinline)) unsigned second(unsigned s)
{
	for (int i = 0; i < 20; i++)
		s += s >> 3;
	return mix(s) ^ 3;
}
int main(int argc, char **argv)
{
	unsigned s = (unsigned)argc;
	for (int i = 0; i < atoi(argv[1]); i++)
		s = first(s) + second(s);
	return (int)(s & 1);
}
END
cat >hot.js <<'END'
function cell(i) { let s = 0; for (let j = 0; j < 300; j++) s += Math.sqrt(i * j); return s; }
let t = 0;
for (let i = 0; i < 60000; i++) t += cell(i) + JSON.stringify({a: i, b: [i]}).length;
console.log(t > 0);
END

# differ FILE: prints the rows with other samples, and how many rows were compared.
differ() {
	"$SPROF" report -i "$1" --format json --no-interpreter-frames --no-children \
		-s dso,function >report.json 2>err
	python3 - "$SPROF" "$1" 2>>err <<'END'
import json, subprocess, sys
sprof, file = sys.argv[1:]
event = json.load(open("report.json"))["events"][0]
rows = sorted(event["rows"], key=lambda row: -row["self_weight"])[:5]
same = 0
for row in rows:
    command = [sprof, "annotate", "-i", file, "-d", row["dso"], "--format", "json", "--no-source",
               row["function"]]
    run = subprocess.run(command, capture_output=True, text=True)
    share = "%.2f%% of" % (100 * row["self"])
    if run.returncode:
        good = share in run.stderr
    else:
        shown = json.loads(run.stdout).get("report_row", {})
        good = (shown.get("samples") == row["self_samples"] and
                shown.get("weight") == row["self_weight"])
        text = subprocess.run([sprof, "annotate", "-i", file, "-d", row["dso"], row["function"]],
                              capture_output=True, text=True).stdout.splitlines()
        # A share of few samples has more decimals than text.
        good = good and len(text) > 1 and text[1].startswith("%.2f%% (" % (100 * row["self"]))
    same += good
    if not good:
        print(row["function"], row["dso"], share, run.returncode, run.stderr)
print(same == len(rows) and same > 1)
END
	cat err | sed 's/^/# /' >&2
}

# compare NAME COMMAND [ARG]...
compare() {
	name=$1
	shift
	rm -f data
	"$SPROF" record -q -F 997 -o data -- "$@" >out 2>err
	if [ ! -s data ]; then
		skip "$name: rows are those of annotate" "$(tail -n 1 err)"
		return
	fi
	got=$(differ data)
	comment "$got"
	check "$name: rows are those of annotate" test "$(echo "$got" | tail -n 1)" = True
}

compare python python3 collect.py
# shellcheck disable=SC2086 # may be two words
if ${CC:-cc} -O2 -g -o inlined inlined.c 2>err; then
	compare C ./inlined 1000000
	got=$("$SPROF" annotate -i data second 2>&1 | sed -n 2p)
	check "inlined code has a row of its own: $got" test "${got#*inlined functions}" != "$got"
	compare compiler ${CC:-cc} -O2 -c -o inlined.o inlined.c
fi
command -v node >/dev/null && compare node node --perf-basic-prof hot.js
compare kernel sh -c 'i=0; while [ $i -lt 150 ]; do ls / >/dev/null; i=$((i + 1)); done'
finish
