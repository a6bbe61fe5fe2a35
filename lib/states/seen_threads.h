/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Threads that have samples, by the first bytes of these. A thread without context switches was on a CPU
 * all the time if it has samples, and else was blocked.
 */
#pragma once

#include "base/hash.h"
#include "base/vec.h"
#include "record/decode.h"

struct seen_thread {
	uint32_t pid, tid;
};

/* A zeroed struct has no threads. */
struct seen_threads {
	VEC(struct seen_thread) items;
	struct u64map index_of; /* by tid alone: the first pid with a tid counts */
	uint32_t last; /* tid of the last one added: neighbours are often equal; 0: none */
};

void seen_threads_deinit(struct seen_threads *seen);

/*
 * Returns the offset of a sample's pid and tid, if it is the same for all events; 0: it is not, or some
 * event has samples of threads that do not run.
 */
size_t seen_threads_offset(const struct record_layout *layout);

/* Adds a sample's thread. Only its first WALKER_SAMPLE_MIN bytes are read. False when out of memory. */
bool seen_threads_add(struct seen_threads *seen, const struct raw_record *sample, size_t offset, bool swap);

/* Adds a thread. Returns false when out of memory. */
bool seen_threads_merge(struct seen_threads *seen, const struct seen_thread *thread);
