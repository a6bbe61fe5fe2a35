#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Idle threads: reports leave out threads that wait for work, and show those that wait for a lock.
# Parallel: it compares names and numbers of threads.
. "$top_srcdir/tests/tap.sh"
need_sampling
command -v python3 >/dev/null || skip_all "needs python3"
cd "$tmp" || exit 99
export XDG_CACHE_HOME="$tmp/cache"

# Two threads wait for each other's mutex, one for a lock of readers, one in a pool for a job.
cat >bank.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <unistd.h>
static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t jobs = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t posted = PTHREAD_COND_INITIALIZER;
static void transfer(int from, int to)
{
	pthread_mutex_lock(&locks[from]);
	usleep(100000);
	pthread_mutex_lock(&locks[to]);
}
static void *run(void *name)
{
	prctl(PR_SET_NAME, name);
	switch (*(const char *)name) {
	case 'd':
		transfer(0, 1);
		break;
	case 'c':
		transfer(1, 0);
		break;
	case 'r':
		pthread_rwlock_rdlock(&table);
		break;
	case 'f':
		flock(open("lock", O_RDWR | O_CREAT, 0600), LOCK_EX);
		break;
	case 'p':
		pthread_mutex_lock(&jobs);
		for (;;)
			pthread_cond_wait(&posted, &jobs);
	default:
		for (;;) {
			for (volatile int i = 0; i < 1000000; i++)
				;
			usleep(10000);
		}
	}
	return NULL;
}
int main(void)
{
	static char *const names[] = {"debit", "credit", "reader", "file", "pool", "heartbeat"};
	pthread_t threads[6];
	pthread_rwlock_wrlock(&table);
	flock(open("lock", O_RDWR | O_CREAT, 0600), LOCK_EX);
	for (int i = 0; i < 6; i++)
		pthread_create(&threads[i], NULL, run, names[i]);
	usleep(300000);
	puts("ready");
	fflush(stdout);
	pthread_join(threads[0], NULL);
	return 0;
}
END
# shellcheck disable=SC2086 # may be two words
$CC -O1 -pthread -o bank bank.c || exit 99
./bank >ready &
bank=$!
wait_for() {
	for _ in $(seq 100); do
		! test -s ready || return 0
		sleep 0.1
	done
	return 1
}
check "the program is ready" wait_for
"$SPROF" record -q --off-cpu --duration 0.5 -o data -p $bank >err 2>&1
failed=$?
kill $bank
test $failed = 0 || skip_all "$(tail -n 1 err)"

# shown OPTION...: names of threads with rows, and the number of idle threads.
shown() {
	"$SPROF" report -i data --format json "$@" 2>err | python3 -c '
import json, sys
event = json.load(sys.stdin)["events"][0]
print(*sorted({row["comm"] for row in event["rows"]}), event["idle_threads"])'
}
cat >wanted <<'END'
credit debit file heartbeat reader 2
END
for options in -T "--mode wall -s comm" "--mode off-cpu -s comm" "--mode wall -s comm,waits_for"; do
	# Several words.
	shown $options >got
	same "$options: threads that wait for locks have rows" wanted got
done
echo "heartbeat 2" >wanted
shown --mode wall -s comm --comms heartbeat >got
same "filters do not change which threads are idle" wanted got
echo "bank credit debit file heartbeat pool reader 0" >wanted
shown -T --all-threads >got
same "--all-threads shows the others" wanted got
finish
