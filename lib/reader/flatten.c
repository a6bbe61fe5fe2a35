/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Copies data that is not one flat run of records to one, in a temporary file:
 *
 * - COMPRESSED (81) and COMPRESSED2 (83) records hold the pieces of one zstd
 *   stream, which inflates to records. A piece may end inside a record; the next
 *   piece then has the rest, even if other records are between the two.
 * - A directory (perf record --threads) has the header and some records in its
 *   file `data`, and the others in data.0, data.1, …, each with a stream of its own.
 *
 * perf 6.16 and later (to the middle of 2026) break COMPRESSED2 records with a size that does not
 * fit the header's 16 bits. walker.c finds the end of such a record. It holds either one piece or
 * several records, each but the last of the largest size:
 *
 *	header  data_size  65,519 bytes  header  (garbage)  bytes  header …
 *
 * A few made-up bytes can inflate to gigabytes. No more is inflated than 4,096 times the bytes read
 * (and 16 MiB). Real recordings, even of zeroed stacks, stay below 500 times.
 */
#include "reader/recording_source.h"

#include <errno.h>
#include "base/cleanup.h"
#include "base/ctx.h"
#include "base/io.h"
#include "file/inflate.h"
#include "file/reader_damage.h"
#include "file/reader_io.h"
#include "file/reader_struct.h"
#include "reader/temp_file.h"
#include "record/types.h"
#include "walk/walker.h"

#define HEADER_SIZE 8
#define HEADER2_SIZE 16
#define RECORD_MAX ((size_t)UINT16_MAX)
#define BLOCK_SIZE ((size_t)256 * 1024)
#define PIECE_MAX ((size_t)65519)

#define INFLATE_FREE (UINT64_C(16) << 20)
#define INFLATE_RATIO 4096

struct flattener {
	struct sp_reader *reader;
	struct temp_file temp;
	struct inflater *inflater; /* decompressor of the current source; NULL until a compressed record
				    * comes */
	int fd;                    /* file of the current source */
	const char *path;
	bool lost;                 /* the compressed stream is damaged; records are missing up to its next
				    * frame */
	bool refused;              /* decompression was given up because the output is too large */
	uint64_t lost_offset, lost_bytes;
	uint64_t lost_place;       /* offset in the flat data where records are missing */
	uint64_t read_bytes, inflated_bytes;
	uint8_t *piece;            /* buffer for compressed bytes, of PIECE_MAX bytes */
	uint8_t *block;            /* buffer for decompressed bytes: an incomplete record, then the output
				    * of one step */
	size_t begun;              /* number of bytes of the incomplete record in `block` */
};

static void add_gap(struct flattener *flattener, uint64_t offset, struct sp_error *error)
{
	reader_add_gap(flattener->reader, offset, flattener->temp.size, error);
}

/*
 * Writes the whole records in `block` to the temporary file, and moves the incomplete rest to its
 * start.
 */
static struct sp_error *emit(struct flattener *flattener, size_t size, uint64_t offset)
{
	const uint8_t *pos = flattener->block, *end = pos + size;
	struct sp_error *error = NULL;
	while (!error && end - pos >= HEADER_SIZE) {
		struct cursor cursor = reader_cursor(flattener->reader, pos, HEADER_SIZE, 0);
		uint32_t type = 0;
		uint16_t misc = 0, record_size = 0;
		bool good = cursor_u32(&cursor, &type) && cursor_u16(&cursor, &misc) &&
			    cursor_u16(&cursor, &record_size);
		if (!good || record_size < HEADER_SIZE) {
			/*
			 * These bytes are no record. They are copied: the walker of the flat data lists
			 * the damage.
			 */
			error = temp_file_append(&flattener->temp, pos, end - pos);
			pos = end;
			break;
		}
		if (record_size > end - pos)
			break;
		if (type == SP_RECORD_COMPRESSED || type == SP_RECORD_COMPRESSED2)
			add_gap(flattener, offset, error_format(flattener->path, offset,
				"skipped a compressed record inside compressed data"));
		else
			error = temp_file_append(&flattener->temp, pos, record_size);
		pos += record_size;
	}
	flattener->begun = end - pos;
	memmove(flattener->block, pos, flattener->begun);
	return error;
}

