/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The open events of a recording. Rings are mapped from holders: dummy events of
 * our own task, one for each (CPU, role), that never fire and outlive every
 * target. All other events are directed to the holder's ring of their CPU
 * (PERF_EVENT_IOC_SET_OUTPUT), so the order is:
 *
 *	event_set_new()            opens the holders
 *	mmap event_set_ring_fd()   each of them
 *	event_set_open()           side-band first, then read /proc, then samples
 *
 * Polling a holder's fd tells when its ring has something.
 */
#pragma once

#include <sprof/reader.h>
#include "base/vec.h"
#include "event/open.h"

struct event_set;

/*
 * Opens the holders. The plan is borrowed and must outlive the set. The calling thread must, too,
 * because holders are its events. `cpus` is copied. Fails with SP_ERROR_LIMIT without free file
 * descriptors.
 */
struct sp_error *event_set_new(const struct event_kernel *kernel, const struct event_plan *plan,
			       const uint32_t *cpus, size_t cpu_count,
			       struct event_set **ret) SP_MUST_CHECK;

/* Closes all events. NULL is allowed. */
void event_set_free(struct event_set *set);

/*
 * Returns the file descriptor for mmap and poll of a CPU's ring buffer. `cpu_index` is an index in
 * `cpus`.
 */
int event_set_ring_fd(const struct event_set *set, size_t cpu_index, enum event_role role);

/*
 * Returns a file descriptor of a sampling event (index as in event_set_events()) that is open on that
 * CPU and writes to its ring buffer; -1 if there is none.
 */
int event_set_fd(const struct event_set *set, size_t event, size_t cpu_index);

enum event_place_status {
	EVENT_PLACE_NEW,
	EVENT_PLACE_OPEN,
	EVENT_PLACE_GONE, /* the task has ended (ESRCH) */
	EVENT_PLACE_OFFLINE, /* the CPU is offline (ENODEV) */
};

/* A place where a role's events are opened: one task, or all tasks of a CPU. */
struct event_place {
	int32_t tid;        /* -1: all tasks of the CPU */
	uint32_t cpu_index;
	int32_t last_cpu;   /* CPU on which the task last ran; -1 unknown */
	enum event_place_status status; /* only EVENT_PLACE_NEW is opened */
};

/*
 * Opens all events of a role at each place, and sets each place's status. Opening an event of a
 * task that runs on another CPU costs an interrupt there. So several threads move to the CPUs of
 * last_cpu and open the places there, if there are many (the caller's affinity is restored). Fails
 * if an event cannot be opened for another reason than that the task has ended or the CPU is
 * offline: earlier places stay open.
 */
struct sp_error *event_set_open(struct event_set *set, enum event_role role,
				struct event_place *places, size_t count) SP_MUST_CHECK;

/*
 * Returns the number of file descriptors for that many places, holders included, for
 * rights_raise_files().
 */
uint64_t event_set_fds_needed(const struct event_plan *plan, size_t cpu_count, size_t place_count);

/* Disables all events of a role. A task that ended is not an error. */
struct sp_error *event_set_disable(struct event_set *set, enum event_role role) SP_MUST_CHECK;

/* Enables or disables one of the plan's sampling events. */
struct sp_error *event_set_switch_event(struct event_set *set, size_t index, bool on) SP_MUST_CHECK;

/*
 * Returns how long a CPU's metadata event has been enabled, by the kernel's clock. It stops when the
 * CPU goes offline, and does not continue afterwards. Only for CPU-wide sets. False if there is no such
 * event.
 */
bool event_set_enabled_time(const struct event_set *set, size_t cpu_index, uint64_t *ns_ret);

/* An event that was opened again: its new id, and its id in event_set_events(). */
struct event_renamed {
	uint64_t id, listed;
	uint64_t counted; /* count before it was opened again */
	uint32_t event;   /* index in event_set_events() */
};

struct event_renamed_list {
	VEC(struct event_renamed);
};

/*
 * Opens all events of a CPU again, in place of its present ones, enabled or disabled as those.
 * event_set_read() includes the earlier counts. Only for CPU-wide sets. Appends to `ret`.
 * *offline_ret: the CPU is offline, and nothing was opened.
 */
struct sp_error *event_set_reopen(struct event_set *set, size_t cpu_index,
				  struct event_renamed_list *ret, bool *offline_ret) SP_MUST_CHECK;

/*
 * Returns the events for the file's header: the samples in the plan's order, then the dummy for
 * metadata, with the ids of all events opened so far. Valid until the next event_set_open() or
 * event_set_free().
 */
struct sp_error *event_set_events(struct event_set *set, const struct sp_event **ret,
				  size_t *count_ret) SP_MUST_CHECK;

/* An event's count over all places, including children. */
struct event_total {
	uint64_t value;
	uint64_t lost; /* lost samples; 0 before Linux 6.0 */
	bool lost_known;
};

/* Reads an event's total. `index` as in event_set_events(). */
struct sp_error *event_set_read(const struct event_set *set, size_t index,
				struct event_total *ret) SP_MUST_CHECK;
