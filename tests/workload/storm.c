/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * storm COUNT SECONDS LIFE_MS [chain]: COUNT threads share the CPUs; each ends
 * after LIFE_MS of CPU time and is replaced, by main or (chain) by a successor
 * that it makes itself: threads are made all the time.
 *
 * SIGUSR1 marks a moment, and SECONDS later it ends (after a minute in any case).
 * At the end a line "mark NS NS" tells when that was (CLOCK_MONOTONIC; not before
 * the one, and seen by all from the other on), and one line for each thread that was
 * there then or later tells what CPU time it used after the mark: "TID CPU_NS". A
 * thread notes the mark up to a step (about 20 us) late; what ending it takes is not told.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lives.h"

static struct {
	unsigned int wanted;
	bool chain;
	uint64_t end_ns, after_ns, life_ns;
} shared;

static atomic_ullong mark_ns, seen_ns;

static void set_mark(int number)
{
	(void)number;
	mark_ns = clock_ns(CLOCK_MONOTONIC);
	seen_ns = clock_ns(CLOCK_MONOTONIC); /* after the other is stored */
}

static bool is_over(void)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	return now_ns >= shared.end_ns || (mark_ns && now_ns >= mark_ns + shared.after_ns);
}

void *worker(void *argument);

__attribute__((noinline)) void *worker(void *argument)
{
	(void)argument;
	struct life *life = life_begin();
	bool marked = mark_ns;
	uint64_t value = (uint64_t)life->tid;
	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < shared.life_ns && !is_over()) {
		value = spin(value, 20000);
		if (!marked && mark_ns) {
			marked = true;
			life->mark_cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		}
	}
	bool over = is_over();
	if (shared.chain && !over)
		thread_start(worker, NULL);
	life->before_mark = !marked;
	life_end(life, value, shared.chain && !over);
	return NULL;
}

int main(int argc, char **argv)
{
	if (argc < 4) {
		fprintf(stderr, "usage: storm COUNT SECONDS LIFE_MS [chain]\n");
		return 2;
	}
	shared.wanted = (unsigned int)atoi(argv[1]);
	shared.after_ns = (uint64_t)(atof(argv[2]) * 1e9);
	shared.end_ns = clock_ns(CLOCK_MONOTONIC) + (uint64_t)60 * 1000000000;
	shared.life_ns = (uint64_t)(atof(argv[3]) * 1e6);
	shared.chain = argc > 4 && !strcmp(argv[4], "chain");
	struct sigaction action = {.sa_handler = set_mark, .sa_flags = SA_RESTART};
	sigaction(SIGUSR1, &action, NULL);
	puts("ready");
	fflush(stdout);

	pthread_mutex_lock(&lives.lock);
	bool first = true;
	while (!is_over() || lives.running) {
		bool more = !is_over() && (first || !shared.chain);
		for (; more && lives.running < shared.wanted; lives.running++)
			thread_start(worker, NULL);
		first = false;
		lives_wait();
	}
	printf("mark %llu %llu\n", mark_ns, seen_ns);
	for (struct life *life = lives.ended; life; life = life->next)
		if (!life->before_mark)
			printf("%ld %llu\n", life->tid,
			       (unsigned long long)(life->cpu_ns - life->mark_cpu_ns));
	pthread_mutex_unlock(&lives.lock);
	return 0;
}
