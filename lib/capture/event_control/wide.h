/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where stacks are cut by what is copied of them, others copy more, in two ways:
 *
 * - Large events sample as those that were planned do, in their place: either these or
 *   those are on (stack_need.h says which). Their samples are written as the planned ones'.
 *
 * - Where rings are too small for that, or the rate too high, or the stacks still larger, a
 *   second event, of a low rate, copies as much as it can. Its samples are not written: they say
 *   how the outer parts of the others go on (samples/joining.h). It is off while no stack is cut.
 *
 * And where rings fill up again and again, slow events sample in the place of all others, at a
 * quarter of the rate (pace.h).
 */
#ifndef CAPTURE_EVENT_CONTROL_WIDE_H
#define CAPTURE_EVENT_CONTROL_WIDE_H

#include "base/vec.h"
#include "capture/event_control/alternate_ids.h"
#include "capture/event_control/stack_need.h"
#include "event/set.h"

/* Slow events have so many times the period. */
#define WIDE_SLOWER 4

struct wide_event {
	int fd;
	uint32_t cpu_index, planned; /* where, and in the place of which of the plan's */
	uint32_t listed;             /* value in alternate_ids.map */
	struct perf_event_attr attr;
	uint64_t counted, lost;      /* by those that it had the place of */
};

struct wide_events {
	VEC(struct wide_event);
	uint32_t stack_bytes; /* 0: there are none */
	bool enabled;
};

/* Where events are opened, and as what; plan and cpus are borrowed for as long as they are. */
struct wide_options {
	const struct event_plan *plan;
	struct event_set *set; /* where all of `plan` are open; borrowed */
	const uint32_t *cpus;
	size_t cpu_count;
	int32_t tid;           /* -1: all tasks of the CPUs */
	uint64_t ring_bytes;
	uint64_t freq_hz;      /* of samples; 0: nobody knows */
	bool fixed;            /* no large events */
	bool on_exec;          /* large ones begin with the exec, if there are any */
};

struct wide {
	struct wide_options options;
	struct wide_events large, helper, slow;
	bool roomy;            /* it may begin with large ones, */
	bool on_exec;          /* which then are enabled by the exec */
	struct alternate_ids ids; /* of all these events */
	struct stack_need need;
	uint64_t cuts, until_ns; /* stacks that had been cut, and how long helpers stay on for them */
};

/*
 * Opens them, disabled; none where rings are too small. That the kernel refuses them is no
 * error: fails only for want of memory. Zeroed, there are none.
 */
struct sp_error *wide_open(const struct wide_options *options, struct wide *ret) SP_MUST_CHECK;
void wide_close(struct wide *wide);

/*
 * Opens slow ones, disabled, at a quarter of each event's frequency or four times its period; none
 * where the kernel refuses any. Once, and after wide_open(), if that is called. Fails only for want
 * of memory.
 */
struct sp_error *wide_open_slow(const struct wide_options *options, struct wide *wide) SP_MUST_CHECK;
static inline bool wide_has_slow(const struct wide *wide)
{
	return wide->slow.count;
}

/* Slow ones in the place of the others, or the planned ones again. */
struct sp_error *wide_slow_down(struct wide *wide, bool slow, uint64_t now_ns) SP_MUST_CHECK;

/* No sample at all from now on, nor helpers; wide_start() begins anew, with the planned ones. */
void wide_stop(struct wide *wide);

/* What stacks were like so far: sums. */
struct wide_seen {
	struct stack_need_seen need;
	uint64_t cuts; /* by the size of their copies */
};

/*
 * The planned events have been enabled, or one of both kinds will be by the exec (`wait`). What
 * is enabled may be changed for large ones at once. From now on there are helpers, until it is
 * clear that no stack is cut.
 */
struct sp_error *wide_start(struct wide *wide, bool wait, uint64_t now_ns) SP_MUST_CHECK;

/* On, off or in place of others, by what was seen. */
struct sp_error *wide_update(struct wide *wide, const struct wide_seen *seen,
			     uint64_t now_ns) SP_MUST_CHECK;

/* Whether it may become large as soon as that is needed. */
bool wide_can_grow(const struct wide *wide, uint64_t now_ns);

/*
 * Opens those of a CPU once more, in the place of those that it has; on or off as these were to be.
 * What the kernel refuses is left as it was. Fails only for want of memory.
 */
struct sp_error *wide_reopen(struct wide *wide, size_t cpu_index) SP_MUST_CHECK;

/* Samples of large and slow events that were lost, as far as the kernel says. */
uint64_t wide_lost(const struct wide *wide, bool format_lost);

/* What they have counted, children included. */
uint64_t wide_counted(const struct wide *wide);

#endif
