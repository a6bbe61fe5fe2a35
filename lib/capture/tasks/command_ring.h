/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The command's own metadata event and ring buffer, in addition to events of whole CPUs: records of
 * other processes cannot push out its exec, its mappings, and the forks of its first thread.
 *
 * The event is not inherited. An inherited one would add an event for each CPU to each new task:
 * with 64 of them, a fork takes 350 us of CPU time instead of 128 us. The rescan (rescan.h) finds
 * tasks that other threads and descendants forked, if records of that were lost.
 */
#pragma once

#include "event/kernel_calls.h"
#include "event/set.h"
#include "ring/ring.h"

/* Zeroed, there is no ring. */
struct command_ring {
	struct ring ring;   /* page NULL: there is none */
	int fd;             /* owned, with the ring */
	uint32_t tid;       /* the command's first thread */
	uint64_t listed_id; /* id of its records in the file */
	uint64_t ended_ns;  /* the event's end: with the thread, or by its exec; 0: it exists */
};

struct command_ring_options {
	const struct event_kernel *kernel; /* borrowed until command_ring_close() */
	const struct event_plan *plan;
	uint32_t tid;
	uint64_t listed_id;
	size_t ring_bytes;
};

/* Opens it for a thread that waits. If the kernel refuses it, there is none. */
void command_ring_open(struct command_ring *own, const struct command_ring_options *options);
void command_ring_close(struct command_ring *own, const struct event_kernel *kernel);
