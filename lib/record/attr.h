/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef RECORD_ATTR_H
#define RECORD_ATTR_H

#include "base/cursor.h"
#include "record/types.h"

/*
 * The perf_event_attr at `cursor`, in host order, bit-fields included; it may
 * take up to `room` bytes. It is as long as its own size field says (0 means 64,
 * as the kernel has it), and the cursor moves behind it. What neither this build's
 * struct nor the tail has is passed over; what the file's does not have is 0.
 */
struct sp_error *attr_decode(struct cursor *cursor, size_t room, struct perf_event_attr *ret,
			     struct sp_attr_tail *tail_ret) SP_MUST_CHECK;

/*
 * Room for all of an attr, whatever header this is built with; `tail` is its fields behind that.
 * Made by attr_whole(): an initializer of `attr` would leave what is behind it unspecified.
 */
struct long_attr {
	union {
		struct perf_event_attr attr;
		uint8_t bytes[PERF_ATTR_SIZE_VER9];
	};
};

/* Together; attr.size stays. */
struct long_attr attr_whole(const struct perf_event_attr *attr, const struct sp_attr_tail *tail);

struct sp_attr_tail attr_tail_of(const struct long_attr *whole);

#endif
