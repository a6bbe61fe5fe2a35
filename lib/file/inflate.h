/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decompression of a zstd stream that arrives in pieces of any size. A build without libzstd has
 * inflate_none.c: inflater_new() then fails with SP_ERROR_UNSUPPORTED.
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

/* Discards the state: the next bytes begin a frame. */
void inflater_reset(struct inflater *inflater);

/* Whether the input so far ends inside a block. */
bool inflater_unfinished(const struct inflater *inflater);

struct inflate_input {
	const uint8_t *pos, *end;
};

/*
 * Inflates up to `room` bytes to `out` and moves input->pos past the used input. While
 * *got_ret == room, the same input may give more, even at its end. Returns NULL, or the data's
 * fault; further calls then fail until inflater_reset().
 */
const char *inflater_step(struct inflater *inflater, struct inflate_input *input, uint8_t *out,
			  size_t room, size_t *got_ret);

#endif
