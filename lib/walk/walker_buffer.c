/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The data is read by pread(2). Measured on 566 MB of 568-byte and 1.19 GB of 8,440-byte records
 * in the page cache, this takes 40 and 75 ms; mappings take 62 to 76 and 96 to 110 ms, in windows
 * of 1 to 64 MiB, populated or not; and a mapping causes SIGBUS when the file shrinks or its disk
 * fails. The buffer is small enough for the second-level cache to have its bytes when records are
 * decoded: a report of 566 MB takes 430 ms of CPU time with 256 KiB, 510 with 1 MiB.
 *
 * Stack copies are an exception, because a report looks at a tenth of their bytes: if it is safe
 * (file_mapping.h), windows of the file take the place of the buffer. A report of 1.6 GB of copies
 * of 8 KB takes 0.70 of the time then.
 *
 * A record is never split: a buffer that ends inside one is filled again from that record's
 * start. Records thus stay aligned as they are in the file.
 */
#include "walk/walker_buffer.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "base/ctx.h"
#include "base/error.h"
#include "base/io.h"
#include "file/reader_damage.h"
#include "file/reader_struct.h"
#include "record/record_length.h"

/*
 * A record's contents give its length (record/record_length.h). If its size is larger, and records
 * begin after the contents, it is returned with that length, and reading continues there. The
 * kernel itself leaves bytes there in three types only (record/record_length.h).
 *
 * A sample's length is known once its fields are decoded, which code that skips samples does not
 * do. Therefore walkers decode samples as soon as one such sample was found.
 */

