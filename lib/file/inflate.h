/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One zstd stream, cut into pieces anywhere. inflate_none.c stands in where the
 * build has no libzstd: inflater_new() then fails with SP_ERROR_UNSUPPORTED.
 */
#ifndef FILE_INFLATE_H
#define FILE_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

struct inflater;

struct sp_error *inflater_new(struct inflater **ret) SP_MUST_CHECK;
void inflater_free(struct inflater *inflater);

/* Forgets what came before: the next bytes begin a frame. */
void inflater_reset(struct inflater *inflater);

/* Whether the input so far ends inside a block: the rest of it gives nothing. */
bool inflater_unfinished(const struct inflater *inflater);

struct inflate_input {
	const uint8_t *pos, *end;
};

/*
 * Inflates up to `room` bytes to `out` and moves input->pos behind what was used.
 * There may be more of the same input while *got_ret == room, even at its end.
 * NULL, or what is wrong with the data; it then stays wrong until reset.
 */
const char *inflater_step(struct inflater *inflater, struct inflate_input *input, uint8_t *out,
			  size_t room, size_t *got_ret);

#endif
