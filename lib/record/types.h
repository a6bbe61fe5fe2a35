/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Constants of the kernel that older versions of linux/perf_event.h lack. They are macros here and
 * enumerators there, so each has a guard macro.
 */
#pragma once

#include <linux/perf_event.h>
#include <stdbool.h>
#include <sprof/record.h>

/* First of perf's own record types; the kernel's are below. */
#define RECORD_USER_TYPES 64

/* First and last record type of simpleperf. */
#define RECORD_SIMPLEPERF_FIRST 32768
#define RECORD_SIMPLEPERF_LAST (32768 + 16)

/* perf record --off-cpu gives such times to waits that it adds up over the recording. */
#define RECORD_SUMMED_NS UINT64_C(0xffffffff00000000)

/* Since Linux 5.16: the hardware event that writes to the AUX area. */
#define RECORD_AUX_OUTPUT_HW_ID 21

/* Since Linux 6.19: user frames of an earlier sample, sent when the kernel could read them. */
#define RECORD_CALLCHAIN_DEFERRED 22

/* Returns whether an attr of this type and config counts time. */
static inline bool record_is_clock(uint32_t type, uint64_t config)
{
	return type == PERF_TYPE_SOFTWARE &&
	       (config == PERF_COUNT_SW_CPU_CLOCK || config == PERF_COUNT_SW_TASK_CLOCK);
}

/* Returns whether an attr is of the event that never occurs, and only brings other records. */
static inline bool record_is_dummy(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_DUMMY;
}

/* Returns the time between samples of a clock, in ns; 0: unknown. */
static inline uint64_t record_clock_period_ns(const struct perf_event_attr *attr)
{
	if (!attr->freq)
		return attr->sample_period;
	return attr->sample_freq ? 1000000000 / attr->sample_freq : 0;
}

/* sizes of perf_event_attr */
#ifndef PERF_ATTR_SIZE_VER7
#define PERF_ATTR_SIZE_VER7 128 /* up to sig_data */
#endif
#ifndef PERF_ATTR_SIZE_VER8
#define PERF_ATTR_SIZE_VER8 136 /* up to config3 */
#endif
#ifndef PERF_ATTR_SIZE_VER9
#define PERF_ATTR_SIZE_VER9 144 /* up to config4 */
#endif

/* Since Linux 6.8: a word of counters for each branch. */
#define RECORD_BRANCH_COUNTERS (UINT64_C(1) << 19)

#define RECORD_FORMAT_LOST (UINT64_C(1) << 4)

/* Bits of attr.sample_type with a known place in a sample. */
#define RECORD_SAMPLE_KNOWN ((UINT64_C(1) << 25) - 1)

/* Bits of the fields that a sample_id may have. */
#define RECORD_SAMPLE_ID_BITS                                                 \
	((uint64_t)(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |     \
		    PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER))

/* In header.misc of HEADER_BUILD_ID: the byte after the build-id is its size. */
#define RECORD_MISC_BUILD_ID_SIZE (1 << 15)

#ifndef PERF_RECORD_MISC_MMAP_BUILD_ID
#define PERF_RECORD_MISC_MMAP_BUILD_ID (1 << 14)
#endif

/* In header.misc of FORK records that perf makes: the child does not inherit the parent's mappings. */
#ifndef PERF_RECORD_MISC_FORK_EXEC
#define PERF_RECORD_MISC_FORK_EXEC (1 << 13)
#endif
