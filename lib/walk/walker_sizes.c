/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A size that is too large makes sense as a header, and swallows up to 64 KB of records. But what a
 * record holds says how long it is (record/length.h): where its size says more, and a chain of
 * headers begins behind what it holds, it is given as long as that, and reading goes on there. The
 * kernel leaves nothing there itself, but for three types (record/mend.h).
 *
 * Of a sample it is noticed where the fields are decoded; who only hops over samples does not know
 * of it. So once one was seen, walkers decode them, too.
 */
#include "walk/walker_internal.h"

#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "file/reader_internal.h"
#include "record/length.h"
#include "record/mend.h"

void walker_doubt(struct walker *walker, const struct raw_record *raw, size_t excess)
{
	if (likely(excess < HEADER_SIZE) || !walker->reader || raw->offset < walker->buffer_offset)
		return;
	struct header header = header_at(raw->bytes + (raw->size - excess), walker->swap);
	if (!header_is_plausible(&header))
		return;
	walker->doubt.begin = raw->offset;
	walker->doubt.fields_end = raw->offset + (raw->size - excess);
	walker->doubt.size = raw->size;
	/* The next call is slow, and settles it: until then the record is in use. */
	walker->stop = walker->pos;
}

struct sp_error *walker_settle_doubt(struct walker *walker)
{
	uint64_t begin = walker->doubt.begin, fields_end = walker->doubt.fields_end;
	size_t size = walker->doubt.size;
	walker->doubt.size = 0;
	walker_set_stop(walker);
	walker->pos = walker->buffer + (fields_end - walker->buffer_offset);
	struct sp_error *error = walker_ensure(walker, CHAIN * RECORD_MAX);
	if (error)
		return error;
	if (walker_begins(walker, walker->pos))
		reader_add_resized_sample(walker->reader, begin, size,
					  (size_t)(fields_end - begin));
	else
		walker->pos = walker->buffer + (begin + size - walker->buffer_offset);
	return NULL;
}

void walker_look_into(struct walker *walker, const struct raw_record *raw)
{
	struct sp_record record;
	struct sp_error *error = decoder_decode(walker->decoder, raw, &record);
	/* Who decodes it again says what is wrong with it. */
	if (!error)
		walker_doubt(walker, raw, decoder_excess(walker->decoder));
	sp_error_free(error);
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

/* Of a record in the buffer, from that of `raw` on; false where it has none. */
static bool time_at(struct walker *walker, const struct raw_record *raw, size_t at, size_t size,
		    uint64_t *ret)
{
	struct header header = header_at(raw->bytes + at, walker->swap);
	const struct raw_record there = {.type = header.type, .misc = header.misc,
					 .size = size ?: header.size, .bytes = raw->bytes + at,
					 .offset = raw->offset + at};
	struct sp_record record;
	struct sp_error *error = decoder_decode(walker->judge, &there, &record);
	bool good = !error;
	sp_error_free(error);
	if (!good)
		return false;
	const struct record_origin from = record_origin(&record);
	*ret = from.time_ns;
	return from.present & PERF_SAMPLE_TIME;
}

/*
 * The kernel itself says too much of some records (record/mend.h), and what then lies behind their
 * fields may have been records once, when the ring was there the last time. So where records begin
 * behind the size that is said, too, the times decide: who makes records up leaves theirs 0. Perf's
 * own were never in a ring.
 */
static struct sp_error *swallows(struct walker *walker, const struct raw_record *raw,
				 size_t length, bool *ret)
{
	uint64_t own_ns, next_ns;
	struct sp_error *error = NULL;
	*ret = !record_size_is_doubtful(raw->type) || !walker_begins(walker, raw->bytes + raw->size) ||
	       header_at(raw->bytes + length, walker->swap).type >= RECORD_USER_TYPES;
	if (*ret || !walker->reader)
		return NULL;
	if (!walker->judge)
		error = decoder_new(&walker->reader->layout, &walker->judge);
	if (!error)
		*ret = time_at(walker, raw, 0, length, &own_ns) &&
		       time_at(walker, raw, length, 0, &next_ns) && (!own_ns || own_ns <= next_ns);
	return error;
}

/* The record is no longer than that: makes it be a copy, which says so, and tells of it. */
static struct sp_error *shorten(struct walker *walker, struct raw_record *raw, size_t length)
{
	uint16_t size = (uint16_t)length;
	if (!walker->mended)
		walker->mended = malloc(RECORD_MAX);
	if (!walker->mended)
		return error_no_memory();
	if (walker->swap)
		size = __builtin_bswap16(size);
	memcpy(walker->mended, raw->bytes, length);
	memcpy(walker->mended + offsetof(struct perf_event_header, size), &size, sizeof(size));
	if (walker->teller)
		reader_add_resized(walker->teller, raw, length, walker->path,
				   walker->reader != NULL);
	raw->bytes = walker->mended;
	raw->size = length;
	return NULL;
}

struct sp_error *walker_hold_size(struct walker *walker, struct raw_record *raw)
{
	size_t lengths[LENGTHS_MAX], count;
	if (!walker->lengths || raw->type == PERF_RECORD_SAMPLE || !walker_seems_too_long(walker, raw))
		return NULL;
	struct sp_error *error = walker_ensure(walker, (CHAIN + 1) * RECORD_MAX);
	if (error)
		return error;
	raw->bytes = walker->pos;
	count = lengths_below(walker->lengths, raw, walker->swap, lengths);
	for (size_t i = 0; i < count; i++) {
		bool sure = false;
		if (!walker_begins(walker, raw->bytes + lengths[i]))
			continue;
		error = swallows(walker, raw, lengths[i], &sure);
		if (error || sure)
			return error ?: shorten(walker, raw, lengths[i]);
	}
	return NULL;
}