struct sp_error *walker_check_excess(struct walker *walker)
{
	uint64_t begin = walker->doubt.begin, fields_end = walker->doubt.fields_end;
	size_t size = walker->doubt.size;
	walker->doubt.size = 0;
	walker_set_stop(walker);
	walker->pos = walker->base + (fields_end - walker->base_offset);
	TRY(walker_ensure(walker, RESYNC_HEADERS * RECORD_MAX));
	if (walker_records_begin(walker, walker->pos))
		reader_add_resized_sample(walker->reader, begin, size,
					  (size_t)(fields_end - begin));
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
	uint16_t size = (uint16_t)length;
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

/*
 * Upper limit of the record's size. simpleperf writes the payload into the record, which is then
 * larger.
 */
#define TRACING_DATA_MAX 16

/*
 * Returns whether a size that is no multiple of 8 is normal for the record. TRACING_DATA has 12
 * bytes. perf pads the file name in a BUILD_ID record to 64 bytes, after 36 bytes of other fields.
 * Old lists of CPUs are not padded.
 */
static bool is_odd(const struct header *header)
{
	switch (header->type) {
	case SP_RECORD_COMPRESSED:
	case SP_RECORD_COMPRESSED2:
		return false;
	case SP_RECORD_HEADER_TRACING_DATA:
	case SP_RECORD_HEADER_BUILD_ID:
		return header->size & 3;
	case SP_RECORD_CPU_MAP:
		return header->size & 1;
	default:
		return header->size & 7;
	}
}

bool header_is_plausible(const struct header *header)
{
	bool kernel = header->type && header->type <= RECORD_CALLCHAIN_DEFERRED;
	bool user = header->type >= RECORD_USER_TYPES && sp_record_type_name(header->type);
	return (kernel || user || header_is_simpleperf(header)) && header->size >= HEADER_SIZE &&
	       !is_odd(header);
}

bool headers_are_plausible(const uint8_t *pos, const uint8_t *end, bool at_end, bool swap)
{
	for (int i = 0; i < RESYNC_HEADERS; i++) {
		size_t left = (size_t)(end - pos);
		if (!left)
			return i && at_end;
		if (left < HEADER_SIZE)
			return false;
		struct header header = header_at(pos, swap);
		if (!header_is_plausible(&header) || header.size > left)
			return false;
		/*
		 * Data follows these records instead of a header. Their sizes are few, so they can
		 * be checked.
		 */
		if (header.type == SP_RECORD_AUXTRACE)
			return header.size == 48;
		if (header.type == SP_RECORD_HEADER_TRACING_DATA)
			return header.size >= 12 && header.size <= TRACING_DATA_MAX;
		pos += header.size;
	}
	return true;
}

#define READ_SIZE ((size_t)1 << 18)

/*
 * Size of a window of the mapped file. Pages that were read stay in memory until the window is closed.
 */
#define WINDOW_SIZE ((uint64_t)4 << 20)

/* Size of the buffer for searches: one half is searched before the other is filled again. */
#define SEARCH_SIZE (2 * READ_SIZE)

bool walker_buffer_init(struct walker *walker, uint64_t offset, uint64_t size)
{
	walker->buffer_size = size < SEARCH_SIZE ? (size_t)size : SEARCH_SIZE;
	walker->buffer = aligned_alloc(4096, walker->buffer_size);
	walker->base_offset = offset;
	walker->base = walker->pos = walker->stop = walker->end = walker->buffer;
	return walker->buffer;
}

void walker_set_stop(struct walker *walker)
{
	uint64_t offset = walker->base_offset;
	uint64_t own = walker->begin_end > offset ? walker->begin_end - offset : 0;
	size_t size = (size_t)(walker->end - walker->base);
	walker->stop = own < size ? walker->base + own : walker->end;
}

/* Sets the walker's content: `bytes` has `size` bytes of the file from `offset` on. */
static void set_content(struct walker *walker, uint64_t offset, const uint8_t *bytes, size_t size)
{
	walker->base_offset = offset;
	walker->base = walker->pos = bytes;
	walker->end = bytes + size;
	walker_set_stop(walker);
}

void walker_close_window(struct walker *walker)
{
	if (walker->window.is_open)
		mapping_close(walker->mapping, walker->window.begin, walker->window.size);
	walker->window.is_open = false;
}

/* Opens the window that contains `offset`. Returns false if the file must be read instead. */
static bool open_window(struct walker *walker, uint64_t offset)
{
	uint64_t begin = offset & ~(MAPPING_ALIGN - 1);
	uint64_t size = walker->data_end - begin;
	walker_close_window(walker);
	if (!walker->mapping || offset < walker->unmapped_end)
		return false;
	if (size > WINDOW_SIZE)
		size = WINDOW_SIZE;
	const uint8_t *bytes = mapping_open(walker->mapping, begin, size);
	if (!bytes) {
		walker->unmapped_end = begin + size;
		return false;
	}
	walker->window.begin = begin;
	walker->window.size = size;
	walker->window.is_open = true;
	set_content(walker, offset, bytes + (offset - begin), (size_t)(size - (offset - begin)));
	return true;
}

void walker_move(struct walker *walker, uint64_t offset)
{
	set_content(walker, offset, walker->buffer, 0);
}

struct sp_error *walker_fill(struct walker *walker, uint64_t offset, size_t most)
{
	uint64_t left = walker->data_end - offset;
	size_t size = left < most ? (size_t)left : most, got = 0;
	TRY(walker->reader ? ctx_check(walker->reader->ctx) : NULL);
	if (open_window(walker, offset))
		return NULL;
	int errnum = io_pread(walker->fd, walker->buffer, size, (off_t)offset, &got);
	set_content(walker, offset, walker->buffer, got);
	if (errnum) {
		walker->finished = true;
		return error_prefix(error_os(errnum, "cannot read at offset 0x%llx",
					     (unsigned long long)offset), "%s", walker->path);
	}
	if (got < size) {
		walker->data_end = offset + got;
		return error_format(walker->path, offset + got,
				    "the file ends here; it was truncated after opening");
	}
	return NULL;
}

struct sp_error *walker_ensure(struct walker *walker, size_t need)
{
	uint64_t offset = walker_pos_offset(walker);
	uint64_t left = walker->data_end - offset;
	if (need > left)
		need = (size_t)left;
	if ((size_t)(walker->end - walker->pos) >= need)
		return NULL;
	bool searching = need > RECORD_MAX + 1;
	size_t most = searching || walker->buffer_size < READ_SIZE ? walker->buffer_size : READ_SIZE;
	return walker_fill(walker, offset, most);
}

bool walker_records_begin(const struct walker *walker, const uint8_t *pos)
{
	uint64_t end = walker->base_offset + (uint64_t)(walker->end - walker->base);
	return records_begin(pos, walker->end, end == walker->data_end, walker->swap);
}
