/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A snapshot of many rings in overwrite mode. Each ring is paused only while its bytes are copied to
 * memory; it records again while the copies are put in order and written, which may take seconds.
 *
 * Without memory for its copy, a ring stays paused until it is read: otherwise its records would be
 * overwritten.
 */
#pragma once

#include "ring/backward.h"

struct snapshot_options {
	const struct ring *rings; /* `count` rings of one size; borrowed */
	size_t count;
	/* Pauses the output of a ring, or resumes it. */
	void (*pause)(void *arg, size_t index, bool pause);
	void *arg;
};

struct snapshot {
	struct snapshot_options options;
	struct snapshot_ring *rings;
	size_t ring_size;
	uint8_t *scratch; /* for a ring without a copy */
	struct backward_copy copy;
};

/* Allocates memory for one ring. Memory for copies is held from snapshot_copy_rings() until they are read. */
struct sp_error *snapshot_init(struct snapshot *snapshot,
			       const struct snapshot_options *options) SP_MUST_CHECK;
/* Does not touch the rings, which may be gone. Zeroed is allowed. */
void snapshot_deinit(struct snapshot *snapshot);

/*
 * Copies the bytes that each ring received since the last time, into at most `most_bytes` of
 * memory.
 */
void snapshot_copy_rings(struct snapshot *snapshot, uint64_t most_bytes);

/*
 * Gets the records of one ring. Call it once for each ring after snapshot_copy_rings(). Valid until
 * the next call.
 */
const struct backward_copy *snapshot_read(struct snapshot *snapshot, size_t index);

/* Resumes the rings that were not read, after a failure, and frees their copies. */
void snapshot_drop(struct snapshot *snapshot);
