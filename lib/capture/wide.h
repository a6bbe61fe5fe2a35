/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Samples for help: where stacks are cut by what is copied of them, a second event, of a
 * low rate, copies as much as it can, and as rings have room for. Its samples are not
 * written: they say how the outer parts of the others go on (capture/joining.h). It is off
 * while no stack is cut.
 */
#ifndef CAPTURE_WIDE_H
#define CAPTURE_WIDE_H

#include "base/hash.h"
#include "event/set.h"

struct wide {
	int *fds;
	size_t count;
	struct u64map ids; /* of its events */
	bool enabled;
	uint64_t cuts, until_ns; /* stacks that had been cut, and how long it stays on for them */
};

/* Where events are opened, and as what. */
struct wide_options {
	const struct event_plan *plan;
	const struct event_set *set;
	const uint32_t *cpus;
	size_t cpu_count;
	int32_t tid;          /* -1: all tasks of the CPUs */
	uint64_t ring_bytes;
};

/*
 * Opens them, disabled; none where rings are too small. That the kernel refuses them is no
 * error: fails only for want of memory. Zeroed, there are none.
 */
struct sp_error *wide_open(const struct wide_options *options, struct wide *ret) SP_MUST_CHECK;
void wide_close(struct wide *wide);

/* From now on there are samples, until it is clear that no stack is cut. */
void wide_start(struct wide *wide, uint64_t now_ns);

/* On or off, by how many stacks have been cut so far. */
void wide_update(struct wide *wide, uint64_t cuts, uint64_t now_ns);

#endif
