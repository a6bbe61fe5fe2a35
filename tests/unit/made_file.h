/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A made-up perf.data file of one event, piece by piece, in either byte order:
 *
 *	made_begin(&bytes, swap);     header, attrs
 *	record_begin() … record_end() the records
 *	made_end_data(&bytes);
 *	put_feature() …               then the table, by made_end_features()
 */
#ifndef UNIT_MADE_FILE_H
#define UNIT_MADE_FILE_H

#include "bytes.h"

#define MADE_ID 17

static const struct perf_event_attr made_attr = {
	.type = PERF_TYPE_SOFTWARE,
	.size = 112,
	.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
	.sample_id_all = 1,
};

struct made_feature {
	unsigned int bit;
	const void *payload; /* in the file's order already */
	size_t size;
};

static inline void made_begin(struct bytes *bytes, bool swap)
{
	bytes->swap = swap;
	bytes->size = 0;
	put_file_header(bytes);
	size_t ids = bytes->size;
	put_u64(bytes, MADE_ID);
	set_u64(bytes, FILE_ATTRS_AT, bytes->size);
	set_u64(bytes, FILE_ATTRS_AT + 8, 112 + 16);
	set_u64(bytes, FILE_ATTR_SIZE_AT, 112 + 16);
	put_attr(bytes, &made_attr, 112);
	put_u64(bytes, ids);
	put_u64(bytes, 8);
	set_u64(bytes, FILE_DATA_AT, bytes->size);
}

/* Adds to what a sample of the event has: after made_begin(). */
static inline void made_sample_type(struct bytes *bytes, uint64_t more)
{
	uint64_t attrs;
	memcpy(&attrs, bytes->at + FILE_ATTRS_AT, 8);
	attrs = bytes->swap ? __builtin_bswap64(attrs) : attrs;
	set_u64(bytes, attrs + offsetof(struct perf_event_attr, sample_type),
		made_attr.sample_type | more);
}

static inline void made_sample(struct bytes *bytes, uint64_t ip)
{
	record_begin(bytes, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	put_u64(bytes, ip);
	put_u32(bytes, 1);
	put_u32(bytes, 1);
	put_u64(bytes, 1000 + ip);
	record_end(bytes);
}

static inline size_t made_data_begin(const struct bytes *bytes)
{
	uint64_t offset;
	memcpy(&offset, bytes->at + FILE_DATA_AT, 8);
	return bytes->swap ? __builtin_bswap64(offset) : offset;
}

static inline void made_end_data(struct bytes *bytes)
{
	set_u64(bytes, FILE_DATA_AT + 8, bytes->size - made_data_begin(bytes));
}

/* The table and the payloads; the features in ascending order. */
static inline void made_features(struct bytes *bytes, const struct made_feature *features,
				 size_t count)
{
	uint64_t bits[4] = {0};
	uint64_t offset = bytes->size + 16 * count;
	for (size_t i = 0; i < count; i++) {
		bits[features[i].bit / 64] |= UINT64_C(1) << features[i].bit % 64;
		put_u64(bytes, offset);
		put_u64(bytes, features[i].size);
		offset += features[i].size;
	}
	for (size_t i = 0; i < count; i++)
		put(bytes, features[i].payload, features[i].size);
	for (size_t i = 0; i < 4; i++)
		set_u64(bytes, FILE_FEATURES_AT + 8 * i, bits[i]);
}

/* The header of a stream, and its one event. */
static inline void made_begin_stream(struct bytes *bytes, bool swap)
{
	bytes->swap = swap;
	bytes->size = 0;
	put_u64(bytes, UINT64_C(0x32454c4946524550));
	put_u64(bytes, 16);
	record_begin(bytes, 64, 0);
	put_attr(bytes, &made_attr, 112);
	put_u64(bytes, MADE_ID);
	record_end(bytes);
}

#endif
