/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Alternate events: they sample for the planned events, into the same ring buffers. This
 * part opens, reopens and closes them; event_control.h decides which are enabled. There are four lists:
 *
 * - Large events copy more of the stack. The file has their samples as those of the planned events.
 *
 * - Slow events sample at a quarter of the rate. The file has their samples in the same way.
 *
 * - Helper events sample in addition to the others, rarely, and copy as much of the stack as they can.
 *   Their samples are not written: they show the outer frames of truncated stacks (samples/stack_hold.h).
 *
 * - Outside events sample the wake-ups of whole CPUs, if the planned event of wake-ups is open for tasks.
 *   Linux counts wake-ups by others on a task's event, but takes no sample of them. Outside events copy
 *   nothing of user space, because most wakers are not recorded.
 */
#pragma once

#include "base/vec.h"
#include "capture/event_control/alternate_ids.h"
#include "event/set.h"

/* Factor between the periods of slow and planned events. */
#define ALTERNATE_SLOWER 4

struct alternate_event {
	int fd;
	uint32_t cpu_index, planned; /* index of its CPU, and of the planned event */
	uint32_t listed;             /* value in alternate_ids.map */
	int32_t tid;                 /* -1: all tasks of the CPU */
	struct perf_event_attr attr;
	uint64_t counted, lost;      /* by earlier events at this place, which are closed */
};

struct alternate_events {
	VEC(struct alternate_event);
	uint32_t stack_bytes; /* copied of each stack, by large and helper events; 0: there are none */
	bool enabled;
};

/* Places to open events at. All pointers are borrowed, and must outlive the events. */
struct alternate_places {
	const struct event_plan *plan;
	struct event_set *set; /* all planned events are open */
	const uint32_t *cpus;
	size_t cpu_count;
	int32_t tid;           /* -1: all tasks of the CPUs */
	uint64_t ring_bytes;
	uint64_t freq_hz;      /* rate of samples on a busy CPU; 0: unknown */
	size_t kept;           /* index of the planned event without alternates; SIZE_MAX: none */
	bool fixed;            /* no large events */
	bool on_exec;          /* the exec enables large events */
};

/* alternate_init()ed: there are none. */
struct alternate {
	struct alternate_places options;
	struct alternate_events large, helper, slow, outside;
	struct alternate_events clocks; /* dummy events, which show when outside events' CPUs are offline */
	bool roomy;               /* ring buffers have room to begin with large events */
	bool on_exec;             /* the exec enables the large events */
	struct alternate_ids ids; /* ids of all lists */
};

void alternate_init(const struct alternate_places *options, struct alternate *ret);

/*
 * Opens large and helper events, disabled. None are opened if ring buffers are too small, or if the kernel
 * refuses one. Fails only without memory; alternate_close() is due also then.
 */
struct sp_error *alternate_open(struct alternate *alternate) SP_MUST_CHECK;

/* Opens slow events, in the same way. There are none if the rate or period cannot be changed. */
struct sp_error *alternate_open_slow(struct alternate *alternate) SP_MUST_CHECK;

/*
 * Opens outside events of a planned event, disabled, on all CPUs or on none. *errnum_ret: the reason why
 * the kernel refuses them; 0: they are open. Fails only without memory.
 */
struct sp_error *alternate_open_outside(struct alternate *alternate, size_t planned,
					int *errnum_ret) SP_MUST_CHECK;

/* Returns how long a CPU's outside events could count, as event_set_enabled_time() does. */
bool alternate_enabled_time(const struct alternate *alternate, size_t cpu_index, uint64_t *ns_ret);

void alternate_close(struct alternate *alternate);

/* Enables or disables the events of a list. */
void alternate_enable(struct alternate_events *events, bool on);

/* Disables the events of an enabled list that stand for a planned one, or enables them again. */
void alternate_suspend(struct alternate_events *events, size_t planned, bool suspended);

/*
 * Reopens the events of a CPU, enabled if their list is. An event that the kernel refuses stays as it
 * was, and *refused_ret is true. Fails only without memory.
 */
struct sp_error *alternate_reopen(struct alternate *alternate, size_t cpu_index,
				  bool *refused_ret) SP_MUST_CHECK;

/*
 * Returns the number of lost samples of a planned event's large, slow and outside events; 0 if the
 * kernel does not count them. Outside events lose wake-ups that are not recorded, too.
 */
uint64_t alternate_lost(const struct alternate *alternate, size_t planned);

/* Returns the sum of the large and slow events' counts, children included. */
uint64_t alternate_counted(const struct alternate *alternate);
