#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Figures of a recording's quality agree between all that prints them: the end of `record`, the
# heads of `report` and `--explain`, the findings, `info` and JSON.
. "$top_srcdir/tests/tap.sh"
need_sampling
command -v python3 >"$tmp/python" || skip_all "needs python3, which reads JSON"
cd "$tmp" || exit 99
export XDG_CACHE_HOME="$tmp/cache" TMPDIR="$tmp" COLUMNS=1000

# Many processes: the waits of most ends get no sample.
"$SPROF" record --off-cpu --no-summary -o data -- sh -c '
	i=0
	while [ $i -lt 60 ]; do
		"$1" 10 0.002 50
		i=$((i + 1))
	done' sh "$workload/deep" >out 2>err
comment "$(cat err)"
"$SPROF" report --mode cpu -e cpu-clock,offcpu-time,preempted-time --format json -i data >cpu.json
check "record's part of complete stacks is that of the samples in the file" python3 - <<'END'
import json, re
said = re.search(r"stacks of (\d+) samples: ([\d.]+) % complete", open("err").read())
sums = {}
for event in json.load(open("cpu.json"))["events"]:
    for end, count in (event.get("stacks") or {}).items():
        sums[end] = sums.get(end, 0) + count
every = sum(sums.values())
print(sums, said.groups())
# A report may complete stacks, and find some that end where no thread begins.
assert int(said[1]) == every > 100
assert abs(float(said[2]) / 100 * every - sums["complete"]) <= 2
END

# Code without symbols in a program that waits: a view of time has its part of the time.
cat >code.c <<'END'
#include <time.h>
#include <unistd.h>
int main(void)
{
	for (int i = 0; i < 30; i++) {
		usleep(10000);
		for (volatile int j = 0; j < 3000000; j++)
			;
	}
	return 0;
}
END
$CC -O1 -s -o code code.c
"$SPROF" record -q --off-cpu --no-names -o data -- ./code
cat >agree.py <<'END'
import json, subprocess, sys
def run(*words):
    return subprocess.run([sys.argv[1], *words, "-i", "data"], capture_output=True, text=True,
                          check=True).stdout
for mode in "wall", "off-cpu", "latency":
    report = json.loads(run("report", "--format", "json", "--no-children", "--mode", mode))
    rows = [row for row in report["events"][0]["rows"] if row["dso"] == "code"]
    found = [f for f in report["findings"]
             if f.get("object") == "code" and f["kind"] == "no_symbols"]
    share = sum(row["self"] for row in rows)
    print(mode, share, found)
    assert abs(sum(f["share"] for f in found) - share) < 0.002
    assert all("(by time)" in f["text"] for f in found)
    assert mode == "off-cpu" or found
info = json.loads(run("info", "--findings", "--format", "json"))["findings"]
report = json.loads(run("report", "-g", "--format", "json"))["findings"]
assert [(f["text"], f.get("share")) for f in info] == [(f["text"], f.get("share")) for f in report]
heads = [run("report").split("\n"), run("report", "--explain").split("\n")]
found = [[line for line in head if line.startswith("  ! ")] for head in heads]
assert found[0] == found[1] and found[0]
assert "all events' samples have no symbols" in run("report", "--mode", "cpu")
END
check "findings are of the samples by time, as the table" python3 agree.py "$SPROF"

# One finding for the stacks of one cause.
cat >main.c <<'END'
void assembly(void);
int main(void)
{
	for (int i = 0; i < 30; i++)
		assembly();
	return 0;
}
END
cat >code.S <<'END'
	.globl assembly
	.type assembly, @function
assembly:
	sub $24, %rsp
	mov $20000000, %rcx
0:	dec %rcx
	jnz 0b
	add $24, %rsp
	ret
	.size assembly, . - assembly
	.section .note.GNU-stack, "", @progbits
END
if [ "$(uname -m)" = x86_64 ] && $CC -g -O2 -o blind main.c code.S 2>gcc; then
	"$SPROF" record -q -o data -- ./blind
	"$SPROF" info --findings --format json -i data >info.json
	check "a cause of incomplete stacks is one finding" python3 - <<'END'
import json
causes = {}
for f in json.load(open("info.json"))["findings"]:
    if f["kind"] == "truncated_stacks":
        causes.setdefault(f["cause"], []).append(f.get("object"))
print(causes)
assert causes["no_unwind_info"] == ["blind"]
END
else
	skip "one finding for a cause" "the assembly is x86_64's"
fi

# The same words for losses. The recorder is stopped, so that small buffers overflow.
"$SPROF" record -q -e cpu-clock:u -F 5000 --call-graph fp -m 16K -o data -- sh -c '
	kill -STOP $PPID; "$1" 10 0.3 50; kill -CONT $PPID; "$1" 10 0.2 50' sh "$workload/deep" >out
lost() {
	"$SPROF" report "$@" -i data | grep '^[0-9].* lost' | grep -o '[^,]* lost[^,]*' | head -n 1
}
same_losses() {
	comment "$(lost);$(lost --explain)"
	lost | grep -q '[1-9].*lost' && [ "$(lost)" = "$(lost --explain)" ]
}
check "report and --explain count the same lost samples" same_losses
finish
