/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/thread_priority.h"

#include <errno.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Slice to request, the shortest. Since Linux 6.12, the thread then runs before others have used up
 * their 3 ms; older kernels ignore the request.
 */
#define SLICE_NS 100000
#define NICE (-10)

/* The argument of sched_setattr(2), which glibc before 2.41 lacks. */
struct attributes {
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime_ns, deadline_ns, period_ns;
};

static int set(struct attributes attributes)
{
	attributes.size = sizeof(attributes);
	return syscall(SYS_sched_setattr, 0, &attributes, 0);
}

struct sp_error *thread_priority_begin(struct thread_priority *thread_priority, uint32_t realtime)
{
	struct attributes before = {0};
	struct attributes wanted = {.policy = realtime ? SCHED_FIFO : SCHED_OTHER,
				    .priority = realtime};
	if (syscall(SYS_sched_getattr, 0, &before, sizeof(before), 0) < 0)
		return realtime ? error_os(errno, "sched_getattr") : NULL;
	bool normal = before.policy == SCHED_OTHER;
	if (!realtime && normal) {
		wanted.runtime_ns = SLICE_NS;
		wanted.nice = before.nice < NICE ? before.nice : NICE;
	}
	if (!realtime && !normal)
		return NULL; /* the user has chosen a policy */
	bool changed = set(wanted) == 0;
	if (!changed && realtime)
		return error_set_remedy(error_os(errno, "real-time priority %u", realtime),
					"record as root, or raise ulimit -r");
	if (!changed) {
		wanted.nice = before.nice;
		changed = set(wanted) == 0;
	}
	*thread_priority = (struct thread_priority){.changed = changed,
						    .policy = before.policy,
						    .nice = before.nice,
						    .priority = before.priority,
						    .slice_ns = before.runtime_ns};
	return NULL;
}

void thread_priority_end(struct thread_priority *thread_priority)
{
	struct attributes before = {.policy = thread_priority->policy, .nice = thread_priority->nice,
				    .priority = thread_priority->priority};
	if (!thread_priority->changed)
		return;
	thread_priority->changed = false;
	if (before.policy == SCHED_OTHER)
		before.runtime_ns = thread_priority->slice_ns;
	/* Raising the nice value again is always allowed. */
	(void)set(before);
}
