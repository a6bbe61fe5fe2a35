/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the time in which records are missing at a damaged place: from the last record before it to the
 * first after it. Records cannot be read backwards, so reading begins some way before the place, at
 * bytes that look like a record.
 */
#include <sprof/private/command.h>
#include <sprof/reader.h>

#include "file/reader_struct.h"
#include "record/decode.h"
#include "walk/walker.h"

/* Number of bytes to read before the place: the longest record and some of the usual size. */
#define BEFORE ((uint64_t)128 << 10)

/* Limit of records to search for a time after the place. */
#define BEHIND_MAX 1000

/* A place in the data where records are missing. */
struct gap {
	uint64_t place;
	bool between; /* the place is between two good records */
};

/*
 * Finds the place of a damage. Returns false if the damage is not in the data, or no records are
 * missing.
 */
static bool gap_of(const struct sp_reader *reader, size_t index, struct gap *ret)
{
	if (index >= reader->damage.places.count)
		return false;
	const struct damage *damage = &reader->damage.places.items[index];
	*ret = (struct gap){damage->place, damage->between};
	/*
	 * The data ends too early: the header promises more than the file has, or has no size of the
	 * data.
	 */
	bool at_end = damage->place == DAMAGE_AT_END ||
		      (damage->place == DAMAGE_OF_FILE && damage->shown.offset == reader->cut_at);
	if (at_end)
		ret->place = reader->extent.end;
	else if (damage->place == DAMAGE_OF_FILE && reader->data_fd == reader->fd)
		ret->place = damage->shown.offset;
	return ret->place >= reader->extent.begin &&
	       (ret->place < reader->extent.end || ret->between || at_end) &&
	       ret->place <= reader->extent.end;
}

static struct sp_error *look_around(struct walker *walker, struct decoder *decoder,
				    const struct gap *gap, uint64_t *from_ret, uint64_t *to_ret)
{
	uint64_t place = gap->place;
	for (unsigned int behind = 0; !*to_ret && behind < BEHIND_MAX;) {
		struct raw_record raw = {0};
		struct sp_record record;
		struct sp_error *error = walker_next(walker, &raw);
		if (!error && !raw.bytes)
			return NULL;
		behind += walker_offset(walker) > place;
		if (!error && (gap->between || raw.offset != place))
			error = decoder_decode(decoder, &raw, &record);
		else if (!error)
			continue;
		bool good = !error;
		if (error && sp_error_code(error) != SP_ERROR_FORMAT)
			return error;
		sp_error_free(error);
		uint64_t time_ns = good ? record_origin(&record).time_ns : 0;
		if (time_ns && raw.offset < place)
			*from_ret = time_ns;
		else if (time_ns)
			*to_ret = time_ns;
	}
	return NULL;
}

/*
 * Finds the times of the records around the gap; 0 if there is no time, or records cannot be read
 * again.
 */
static void times_around(struct sp_reader *reader, const struct gap *gap, uint64_t *from_ns_ret,
			 uint64_t *to_ns_ret)
{
	struct reader_extent extent = reader->extent;
	struct walker *walker = NULL;
	struct decoder *decoder = NULL;
	uint64_t from_ns = 0, to_ns = 0;
	*from_ns_ret = *to_ns_ret = 0;
	bool at_begin = gap->place - extent.begin <= BEFORE;
	if (!at_begin)
		extent.begin = gap->place - BEFORE;
	struct sp_error *error = walker_new(reader, extent, &walker);
	if (!error)
		error = decoder_new(&reader->layout, &decoder);
	if (!error && !at_begin)
		error = walker_seek(walker);
	if (!error)
		error = look_around(walker, decoder, gap, &from_ns, &to_ns);
	walker_free(walker);
	decoder_free(decoder);
	if (!error) {
		*from_ns_ret = from_ns;
		*to_ns_ret = to_ns;
	}
	sp_error_free(error);
}

void sp_reader_damage_time(struct sp_reader *reader, size_t index, uint64_t *from_ns_ret,
			   uint64_t *to_ns_ret)
{
	struct gap gap;
	*from_ns_ret = *to_ns_ret = 0;
	if (gap_of(reader, index, &gap))
		times_around(reader, &gap, from_ns_ret, to_ns_ret);
}

uint64_t sp_reader_last_ns(struct sp_reader *reader)
{
	const struct gap end = {.place = reader->extent.end};
	uint64_t last_ns, none;
	times_around(reader, &end, &last_ns, &none);
	return last_ns;
}
