/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * struct sp_record -> bytes in host order: what the recorder synthesises and
 * what tests are made of.
 */
#ifndef RECORD_ENCODE_H
#define RECORD_ENCODE_H

#include <sprof/record.h>
#include "base/vec.h"

/* Encoded records, one behind the other, each a multiple of 8 bytes. Zeroed: empty. */
struct record_buffer {
	VEC(uint8_t);
};

/*
 * Appends `record` (type, misc, its fields of the union, and id). `attr` says
 * what the sample_id behind it (or a SAMPLE) holds; records 64 and up have none.
 * Types: MMAP, MMAP2 (with misc & PERF_RECORD_MISC_MMAP_BUILD_ID where
 * build_id_size is not 0), COMM, FORK, EXIT, LOST, LOST_SAMPLES, THROTTLE,
 * UNTHROTTLE, READ, KSYMBOL, SAMPLE, NAMESPACES, CGROUP, SWITCH(_CPU_WIDE),
 * HEADER_ATTR, HEADER_BUILD_ID, HEADER_FEATURE, EVENT_UPDATE and the empty
 * FINISHED_ROUND and FINISHED_INIT. Fails with SP_ERROR_LIMIT when a record
 * would not fit its u16 size.
 */
struct sp_error *record_encode(struct record_buffer *buffer, const struct sp_record *record,
			       const struct perf_event_attr *attr) SP_MUST_CHECK;

#endif
