/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef RECORD_ATTR_H
#define RECORD_ATTR_H

#include <linux/perf_event.h>
#include "base/cursor.h"

/*
 * The perf_event_attr at `cursor`, in host order, bit-fields included; it may
 * take up to `room` bytes. It is as long as its own size field says (0 means 64,
 * as the kernel has it), and the cursor moves behind it. What this build's
 * struct does not have is passed over; what the file's does not have is 0.
 */
struct sp_error *attr_decode(struct cursor *cursor, size_t room,
			     struct perf_event_attr *ret) SP_MUST_CHECK;

#endif
