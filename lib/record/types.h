/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernel's constants that an older linux/perf_event.h lacks. They are macros
 * here and enumerators there, so each is guarded by a macro of its own.
 */
#ifndef RECORD_TYPES_H
#define RECORD_TYPES_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <sprof/record.h>

/* The first of perf's own types; the kernel's are below. */
#define RECORD_USER_TYPES 64

/* simpleperf's own: 32768 to 32768 + 16. */
#define RECORD_SIMPLEPERF_FIRST 32768
#define RECORD_SIMPLEPERF_LAST (32768 + 16)

/* Linux 5.16: which hardware event writes to the AUX area. */
#define RECORD_AUX_OUTPUT_HW_ID 21

/* Linux 6.19: user frames of an earlier sample, sent when they could be read. */
#define RECORD_CALLCHAIN_DEFERRED 22

/* True if an attr of this type and config counts time. */
static inline bool record_is_clock(uint32_t type, uint64_t config)
{
	return type == PERF_TYPE_SOFTWARE &&
	       (config == PERF_COUNT_SW_CPU_CLOCK || config == PERF_COUNT_SW_TASK_CLOCK);
}

/* attr sizes */
#ifndef PERF_ATTR_SIZE_VER7
#define PERF_ATTR_SIZE_VER7 128 /* sig_data */
#endif
#ifndef PERF_ATTR_SIZE_VER8
#define PERF_ATTR_SIZE_VER8 136 /* config3 */
#endif
#ifndef PERF_ATTR_SIZE_VER9
#define PERF_ATTR_SIZE_VER9 144 /* config4 */
#endif

/* Linux 6.8: a word of counters behind each branch. */
#define RECORD_BRANCH_COUNTERS (UINT64_C(1) << 19)

#define RECORD_FORMAT_LOST (UINT64_C(1) << 4)

/* Every bit of attr.sample_type whose place in a sample is known here. */
#define RECORD_SAMPLE_KNOWN ((UINT64_C(1) << 25) - 1)

/* The fields that a sample_id can hold. */
#define RECORD_SAMPLE_ID_BITS                                                 \
	((uint64_t)(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |     \
		    PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER))

/* HEADER_BUILD_ID: the byte behind the build-id is its size. */
#define RECORD_MISC_BUILD_ID_SIZE (1 << 15)

#ifndef PERF_RECORD_MISC_MMAP_BUILD_ID
#define PERF_RECORD_MISC_MMAP_BUILD_ID (1 << 14)
#endif

/* In FORK records of perf's own making: the parent's mappings are not inherited. */
#ifndef PERF_RECORD_MISC_FORK_EXEC
#define PERF_RECORD_MISC_FORK_EXEC (1 << 13)
#endif

#endif
