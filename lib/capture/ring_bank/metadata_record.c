/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/ring_bank/metadata_record.h"

#include "base/bytes.h"
#include "record/types.h"

/* Layout of MMAP and MMAP2 records, as perf_event_open(2) has them. */
enum { PID = 8, START = 16, SIZE = 24, MMAP_PATH = 40, INODE = 48, PROT = 64, MMAP2_PATH = 72 };

bool metadata_next(const uint8_t *bytes, size_t size, size_t *at,
		   const struct record_fields *fields, struct metadata_record *ret)
{
	if (size - *at < sizeof(ret->header))
		return false;
	bytes += *at;
	*ret = (struct metadata_record){.bytes = bytes, .header = record_header_of(bytes)};
	uint16_t whole = ret->header.size;
	if (whole < sizeof(ret->header) || whole > size - *at)
		return false;
	*at += whole;
	/* Records of ours have no sample_id. Others that are too short for one have no body. */
	bool is_own = ret->header.type >= RECORD_USER_TYPES;
	ret->body = is_own ? whole : 0;
	if (is_own || whole < sizeof(ret->header) + fields->trailer_tid)
		return true;
	ret->body = whole - fields->trailer_tid;
	ret->time_ns = bytes_u64(bytes + whole - fields->trailer_time);
	task_change_decode(bytes, ret->body, &ret->change);
	ret->change.time_ns = ret->time_ns;
	return true;
}

bool metadata_mapping(const struct metadata_record *record, struct metadata_mapping *ret)
{
	const uint8_t *bytes = record->bytes;
	bool second = record->header.type == PERF_RECORD_MMAP2;
	if ((!second && record->header.type != PERF_RECORD_MMAP) || record->body < MMAP_PATH)
		return false;
	*ret = (struct metadata_mapping){
		.pid = bytes_u32(bytes + PID),
		.start = bytes_u64(bytes + START), .size = bytes_u64(bytes + SIZE),
	};
	if (!second || record->body <= MMAP2_PATH)
		return true;
	ret->prot = bytes_u32(bytes + PROT);
	ret->inode = bytes_u64(bytes + INODE);
	if (memchr(bytes + MMAP2_PATH, 0, record->body - MMAP2_PATH))
		ret->path = (const char *)bytes + MMAP2_PATH;
	return true;
}
