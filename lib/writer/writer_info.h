/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Features to write into a recording. */
#pragma once

#include <sprof/reader.h>

/*
 * Features that are known when recording starts. Members that are NULL or 0 are left out. Borrowed
 * until writer_open() returns.
 */
struct writer_info {
	const char *hostname, *osrelease, *version, *arch, *cpudesc, *cpuid;
	uint32_t cpus_available, cpus_online;
	uint64_t total_memory_kb;
	struct sp_cpu_topology topology; /* for cpus_available CPUs, or zero */
	const struct sp_numa_node *numa_nodes;
	size_t numa_node_count;
	const char *const *cmdline; /* the recorder's command line, NULL-terminated */
	const struct writer_pmu *pmus; /* PMUs for feature PMU_MAPPINGS */
	size_t pmu_count;
	uint32_t clock_id;
	uint64_t clock_resolution_ns, clock_wall_ns, clock_ns;
	int compression_level; /* level of zstd; 0: no compression */
	/* Further payloads, written unchanged, for bits that have no member here. */
	const struct writer_feature *features;
	size_t feature_count;
	/*
	 * Not NULL: data is synced before the header that counts it, and the cost is added here until
	 * the writer is freed. Streams are then refused.
	 */
	struct durability *durability;
	bool in_memory; /* the file is in memory, and gets no name */
};

struct writer_feature {
	unsigned int bit; /* bit of enum file_feature, or any other below FILE_FEATURE_BITS */
	struct sp_bytes payload; /* contents; may be empty */
};

struct writer_pmu {
	uint32_t type;
	const char *name;
};

/* Features that are known when recording ends. */
struct writer_end {
	uint64_t first_sample_ns, last_sample_ns; /* times of the first and last sample; both 0: unknown */
	const struct sp_build_id *build_ids;
	size_t build_id_count;
	const struct writer_feature *features; /* further payloads; not written to a stream */
	size_t feature_count;
	uint64_t samples; /* number of samples taken for this file; 0: those passed to the writer */
};
