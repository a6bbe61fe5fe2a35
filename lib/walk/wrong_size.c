/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A record's contents give its length (record/record_length.h). If its size is larger, and records
 * begin after the contents, it is returned with that length, and reading continues there. The
 * kernel itself leaves bytes there in three types only (record/record_length.h).
 *
 * A sample's length is known once its fields are decoded, which code that skips samples does not
 * do. Therefore walkers decode samples as soon as one such sample was found.
 */
#include "walk/wrong_size.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "file/reader_damage.h"
#include "file/reader_struct.h"
#include "record/record_length.h"

struct sp_error *walker_check_excess(struct walker *walker)
{
	uint64_t begin = walker->doubt.begin, fields_end = walker->doubt.fields_end;
	size_t size = walker->doubt.size;
	walker->doubt.size = 0;
	walker_set_stop(walker);
	walker->pos = walker->base + (fields_end - walker->base_offset);
	TRY(walker_ensure(walker, RESYNC_HEADERS * RECORD_MAX));
	if (walker_records_begin(walker, walker->pos))
		reader_add_resized_sample(walker->reader, begin, size, fields_end - begin);
	else
		walker->pos = walker->base + (begin + size - walker->base_offset);
	return NULL;
}

bool walker_has_header_inside(const struct walker *walker, const struct raw_record *raw)
{
	size_t lengths[LENGTHS_MAX];
	size_t count = lengths_below(walker->lengths, raw, walker->swap, lengths);
	for (size_t i = 0; i < count; i++) {
		if (raw->size - lengths[i] < HEADER_SIZE)
			return true;
		struct header header = header_at(raw->bytes + lengths[i], walker->swap);
		if (header_is_plausible(&header))
			return true;
	}
	return false;
}

/*
 * Returns the time of the record that begins `at` bytes after `raw`. `size` replaces its header's
 * size, unless it is 0. Returns false if the record has no time.
 */
static bool time_at(struct walker *walker, const struct raw_record *raw, size_t at, size_t size,
		    uint64_t *ret)
{
	struct header header = header_at(raw->bytes + at, walker->swap);
	const struct raw_record there = {.type = header.type, .misc = header.misc,
					 .size = size ?: header.size, .bytes = raw->bytes + at,
					 .offset = raw->offset + at};
	struct sp_record record;
	struct sp_error *error = decoder_decode(walker->time_decoder, &there, &record);
	bool good = !error;
	sp_error_free(error);
	if (!good)
		return false;
	const struct record_origin from = record_origin(&record);
	*ret = from.time_ns;
	return from.present & PERF_SAMPLE_TIME;
}

/*
 * Finds out whether a record contains other records after its first `length` bytes. The kernel's
 * size is too large for some types (record/record_length.h): old contents of the ring buffer
 * follow, which may look like records. If records begin after header.size, too, times decide.
 * Records that perf makes itself have time 0, and were never in a ring buffer.
 */
static struct sp_error *contains_records(struct walker *walker, const struct raw_record *raw,
					 size_t length, bool *ret)
{
	uint64_t own_ns, next_ns;
	struct sp_error *error = NULL;
	*ret = !record_size_is_doubtful(raw->type) ||
	       !walker_records_begin(walker, raw->bytes + raw->size) ||
	       header_at(raw->bytes + length, walker->swap).type >= RECORD_USER_TYPES;
	if (*ret || !walker->reader)
		return NULL;
	if (!walker->time_decoder)
		error = decoder_new(&walker->reader->layout, &walker->time_decoder);
	if (error)
		return error;
	*ret = time_at(walker, raw, 0, length, &own_ns) &&
	       time_at(walker, raw, length, 0, &next_ns) && (!own_ns || own_ns <= next_ns);
	return NULL;
}

/* Replaces *raw by a copy with the given length, and lists the damage. */
static struct sp_error *shorten(struct walker *walker, struct raw_record *raw, size_t length)
{
	uint16_t size = length;
	if (!walker->shortened)
		walker->shortened = malloc(RECORD_MAX);
	NEED(walker->shortened);
	if (walker->swap)
		size = __builtin_bswap16(size);
	memcpy(walker->shortened, raw->bytes, length);
	memcpy(walker->shortened + offsetof(struct perf_event_header, size), &size, sizeof(size));
	if (walker->damaged)
		reader_add_resized(walker->damaged, raw, length, walker->path,
				   walker->reader != NULL);
	raw->bytes = walker->shortened;
	raw->size = length;
	return NULL;
}

struct sp_error *walker_check_size(struct walker *walker, struct raw_record *raw)
{
	size_t lengths[LENGTHS_MAX], count;
	if (!walker->lengths || raw->type == PERF_RECORD_SAMPLE ||
	    !walker_seems_too_long(walker, raw))
		return NULL;
	struct sp_error *error = walker_ensure(walker, (RESYNC_HEADERS + 1) * RECORD_MAX);
	if (error)
		return error;
	raw->bytes = walker->pos;
	count = lengths_below(walker->lengths, raw, walker->swap, lengths);
	for (size_t i = 0; i < count; i++) {
		bool sure = false;
		if (!walker_records_begin(walker, raw->bytes + lengths[i]))
			continue;
		error = contains_records(walker, raw, lengths[i], &sure);
		if (error || sure)
			return error ?: shorten(walker, raw, lengths[i]);
	}
	return NULL;
}
