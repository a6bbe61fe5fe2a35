/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A ring in overwrite mode (attr.write_backward). The kernel writes records from higher addresses
 * to lower ones: the newest begins at the head, older ones follow. The newest may have overwritten
 * the end of the oldest. Positions go down from 0.
 *
 * The output is paused while the ring is copied. To keep the pause short, the bytes are copied as
 * they are, and put in order after the output has resumed: ring/snapshot.h.
 */
#pragma once

#include "ring/ring.h"

/* Bytes of a ring, the newest record first. */
struct backward_bytes {
	const uint8_t *items;
	size_t size;
	size_t ring_size;
	uint64_t written; /* bytes written since the last copy, including overwritten ones */
};

/* Records in order of time. */
struct backward_copy {
	uint8_t *records;  /* whole records, the oldest first; memory of the ring's size */
	size_t size;       /* size of `records` */
	uint64_t overwritten; /* overwritten ones of the bytes written since the last copy */
	uint64_t damaged;     /* damaged bytes */
};

/* Allocates memory for a ring of that size. backward_copy_deinit() frees it. */
struct sp_error *backward_copy_init(struct backward_copy *copy, size_t ring_size) SP_MUST_CHECK;
void backward_copy_deinit(struct backward_copy *copy);

/*
 * Copies the bytes that were written since the head was `since` (0: all) and not overwritten, to
 * `memory`, which has room for the ring's size. The ring must be paused. *head_ret is `since` of the
 * next call.
 */
struct backward_bytes backward_read(const struct ring *ring, uint64_t since, uint8_t *memory,
				    uint64_t *head_ret);

/* Copies the whole records to `copy`, the oldest first. */
void backward_order(const struct backward_bytes *bytes, struct backward_copy *copy);
