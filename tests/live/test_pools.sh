#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Threads of a process with names that differ only in numbers are one row of a table, with their number.
#
# Parallel: each thread does the same work, however long it takes.
. "$top_srcdir/tests/tap.sh"
need_sampling

cat >"$tmp/pool.c" <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>
volatile unsigned long sum;
static void *work(void *name)
{
	prctl(PR_SET_NAME, name);
	for (unsigned long i = 0; i < 60000000; i++)
		sum += i;
	return NULL;
}
int main(void)
{
	static char *const names[] = {"io-1-thread-7", "io-2-thread-9", "io-10-thread-7", "io-3-thread-8",
				      "pair-1", "pair-2", "alone 3"};
	pthread_t threads[7];
	for (int i = 0; i < 7; i++)
		pthread_create(&threads[i], NULL, work, names[i]);
	for (int i = 0; i < 7; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
END
$CC -O1 -pthread -o "$tmp/prog" "$tmp/pool.c" || exit 99
"$SPROF" record -q -o "$tmp/data" -- "$tmp/prog" || exit 99

# comms [OPTION]...: the names of threads in rows.
comms() {
	"$SPROF" report -i "$tmp/data" -q --percent-limit 2 "$@" 2>"$tmp/err" |
		grep -o 'io-[-0-9a-z*]*\( ([0-9]* threads)\)*\|pair-[12*]\( ([0-9]* threads)\)*\|alone 3' | sort -u >"$tmp/got"
}

printf '%s\n' 'alone 3' 'io-*-thread-* (4 threads)' 'pair-* (2 threads)' >"$tmp/pooled"
printf '%s\n' 'alone 3' io-1-thread-7 io-10-thread-7 io-2-thread-9 io-3-thread-8 pair-1 pair-2 >"$tmp/all"
comms
same "a pool is one row of the default table" "$tmp/pooled" "$tmp/got"
comms -s comm
same "and of names" "$tmp/pooled" "$tmp/got"
comms -s comm,tid
same "the key tid keeps threads apart" "$tmp/all" "$tmp/got"
comms -s comm --format json
same "so does JSON" "$tmp/all" "$tmp/got"
comms -s comm -c 'io-*-thread-*'
sed -n 2p "$tmp/pooled" >"$tmp/wanted"
same "its name is a filter" "$tmp/wanted" "$tmp/got"
comms -s comm,tid -c io-10-thread-7
echo io-10-thread-7 >"$tmp/wanted"
same "a thread's own name is one, too" "$tmp/wanted" "$tmp/got"
finish
