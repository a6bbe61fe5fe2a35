/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Code that recorded processes move to memory without a file during the recording. The kernel
 * reports the memory; the process is read then (synth_moved()), at most once in an interval that
 * doubles.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "base/hash.h"
#include "base/vec.h"
#include "capture/metadata/synth.h"
#include "capture/ring_bank/metadata_record.h"

/* A process that mapped executable memory without a file. */
struct moved_process {
	uint32_t pid;
	uint32_t reads;   /* number of all reads */
	uint32_t retries; /* number of reads without a proof since the last mapping */
	uint64_t next_ns;        /* monotonic time before which it is not read again */
	uint64_t time_ns;        /* recorded time of its last such mapping; 0: it was read since */
};

struct moved_code {
	VEC(struct moved_process) processes;
	struct u64map index_of; /* pid -> index in processes */
	size_t pending;         /* processes that are to be read */
};

void moved_code_deinit(struct moved_code *moved);

/* Adds a record that may be such a mapping. Returns false when out of memory. */
bool moved_code_on_record(struct moved_code *moved, const struct metadata_record *record);

/*
 * Reads some processes that are due, or that are pending (`last`). Their records are not older
 * than `from_ns`, and later than the mappings.
 */
struct sp_error *moved_code_read(struct moved_code *moved, struct synth *synth,
				 uint64_t monotonic_ns, uint64_t from_ns,
				 bool last) SP_MUST_CHECK;
