/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Layout of a perf.data file: the file header and the numbers of the features. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* "PERFILE2" as a u64 in the file's byte order. */
#define FILE_MAGIC UINT64_C(0x32454c4946524550)

/* Magic of files before Linux 2.6.39: characters, equal in both byte orders. */
#define FILE_MAGIC_V1 "PERFFILE"

struct file_section {
	uint64_t offset, size;
};

/* Bytes [begin, end) of a file. */
struct reader_extent {
	uint64_t begin, end;
};

struct file_header {
	uint64_t magic;
	uint64_t size;      /* size of this header: 104; of a stream's header, which ends here: 16 */
	uint64_t attr_size; /* size of an entry of attrs: a perf_event_attr and the place of its ids */
	struct file_section attrs;
	struct file_section data;
	struct file_section event_types; /* no reader uses it */
	uint64_t features[4];
};

_Static_assert(sizeof(struct file_header) == 104, "the header has no padding");

#define FILE_PIPE_HEADER_SIZE 16

/* Number of feature bits in the header. */
#define FILE_FEATURE_BITS 256

struct feature_bits {
	uint64_t words[FILE_FEATURE_BITS / 64];
};

static inline bool feature_bits_have(const struct feature_bits *bits, unsigned int bit)
{
	return bits->words[bit / 64] >> bit % 64 & 1;
}

static inline void feature_bits_add(struct feature_bits *bits, unsigned int bit)
{
	bits->words[bit / 64] |= UINT64_C(1) << bit % 64;
}

enum file_feature {
	FEATURE_TRACING_DATA = 1,
	FEATURE_BUILD_ID,
	FEATURE_HOSTNAME,
	FEATURE_OSRELEASE,
	FEATURE_VERSION,
	FEATURE_ARCH,
	FEATURE_NRCPUS,
	FEATURE_CPUDESC,
	FEATURE_CPUID,
	FEATURE_TOTAL_MEM,
	FEATURE_CMDLINE,
	FEATURE_EVENT_DESC,
	FEATURE_CPU_TOPOLOGY,
	FEATURE_NUMA_TOPOLOGY,
	FEATURE_BRANCH_STACK,
	FEATURE_PMU_MAPPINGS,
	FEATURE_GROUP_DESC,
	FEATURE_AUXTRACE,
	FEATURE_STAT,
	FEATURE_CACHE,
	FEATURE_SAMPLE_TIME,
	FEATURE_MEM_TOPOLOGY,
	FEATURE_CLOCKID,
	FEATURE_DIR_FORMAT,
	FEATURE_BPF_PROG_INFO,
	FEATURE_BPF_BTF,
	FEATURE_COMPRESSED,
	FEATURE_CPU_PMU_CAPS,
	FEATURE_CLOCK_DATA,
	FEATURE_HYBRID_TOPOLOGY,
	FEATURE_PMU_CAPS,
	FEATURE_CPU_DOMAIN_INFO,
	FEATURE_COUNT, /* end of the features that HEADER_FEATURE records may have */
};

/* Features since perf of Linux 7.0. sprof reads them. */
#define FEATURE_E_MACHINE 33
#define FEATURE_CLN_SIZE 34

/* Features of simpleperf. */
#define FEATURE_SIMPLEPERF_FILE 128
#define FEATURE_SIMPLEPERF_META_INFO 129
#define FEATURE_SIMPLEPERF_FILE2 132
