#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# -T on a terminal: threads of a process with one name are one row, with their number and their sums.
# Files and JSON have all threads.
# Parallel: sums of one recording are compared with each other.
. "$top_srcdir/tests/tap.sh"
need_sampling
command -v script >/dev/null || skip_all "needs script (util-linux)"
command -v python3 >/dev/null || skip_all "needs python3"
unset SPROF_PAGER PAGER NO_COLOR COLUMNS
cd "$tmp" || exit 99

cat >server.c <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>
static void *work(void *name)
{
	if (name)
		prctl(PR_SET_NAME, name);
	for (int i = 0; i < 30; i++) {
		volatile unsigned sum = 0;
		for (unsigned j = 0; j < 100000; j++)
			sum += j;
		usleep(5000 + 100 * (unsigned)i);
	}
	return NULL;
}
int main(void)
{
	static char *const names[] = {"conn-1", "conn-2", "conn-3", "conn-10", "flusher", NULL, NULL};
	pthread_t threads[7];
	for (int i = 0; i < 7; i++)
		pthread_create(&threads[i], NULL, work, names[i]);
	for (int i = 0; i < 7; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
END
# shellcheck disable=SC2086 # may be two words
$CC -O1 -pthread -o server server.c || exit 99
cat >two.sh <<'END'
./server & ./server & wait
END
"$SPROF" record -q --off-cpu -o data sh two.sh >err 2>&1 || skip_all "$(tail -n 1 err)"

script -qec "stty cols 100; SPROF_PAGER=cat TERM=dumb $SPROF report -T --all-threads -i data" \
	typescript </dev/null >screen 2>&1
"$SPROF" report -T --all-threads -i data --format json >json 2>err
cat >compare.py <<'END'
import collections, json, re
sums, threads = collections.Counter(), collections.defaultdict(set)
for row in json.load(open("json"))["events"][0]["rows"]:
    name = re.sub("[0-9]+", "*", row["comm"])
    if name in ("conn-*", "flusher"):
        sums[name] += row["self_weight"]
        threads[name].add(row["tid"])
screen = open("screen").read().replace("\r", "")
print({name: len(tids) for name, tids in sorted(threads.items())})
rows = re.findall(r"^ *([0-9.]+)% .*?(conn-\*|flusher)( \(([0-9]+) threads\))? +([0-9]+) +\[",
                  screen, re.M)
print(sorted({(name, number, pid) for _, name, _, number, pid in rows})
      == sorted({(name, "4" if name == "conn-*" else "", pid) for _, name, _, _, pid in rows}),
      len({pid for *_, pid in rows}))
whole = sum(float(row[0]) for row in rows if row[1] == "conn-*")
total = json.load(open("json"))["events"][0]["weight"]
# Each shown share is rounded, and rows below the limit are not shown.
print(abs(whole - 100 * sums["conn-*"] / total) < 2)
END
python3 compare.py >got 2>err
comment "$(cat screen err)"
cat >wanted <<'END'
{'conn-*': 8, 'flusher': 2}
True 2
True
END
same "threads of a name and process are one row, and sum to the threads of JSON" wanted got
check "threads with the program's name are counted" grep -q 'server (3 threads)' screen
check "a line names the option for each thread" grep -q -e '-T --percent-limit 0 shows each' screen
script -qec "stty cols 80; SPROF_PAGER=cat TERM=dumb $SPROF report -T --all-threads -i data --percent-limit 0" \
	typescript </dev/null >each 2>&1
check "--percent-limit 0 shows each thread" grep -q 'conn-10 ' each
"$SPROF" report -T --all-threads -i data >pipe 2>err
check "so does a pipe" grep -q 'conn-10 ' pipe
finish