static bool begins_frame(const uint8_t *bytes, size_t size)
{
	static const uint8_t magic[] = {0x28, 0xb5, 0x2f, 0xfd};
	return size >= sizeof(magic) && !memcmp(bytes, magic, sizeof(magic));
}

static void lose(struct flattener *flattener, uint64_t offset, const char *why)
{
	add_gap(flattener, offset, error_format(flattener->path, offset,
						"cannot decompress records: %s", why));
	flattener->lost = true;
	flattener->lost_offset = offset;
	flattener->lost_place = flattener->temp.size;
	flattener->begun = 0;
}

static void add_lost(struct flattener *flattener)
{
	uint64_t offset = flattener->lost_offset;
	if (flattener->lost_bytes)
		reader_add_gap(flattener->reader, offset, flattener->lost_place,
			       error_format(flattener->path, offset,
			"skipped %llu more bytes of compressed records, which need these",
			(unsigned long long)flattener->lost_bytes));
	flattener->lost_bytes = 0;
}

static bool check_ratio(struct flattener *flattener, uint64_t offset)
{
	uint64_t most = INFLATE_FREE + flattener->read_bytes * INFLATE_RATIO;
	if (flattener->inflated_bytes <= most)
		return true;
	lose(flattener, offset, "they become more than 4096 times as long");
	flattener->refused = true;
	return false;
}

/* Decompresses one piece of the stream. `offset` is the place of its record, for messages. */
static struct sp_error *inflate(struct flattener *flattener, const uint8_t *bytes, size_t size,
				uint64_t offset)
{
	struct inflate_input input = {bytes, bytes + size};
	size_t got = 0;
	if (flattener->lost && !flattener->refused && begins_frame(bytes, size)) {
		add_lost(flattener);
		inflater_reset(flattener->inflater);
		flattener->lost = false;
	}
	if (flattener->lost) {
		flattener->lost_bytes += size;
		return NULL;
	}
	flattener->read_bytes += size;
	do {
		const char *wrong = inflater_step(flattener->inflater, &input,
						  flattener->block + flattener->begun, BLOCK_SIZE,
						  &got);
		if (wrong) {
			lose(flattener, offset, wrong);
			return NULL;
		}
		flattener->inflated_bytes += got;
		TRY(emit(flattener, flattener->begun + got, offset));
		if (!check_ratio(flattener, offset))
			return NULL;
	} while (input.pos < input.end || got == BLOCK_SIZE);
	return NULL;
}

/* Decompresses `size` bytes at `offset` of the source. */
static struct sp_error *inflate_at(struct flattener *flattener, uint64_t offset, size_t size,
				   uint64_t record_offset)
{
	size_t got;
	int errnum = io_pread(flattener->fd, flattener->piece, size, offset, &got);
	if (errnum)
		return error_os(errnum, "cannot read %s", flattener->path);
	return inflate(flattener, flattener->piece, got, record_offset);
}

/* Decompresses the records in a compressed record that is larger than its header's size can state. */
static struct sp_error *inflate_overlong(struct flattener *flattener, uint64_t offset, uint64_t end)
{
	struct sp_error *error = NULL;
	uint64_t begin = offset;
	while (!error && end - begin > HEADER2_SIZE) {
		uint64_t left = end - begin - HEADER2_SIZE;
		size_t size = left < PIECE_MAX ? (size_t)left : PIECE_MAX;
		error = inflate_at(flattener, begin + HEADER2_SIZE, size, offset);
		begin += HEADER2_SIZE + size;
	}
	return error;
}

static struct sp_error *flatten_compressed(struct flattener *flattener,
					   const struct raw_record *raw, uint64_t end)
{
	struct cursor cursor = reader_cursor(flattener->reader, raw->bytes, raw->size, raw->offset);
	uint64_t size = 0;
	const uint8_t *bytes = NULL;
	struct sp_error *error = NULL;
	flattener->reader->info.compressed = true;
	if (!flattener->inflater)
		error = error_prefix(inflater_new(&flattener->inflater), "%s", flattener->path);
	if (error)
		return error;
	bool good = cursor_skip(&cursor, HEADER_SIZE);
	if (raw->type == SP_RECORD_COMPRESSED)
		size = cursor_left(&cursor);
	else
		good = good && cursor_u64(&cursor, &size);
	if (end - raw->offset > raw->size)
		return inflate_overlong(flattener, raw->offset, end);
	if (!good || size > cursor_left(&cursor) || !cursor_bytes(&cursor, size, &bytes)) {
		add_gap(flattener, raw->offset,
			error_format(flattener->path, raw->offset, "a COMPRESSED2 record of %zu bytes claims "
				     "%llu bytes of data", raw->size, (unsigned long long)size));
		return NULL;
	}
	return inflate(flattener, bytes, size, raw->offset);
}

