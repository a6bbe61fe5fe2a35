/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * When something is missing: what stands before and behind a damaged place says it. Records are
 * not found backwards, so reading begins some way before the place, where records seem to begin.
 */
#include "file/reader_internal.h"

#include <assert.h>
#include "file/walker.h"

/* More than the longest record, and some of the usual size. */
#define BEFORE ((uint64_t)128 << 10)

/* Records behind the place, of which one must have a time. */
#define BEHIND_MAX 1000

static uint64_t time_of(const struct sp_record *record)
{
	return record->type == PERF_RECORD_SAMPLE ? record->sample.time_ns : record->id.time_ns;
}

/* Where in the data a place of damage is; false where it is elsewhere in the file. */
static bool place_in_data(const struct sp_reader *reader, const struct sp_damage *damage,
			  uint64_t *ret)
{
	/* The header promises data beyond the end of the file. */
	if (damage->offset == reader->cut_at) {
		*ret = reader->extent.end;
		return true;
	}
	*ret = damage->offset;
	return reader->data_fd == reader->fd && damage->offset >= reader->extent.begin &&
	       damage->offset < reader->extent.end;
}

static struct sp_error *look_around(struct walker *walker, struct decoder *decoder, uint64_t place,
				    uint64_t *from_ret, uint64_t *to_ret)
{
	for (unsigned int behind = 0; !*to_ret && behind < BEHIND_MAX;) {
		struct raw_record raw = {0};
		struct sp_record record;
		struct sp_error *error = walker_next(walker, &raw);
		if (!error && !raw.bytes)
			return NULL;
		behind += walker_offset(walker) > place;
		if (!error && raw.offset != place)
			error = decoder_decode(decoder, &raw, &record);
		else if (!error)
			continue;
		bool good = !error;
		if (error && sp_error_code(error) != SP_ERROR_FORMAT)
			return error;
		sp_error_free(error);
		uint64_t time_ns = good ? time_of(&record) : 0;
		if (time_ns && raw.offset < place)
			*from_ret = time_ns;
		else if (time_ns)
			*to_ret = time_ns;
	}
	return NULL;
}

void sp_reader_damage_time(struct sp_reader *reader, size_t index, uint64_t *from_ns_ret,
			   uint64_t *to_ns_ret)
{
	struct reader_extent extent = reader->extent;
	struct walker *walker = NULL;
	struct decoder *decoder = NULL;
	uint64_t place, from_ns = 0, to_ns = 0;
	*from_ns_ret = *to_ns_ret = 0;
	if (!place_in_data(reader, sp_reader_damage(reader, index), &place))
		return;
	bool at_begin = place - extent.begin <= BEFORE;
	if (!at_begin)
		extent.begin = place - BEFORE;
	struct sp_error *error = walker_new(reader, extent, &walker);
	if (!error)
		error = decoder_new(&reader->layout, &decoder);
	if (!error && !at_begin)
		error = walker_seek(walker);
	if (!error)
		error = look_around(walker, decoder, place, &from_ns, &to_ns);
	walker_free(walker);
	decoder_free(decoder);
	/* What cannot be read again has no time. */
	if (!error) {
		*from_ns_ret = from_ns;
		*to_ns_ret = to_ns;
	}
	sp_error_free(error);
}
