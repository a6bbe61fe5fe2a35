/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Metadata records in a buffer: their sizes are checked here, and nowhere after that. */
#pragma once

#include "capture/ring_bank/record_offsets.h"
#include "record/encode.h"
#include "record/task_change.h"

struct metadata_record {
	const uint8_t *bytes; /* the whole record */
	struct perf_event_header header;
	size_t body;          /* size without the sample_id */
	uint64_t time_ns;     /* 0: it is from the recorder, and describes the state at its begin */
	struct task_change change; /* with this time, if the records have one */
};

/* An MMAP or MMAP2. */
struct metadata_mapping {
	uint32_t pid, prot;  /* prot: MMAP2's, else 0 */
	uint64_t start, size, inode;
	const char *path;    /* MMAP2's, in the record; NULL: its end is missing */
};

/*
 * Decodes the next record of a buffer of `size` bytes, and moves *at to its end. Returns false if
 * there is no other that is whole.
 */
bool metadata_next(const uint8_t *bytes, size_t size, size_t *at,
		   const struct record_fields *fields, struct metadata_record *ret);

/* Returns false if the record is no mapping, or too short. */
bool metadata_mapping(const struct metadata_record *record, struct metadata_mapping *ret);
