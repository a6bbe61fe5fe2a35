/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bytes -> struct sp_record. Pure: no files, no machine. One decoder for each
 * thread; making one is cheap.
 */
#ifndef RECORD_DECODE_H
#define RECORD_DECODE_H

#include <sprof/reader.h>
#include <sprof/record.h>
#include "record/raw.h"

/* Facts for decoding records: events, byte order and clock. */
struct record_layout {
	const struct sp_event *events; /* borrowed */
	size_t event_count;
	bool swap;        /* the bytes are of the other byte order */
	const char *path; /* for messages; borrowed */
	/*
	 * The clock was set back meanwhile: times before the recording began are told as so much
	 * later. 0: it was not, as far as is known.
	 */
	uint64_t began_ns, set_back_ns;
};

/*
 * Time and CPU of a record, from a sample's fields or else from its sample_id, as far as present.
 */
struct record_origin {
	uint64_t present; /* PERF_SAMPLE_* */
	uint64_t time_ns;
	uint32_t cpu;
};

static inline struct record_origin record_origin(const struct sp_record *record)
{
	if (record->type == PERF_RECORD_SAMPLE)
		return (struct record_origin){record->sample.present, record->sample.time_ns,
					      record->sample.cpu};
	return (struct record_origin){record->id.present, record->id.time_ns, record->id.cpu};
}

struct decoder;

struct sp_error *decoder_new(const struct record_layout *layout, struct decoder **ret) SP_MUST_CHECK;
void decoder_free(struct decoder *decoder);

/*
 * Decodes one record into *ret, which points into raw->bytes and into the
 * decoder's scratch: valid until the next call. Unknown types are no error:
 * header and bytes alone are set. Fails with SP_ERROR_FORMAT at the offset of
 * what does not fit; *ret is then undefined.
 */
struct sp_error *decoder_decode(struct decoder *decoder, const struct raw_record *raw,
				struct sp_record *ret) SP_MUST_CHECK;

/*
 * How many bytes of the record last decoded lie behind its fields, where it is a SAMPLE: the kernel
 * leaves none. 0 of all others.
 */
size_t decoder_excess(const struct decoder *decoder);

#endif
