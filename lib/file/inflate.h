/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decompresses a zstd stream that arrives in pieces of any size. A build without libzstd has
 * inflate_none.c: inflater_new() then fails with SP_ERROR_UNSUPPORTED.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

struct inflater;

struct sp_error *inflater_new(struct inflater **ret) SP_MUST_CHECK;
void inflater_free(struct inflater *inflater);

/* Discards the state. The next bytes must begin a frame. */
void inflater_reset(struct inflater *inflater);

/* Returns whether the input so far ends inside a block. */
bool inflater_unfinished(const struct inflater *inflater);

struct inflate_input {
	const uint8_t *pos, *end;
};

/*
 * Decompresses up to `room` bytes to `out`, and moves input->pos after the used input. While *got_ret
 * == room, the same input may give more, even at its end. Returns NULL, or a description of damage;
 * further calls then fail until inflater_reset().
 */
const char *inflater_step(struct inflater *inflater, struct inflate_input *input, uint8_t *out,
			  size_t room, size_t *got_ret);
