/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A ring that goes round (attr.write_backward): records are written from higher addresses to
 * lower ones, so that the newest begins where the head is, the one before it behind it, and so
 * on, to the oldest, of which the newest may have overwritten the end. Positions go down from 0.
 *
 * It is read while its output is paused, and at once copied, so that it is not paused for long.
 */
#ifndef RING_BACKWARD_H
#define RING_BACKWARD_H

#include "ring/ring.h"

/*
 * Maps the ring of event `fd`, whose attr.write_backward is set, with `size` bytes of data, as
 * ring_map() does, but read-only: that is by what the kernel knows that it may overwrite.
 */
struct sp_error *backward_map(struct ring *ring, int fd, size_t size) SP_MUST_CHECK;

/* What a ring had. */
struct backward_copy {
	uint8_t *records;  /* the oldest first, whole; of the ring's size */
	size_t size;       /* of these */
	uint64_t overwritten; /* bytes since `since` that are not there any more */
	uint64_t damaged;     /* bytes that are no records */
};

/* Room for what a ring of that size has. Released by backward_copy_deinit(). */
struct sp_error *backward_copy_init(struct backward_copy *copy, size_t ring_size) SP_MUST_CHECK;
void backward_copy_deinit(struct backward_copy *copy);

/*
 * Takes what was written since the head was `since` (0: from the first) and is still there. The
 * ring must be paused. `scratch` has room for the ring's size. *head_ret: for the next time.
 */
void backward_take(const struct ring *ring, uint64_t since, uint8_t *scratch,
		   struct backward_copy *copy, uint64_t *head_ret);

#endif