/* Copies a record that is not compressed, and its payload. */
static struct sp_error *flatten_plain(struct flattener *flattener, const struct raw_record *raw,
				      uint64_t end)
{
	struct sp_error *error = temp_file_append(&flattener->temp, raw->bytes, raw->size);
	uint64_t offset = raw->offset + raw->size;
	while (!error && offset < end) {
		size_t size = end - offset < PIECE_MAX ? (size_t)(end - offset) : PIECE_MAX, got;
		int errnum = io_pread(flattener->fd, flattener->piece, size, offset, &got);
		if (errnum || !got)
			return error_os(errnum ?: EIO, "cannot read %s", flattener->path);
		error = temp_file_append(&flattener->temp, flattener->piece, got);
		offset += got;
	}
	return error;
}

static struct sp_error *flatten_walk(struct flattener *flattener, struct walker *walker)
{
	for (;;) {
		struct raw_record raw = {0};
		uint64_t offset = walker_offset(walker);
		TRY(ctx_check(flattener->reader->ctx));
		struct sp_error *error = walker_next(walker, &raw);
		if (error && sp_error_code(error) == SP_ERROR_NO_MEMORY)
			return error;
		if (error) {
			add_gap(flattener, offset, error);
			continue;
		}
		if (!raw.bytes)
			return NULL;
		bool compressed = raw.type == SP_RECORD_COMPRESSED ||
				  raw.type == SP_RECORD_COMPRESSED2;
		uint64_t end = walker_offset(walker);
		ctx_add_done(flattener->reader->ctx, end - offset);
		TRY(compressed ? flatten_compressed(flattener, &raw, end)
			       : flatten_plain(flattener, &raw, end));
	}
}

/* Copies one file's records. Each file has a compressed stream of its own. */
static struct sp_error *flatten_source(struct flattener *flattener,
				       const struct flat_source *source)
{
	struct walker *walker;
	uint64_t end = source->extent.end;
	flattener->fd = source->fd;
	flattener->path = source->path;
	flattener->lost = flattener->refused = false;
	ctx_begin_step(flattener->reader->ctx, SP_STEP_INFLATE, end - source->extent.begin);
	const struct walker_file file = {source->fd, source->path, flattener->reader->swap, end};
	TRY(walker_new_at(&file, source->extent, &walker));
	walker_check_sizes(walker, &flattener->reader->lengths, flattener->reader);
	struct sp_error *error = flatten_walk(flattener, walker);
	walker_free(walker);
	add_lost(flattener);
	bool unfinished = flattener->inflater && !flattener->lost &&
			  inflater_unfinished(flattener->inflater);
	if (!error && (flattener->begun || unfinished))
		add_gap(flattener, end, error_format(source->path, end,
			"the compressed data ends inside a record or block"));
	flattener->begun = 0;
	inflater_free(take_ptr(flattener->inflater));
	return error;
}

static void flattener_deinit(struct flattener *flattener)
{
	inflater_free(flattener->inflater);
	temp_file_deinit(&flattener->temp);
	free(flattener->piece);
	free(flattener->block);
}

struct sp_error *reader_flatten(struct sp_reader *reader, const struct flat_source *first,
				const struct source_parts *parts)
{
	CLEANUP(flattener_deinit) struct flattener flattener = {.reader = reader, .temp = TEMP_FILE_NONE};
	flattener.piece = malloc(PIECE_MAX);
	flattener.block = malloc(RECORD_MAX + BLOCK_SIZE);
	NEED(flattener.piece && flattener.block);
	TRY(temp_file_init(&flattener.temp));
	struct sp_error *error = flatten_source(&flattener, first);
	for (size_t i = 0; !error && i < parts->count; i++)
		error = flatten_source(&flattener, &parts->items[i]);
	if (error)
		return error;
	TRY(temp_file_finish(&flattener.temp, &reader->data_fd));
	reader->packed = first->extent;
	reader->extent = (struct reader_extent){0, flattener.temp.size};
	return NULL;
}
