/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "base/cursor.h"
#include "record/types.h"

/*
 * Reads the perf_event_attr at `cursor`, which may take up to `room` bytes, in host order, bit-fields
 * included. Its own size field states its length (0 means 64, as in the kernel). The cursor moves after
 * it. Fields that neither this build's struct nor the tail has are skipped. Fields that the file lacks
 * are 0.
 */
struct sp_error *attr_decode(struct cursor *cursor, size_t room, struct perf_event_attr *ret,
			     struct sp_attr_tail *tail_ret) SP_MUST_CHECK;

/*
 * A perf_event_attr with all fields, whatever header this is built with; `tail` has the fields after
 * those of `attr`. Use attr_whole() to make one: an initializer of `attr` leaves the bytes after it
 * unspecified.
 */
struct long_attr {
	union {
		struct perf_event_attr attr;
		uint8_t bytes[PERF_ATTR_SIZE_VER9];
	};
};

/* Joins attr and tail; attr.size is unchanged. */
struct long_attr attr_whole(const struct perf_event_attr *attr, const struct sp_attr_tail *tail);

struct sp_attr_tail attr_tail_of(const struct long_attr *whole);
