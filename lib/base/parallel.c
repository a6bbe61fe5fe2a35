/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include "base/cleanup.h"

#define THREADS_MAX 256

struct hand {
	pthread_t thread;
	bool started;
	unsigned int number;
	void (*work)(void *arg, unsigned int i);
	void *arg;
};

static void *hand_run(void *arg)
{
	struct hand *hand = arg;
	hand->work(hand->arg, hand->number);
	return NULL;
}

void parallel_run(unsigned int count, void (*work)(void *arg, unsigned int i), void *arg)
{
	CLEANUP_FREE struct hand *hands = count > 1 ? calloc(count - 1, sizeof(*hands)) : NULL;
	unsigned int others = hands ? count - 1 : 0;
	for (unsigned int i = 0; i < others; i++) {
		hands[i] = (struct hand){.number = i, .work = work, .arg = arg};
		hands[i].started = !pthread_create(&hands[i].thread, NULL, hand_run, &hands[i]);
	}
	for (unsigned int i = others; i < count; i++)
		work(arg, i);
	for (unsigned int i = 0; i < others; i++)
		if (!hands[i].started)
			work(arg, i);
	for (unsigned int i = 0; i < others; i++)
		if (hands[i].started)
			pthread_join(hands[i].thread, NULL);
}

unsigned int parallel_threads(size_t wanted)
{
	cpu_set_t set;
	if (!wanted && sched_getaffinity(0, sizeof(set), &set) == 0)
		wanted = CPU_COUNT(&set);
	if (!wanted)
		wanted = 1;
	return (unsigned int)(wanted < THREADS_MAX ? wanted : THREADS_MAX);
}
