/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Short-lived threads. Each reports its CPU time as its last act. */
#ifndef WORKLOAD_LIVES_H
#define WORKLOAD_LIVES_H

#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "clock.h"
#include "thread.h"

struct life {
	struct life *next;
	long tid;
	uint64_t cpu_ns;
	/* For who marks a moment: */
	uint64_t mark_cpu_ns;
	bool before_mark; /* ended before it */
};

static struct {
	pthread_mutex_t lock; /* protects all members, and the program's own counts */
	pthread_cond_t changed;
	struct life *ended;
	unsigned int running; /* counted up by the program */
} lives = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* This thread's. */
static inline struct life *life_begin(void)
{
	struct life *life = calloc(1, sizeof(*life));
	life->tid = syscall(SYS_gettid);
	return life;
}

/* `value` is what the thread's work came to; another may run in its place, uncounted. */
static inline void life_end(struct life *life, uint64_t value, bool replaced)
{
	pthread_mutex_lock(&lives.lock);
	life->next = lives.ended;
	lives.ended = life;
	if (!replaced)
		lives.running--;
	pthread_cond_signal(&lives.changed);
	life->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) + (value == 42);
	pthread_mutex_unlock(&lives.lock);
}

/* Until something changes, or a second is over; with the lock held. */
static inline void lives_wait(void)
{
	struct timespec soon;
	clock_gettime(CLOCK_REALTIME, &soon);
	soon.tv_sec++;
	pthread_cond_timedwait(&lives.changed, &lives.lock, &soon);
}

#endif
