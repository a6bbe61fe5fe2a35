/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decodes the bytes of a record to a struct sp_record. It uses no files and no other state. Each thread
 * needs its own decoder, which is cheap to create.
 */
#pragma once

#include <sprof/reader.h>
#include <sprof/record.h>
#include "base/cleanup.h"
#include "record/raw.h"

/* Facts for decoding records: events, byte order and clock. */
struct record_layout {
	const struct sp_event *events; /* the recording's events; borrowed */
	size_t event_count;
	bool swap;        /* the bytes are not in this machine's byte order */
	const char *path; /* path of the recording, for messages; borrowed */
	/*
	 * Set if the clock was set back during the recording: times before `began_ns` are shifted later
	 * by `set_back_ns`. 0: the clock was not set back, as far as is known.
	 */
	uint64_t began_ns, set_back_ns;
};

/* Time and CPU of a record, from a sample's fields or else from its sample_id. */
struct record_origin {
	uint64_t present; /* PERF_SAMPLE_* bits of the members that are set */
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

/*
 * Returns whether the event's samples are waits in raw data, as those of perf record --off-cpu
 * since Linux 6.16. The decoder reads their fields and a call chain from there.
 */
bool event_is_raw_wait(const struct sp_event *event);

struct decoder;

struct sp_error *decoder_new(const struct record_layout *layout, struct decoder **ret) SP_MUST_CHECK;
void decoder_free(struct decoder *decoder);
DEFINE_CLEANUP(struct decoder *, decoder_free)

/*
 * Decodes one record into *ret, which points into raw->bytes and the decoder's buffer: valid until the
 * next call. Of unknown types, only header and bytes are set. Fails with SP_ERROR_FORMAT at the offset
 * of the field that does not fit; *ret is then undefined.
 */
struct sp_error *decoder_decode(struct decoder *decoder, const struct raw_record *raw,
				struct sp_record *ret) SP_MUST_CHECK;

/*
 * Returns the number of bytes after the fields of the last decoded record, if it was a SAMPLE, else 0.
 * The kernel never leaves any.
 */
size_t decoder_excess(const struct decoder *decoder);
