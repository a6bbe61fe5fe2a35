/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples of sched:sched_waking in made-up recordings: their raw data, and the file's copy of its format. */
#ifndef TESTS_CLI_WAKEUPS_H
#define TESTS_CLI_WAKEUPS_H

#include <string.h>
#include "record/put.h"
#include "tests/sched_waking.h"

/* common_flags of an interrupt and of a softirq. */
#define WAKEUP_INTERRUPT 8
#define WAKEUP_SOFTIRQ 16

/* Writes a sample's raw data. */
static inline void wakeup_raw(uint32_t woken, uint8_t flags, uint8_t ret[SCHED_WAKING_SIZE])
{
	memset(ret, 0, SCHED_WAKING_SIZE);
	ret[SCHED_WAKING_FLAGS] = flags;
	memcpy(ret + SCHED_WAKING_PID, &woken, sizeof(woken));
}

/* Writes the feature TRACING_DATA. */
static inline void wakeup_formats(struct record_buffer *ret)
{
	static const char magic[] = "\x17\x08\x44tracing0.6";
	static const char format[] = SCHED_WAKING_FORMAT("375");
	struct put put = {.buffer = ret};
	put_bytes(&put, magic, sizeof(magic));
	put_u8(&put, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	put_u8(&put, 8);
	put_u32(&put, 4096);
	put_bytes(&put, "header_page", sizeof("header_page"));
	put_u64(&put, 0);
	put_bytes(&put, "header_event", sizeof("header_event"));
	put_u64(&put, 0);
	put_u32(&put, 0);
	put_u32(&put, 1);
	put_bytes(&put, "sched", sizeof("sched"));
	put_u32(&put, 1);
	put_u64(&put, sizeof(format) - 1);
	put_bytes(&put, format, sizeof(format) - 1);
	put_u32(&put, 0);
	put_u32(&put, 0);
	put_u64(&put, 0);
}

#endif
