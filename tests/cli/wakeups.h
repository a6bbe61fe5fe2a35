/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples of sched:sched_waking in made-up recordings: their raw data, and the format that describes it. */
#ifndef TESTS_CLI_WAKEUPS_H
#define TESTS_CLI_WAKEUPS_H

#include <string.h>
#include "record/put.h"

#define WAKEUP_SIZE 36

/* common_flags of an interrupt and of a softirq. */
#define WAKEUP_INTERRUPT 8
#define WAKEUP_SOFTIRQ 16

/* Writes a sample's raw data. */
static inline void wakeup_raw(uint32_t woken, uint8_t flags, uint8_t ret[WAKEUP_SIZE])
{
	memset(ret, 0, WAKEUP_SIZE);
	ret[2] = flags;
	memcpy(ret + 24, &woken, sizeof(woken));
}

/* Writes the feature TRACING_DATA. */
static inline void wakeup_formats(struct record_buffer *ret)
{
	static const char magic[] = "\x17\x08\x44tracing0.6";
	static const char format[] =
		"name: sched_waking\nID: 375\nformat:\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
		"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
		"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
		"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
		"\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
		"\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n"
		"\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;\n\n"
		"print fmt: \"comm=%s pid=%d\", REC->comm, REC->pid\n";
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
