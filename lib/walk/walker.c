/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The data is read by pread into a buffer. Measured on 566 MB of 568-byte and
 * 1.19 GB of 8,440-byte records in the page cache, this takes 40 and 75 ms;
 * mappings take 62 to 76 and 96 to 110 ms, in windows of 1 to 64 MiB, populated or
 * not; and a mapping dies of SIGBUS when the file shrinks or its disk fails. The
 * buffer is small enough for what was read to be still in the second-level cache
 * when it is decoded: a report of 566 MB takes 430 ms of CPU time with 256 KiB,
 * 510 with 1 MiB.
 *
 * Where samples are not wanted, long ones are hopped over by their headers (1.19 GB of
 * 8,440-byte records: 75 -> 30 ms).
 *
 * A record is never split: where the buffer ends inside one it is filled again
 * from that record's start, so that records stay aligned as they are in the file.
 *
 * Where a header makes no sense, the next place is looked for at which a chain of
 * plausible headers begins, byte by byte: COMPRESSED records, and those of types that nobody
 * knows, have sizes of any number of bytes.
 */
#include "walk/walker.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/ctx.h"
#include "base/format.h"
#include "base/io.h"
#include "file/reader_internal.h"
#include "walk/walker_internal.h"

#define HEADER2_SIZE 16 /* of COMPRESSED2 */

/* simpleperf puts the payload inside the record, which then is longer than this. */
#define TRACING_DATA_MAX 16
#define BUFFER_SIZE ((size_t)1 << 18)

/* Where records are looked for: half of it is gone through before the other is read again. */
#define SEARCH_SIZE (2 * BUFFER_SIZE)

/* Longer samples are hopped over where nobody wants to see them: less costs more than it saves. */
#define HOP_MIN 4096
#define HOP_READ 512

/* HEADER_TRACING_DATA of 12 bytes shifts all that follow it. */
#define SEEK_STEP 4

#define LINE 64 /* of the processor's cache */

struct sp_error *walker_new_at(int fd, const char *path, bool swap, struct reader_extent extent,
			       uint64_t data_end, struct walker **ret)
{
	struct walker *walker = calloc(1, sizeof(*walker));
	if (!walker)
		return error_no_memory();
	*walker = (struct walker){
		.swap = swap,
		.fd = fd,
		.buffer_offset = extent.begin,
		.begin_end = extent.end,
		.data_end = data_end,
		.path = path,
	};
	uint64_t all = ((data_end - extent.begin) | 4095) + 1;
	walker->buffer_size = all < SEARCH_SIZE ? (size_t)all : SEARCH_SIZE;
	walker->buffer = aligned_alloc(4096, walker->buffer_size);
	if (!walker->buffer) {
		free(walker);
		return error_no_memory();
	}
	walker->pos = walker->stop = walker->end = walker->buffer;
	*ret = walker;
	return NULL;
}

struct sp_error *walker_new(struct sp_reader *reader, struct reader_extent extent,
			    struct walker **ret)
{
	assert(extent.begin <= extent.end && extent.end <= reader->extent.end);
	struct sp_error *error = walker_new_at(reader->data_fd, reader->data_path, reader->swap,
					       extent, reader->extent.end, ret);
	if (error)
		return error;
	struct walker *walker = *ret;
	walker->reader = reader;
	walker_hold_sizes(walker, &reader->lengths, reader);
	if (reader_is_exact(reader))
		error = decoder_new(&reader->layout, &walker->decoder);
	if (error)
		walker_free(take_ptr(*ret));
	return error;
}

void walker_free(struct walker *walker)
{
	if (!walker)
		return;
	decoder_free(walker->decoder);
	decoder_free(walker->judge);
	free(walker->mended);
	free(walker->buffer);
	free(walker);
}

uint64_t walker_cut_at(const struct walker *walker)
{
	return walker->cut_at;
}

uint64_t walker_offset(const struct walker *walker)
{
	return walker->buffer_offset + (uint64_t)(walker->pos - walker->buffer);
}

void walker_prefetch(const struct walker *walker, size_t size)
{
	size_t left = (size_t)(walker->end - walker->pos);
	if (size > left)
		size = left;
	for (size_t at = 0; at < size; at += LINE)
		__builtin_prefetch(walker->pos + at);
}

void walker_hold_sizes(struct walker *walker, const struct lengths *lengths,
		       struct sp_reader *teller)
{
	walker->lengths = lengths;
	walker->teller = teller;
}

void walker_hop_samples(struct walker *walker)
{
	walker->hops = !walker->decoder;
}

void walker_set_stop(struct walker *walker)
{
	uint64_t offset = walker->buffer_offset;
	uint64_t own = walker->begin_end > offset ? walker->begin_end - offset : 0;
	walker->stop = own < (size_t)(walker->end - walker->buffer) ? walker->buffer + own : walker->end;
}

/* The first `size` bytes in the buffer are the file's, from `offset` on. */
static void show(struct walker *walker, uint64_t offset, size_t size)
{
	walker->buffer_offset = offset;
	walker->pos = walker->buffer;
	walker->end = walker->buffer + size;
	walker_set_stop(walker);
}

/* Reads `most` bytes of the file at `offset`. The file may be shorter than it was. */
static struct sp_error *fill(struct walker *walker, uint64_t offset, size_t most)
{
	uint64_t left = walker->data_end - offset;
	size_t size = left < most ? (size_t)left : most, got = 0;
	struct sp_error *cancelled = walker->reader ? ctx_check(walker->reader->ctx) : NULL;
	if (cancelled)
		return cancelled;
	int errnum = io_pread(walker->fd, walker->buffer, size, (off_t)offset, &got);
	show(walker, offset, got);
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
	uint64_t offset = walker_offset(walker);
	uint64_t left = walker->data_end - offset;
	if (need > left)
		need = (size_t)left;
	if ((size_t)(walker->end - walker->pos) >= need)
		return NULL;
	bool searching = need > RECORD_MAX + 1;
	size_t most = searching || walker->buffer_size < BUFFER_SIZE ? walker->buffer_size
								     : BUFFER_SIZE;
	return fill(walker, offset, most);
}

/*
 * perf 6.16 to the middle of 2026 lets the size of a long COMPRESSED2 wrap around,
 * and leaves out its padding; the u64 behind the header says how long it is.
 */
static bool wrapped(const struct walker *walker, const struct header *header)
{
	struct cursor cursor = cursor_make(walker->pos, (size_t)(walker->end - walker->pos),
					   walker->swap, NULL, 0);
	uint64_t size;
	if (header->type != SP_RECORD_COMPRESSED2 || !cursor_skip(&cursor, HEADER_SIZE) ||
	    !cursor_u64(&cursor, &size) || size > UINT32_MAX)
		return false;
	uint64_t padded = (HEADER2_SIZE + size + 7) & ~UINT64_C(7);
	return padded > UINT16_MAX && (padded & UINT16_MAX) == header->size;
}

/* Bytes behind header.size that belong to the record at walker->pos all the same. */
static uint64_t payload_size(const struct walker *walker, const struct header *header)
{
	struct cursor cursor = cursor_make(walker->pos, (size_t)(walker->end - walker->pos),
					   walker->swap, NULL, 0);
	uint64_t size = 0;
	uint32_t short_size = 0;
	bool good = cursor_skip(&cursor, HEADER_SIZE);
	if ((header->type == SP_RECORD_AUXTRACE && header->size >= 16) ||
	    (header->type == SP_RECORD_COMPRESSED2 && header->size == HEADER2_SIZE)) {
		good = good && cursor_u64(&cursor, &size);
	} else if (header->type == SP_RECORD_HEADER_TRACING_DATA &&
		   header->size <= TRACING_DATA_MAX) {
		good = good && cursor_u32(&cursor, &short_size);
		size = short_size;
	}
	return good ? size : 0;
}

bool walker_begins(const struct walker *walker, const uint8_t *pos)
{
	uint64_t buffer_end = walker->buffer_offset + (uint64_t)(walker->end - walker->buffer);
	return chain_begins(pos, walker->end, buffer_end == walker->data_end, walker->swap);
}

/*
 * Finds the next data, at a multiple of `step` from the offset: no record begins in a hole, which may
 * have terabytes and takes no space on the disk.
 */
static uint64_t after_hole(const struct walker *walker, unsigned int step)
{
	uint64_t offset = walker_offset(walker);
	off_t data = lseek(walker->fd, (off_t)offset, SEEK_DATA);
	if (data < 0)
		return errno == ENXIO ? walker->data_end : offset;
	uint64_t next = offset + ((uint64_t)data - offset) / step * step;
	return next < walker->data_end ? next : walker->data_end;
}

/*
 * Moves to the next place where reading may resume, of those that many bytes apart; to the end
 * if there is none.
 */
static struct sp_error *resync(struct walker *walker, unsigned int step)
{
	for (;;) {
		struct sp_error *error = walker_ensure(walker, CHAIN * RECORD_MAX);
		if (error)
			return error;
		size_t left = (size_t)(walker->end - walker->pos);
		bool last = walker_offset(walker) + left == walker->data_end;
		size_t room = last ? HEADER_SIZE : CHAIN * RECORD_MAX;
		if (left < HEADER_SIZE) {
			walker->pos = walker->end;
			walker->finished = true;
			return NULL;
		}
		for (; (size_t)(walker->end - walker->pos) >= room;
		     walker->pos += step)
			if (walker_begins(walker, walker->pos))
				return NULL;
		if (last) {
			walker->pos = walker->end;
			walker->finished = true;
			return NULL;
		}
		uint64_t next = after_hole(walker, step);
		if (next > walker_offset(walker))
			show(walker, next, 0);
	}
}

struct sp_error *walker_seek(struct walker *walker)
{
	/* Who guesses where records begin is right nearly always, which is not enough to tell of it. */
	walker->teller = NULL;
	return resync(walker, SEEK_STEP);
}

/* Damage at the next record: says so, and moves to where reading may resume. */
static struct sp_error *damaged(struct walker *walker, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static struct sp_error *damaged(struct walker *walker, const char *format, ...)
{
	uint64_t offset = walker_offset(walker);
	va_list args;
	va_start(args, format);
	CLEANUP_FREE char *what = format_text_va(format, args);
	va_end(args);
	size_t left = (size_t)(walker->end - walker->pos);
	/* The record that is damaged may have been of any size, if it was a user's. */
	walker->pos += left < 1 ? left : 1;
	struct sp_error *error = resync(walker, 1);
	if (error)
		return error;
	uint64_t resumed = walker_offset(walker);
	if (!what)
		return error_no_memory();
	if (walker->finished)
		return error_format(walker->path, offset,
				    "%s; the last %llu bytes of the data are not read",
				    what, (unsigned long long)(resumed - offset));
	return error_format(walker->path, offset, "%s; %llu bytes are skipped", what,
			    (unsigned long long)(resumed - offset));
}

static struct sp_error *check(struct walker *walker, const struct header *header, uint64_t left)
{
	const char *name = sp_record_type_name(header->type);
	if (header->size < HEADER_SIZE)
		return damaged(walker, "a record of %u bytes (its header alone takes 8)",
			       header->size);
	if (!header->type)
		return damaged(walker, "a record of type 0");
	if (header->size > left) {
		uint64_t offset = walker_offset(walker);
		struct sp_error *error =
			damaged(walker,
				"a record (%s, type %u) of %u bytes, but the data ends after %llu",
				name ?: "unknown", header->type, header->size,
				(unsigned long long)left);
		walker->cut_at = walker->finished && name ? offset : 0;
		return error;
	}
	/* Newer kernels and perfs have more types, but not these. */
	if (header->type > CHAIN_TYPES_LAST && !header_is_simpleperf(header))
		return damaged(walker, "a record of unknown type %u", header->type);
	if (header->type < RECORD_USER_TYPES && (header->size & 7))
		return damaged(walker,
			       "a record (%s, type %u) of %u bytes, which is not a multiple of 8",
			       name ?: "unknown", header->type, header->size);
	return NULL;
}

/* Moves behind a record with a payload, which may be longer than the buffer. */
static struct sp_error *skip_payload(struct walker *walker, const struct header *header)
{
	uint64_t payload = payload_size(walker, header);
	uint64_t behind = walker_offset(walker) + header->size;
	if (payload > walker->data_end - behind)
		return damaged(walker,
			       "a record (%s) with %llu bytes behind it, but the data ends after %llu",
			       sp_record_type_name(header->type), (unsigned long long)payload,
			       (unsigned long long)(walker->data_end - behind));
	size_t left = (size_t)(walker->end - walker->pos) - header->size;
	walker->pos += header->size;
	if (payload <= left) {
		walker->pos += payload;
		return NULL;
	}
	/* Nothing of the buffer is good behind this record: the next call fills it. */
	walker->end = walker->stop = walker->pos;
	walker->buffer_offset += payload;
	return NULL;
}

/*
 * A sample that is longer than what is left in the buffer is skipped unread: *raw has no more
 * than its header. Gives NULL in *raw where the next record is none.
 */
static struct sp_error *hop(struct walker *walker, struct raw_record *raw)
{
	uint64_t offset = walker_offset(walker);
	raw->bytes = NULL;
	if (walker->end - walker->pos < HEADER_SIZE) {
		size_t most = walker->buffer_size < HOP_READ ? walker->buffer_size : HOP_READ;
		struct sp_error *error = fill(walker, offset, most);
		if (error)
			return error;
	}
	if (walker->end - walker->pos < HEADER_SIZE)
		return NULL;
	struct header header = header_at(walker->pos, walker->swap);
	size_t left = (size_t)(walker->end - walker->pos);
	if (header.type != PERF_RECORD_SAMPLE || header.size < HOP_MIN || header.size & 7 ||
	    header.size <= left || header.size > walker->data_end - offset)
		return NULL;
	*raw = (struct raw_record){.type = header.type, .misc = header.misc, .size = header.size,
				   .bytes = walker->pos, .offset = offset};
	walker->end = walker->stop = walker->pos;
	walker->buffer_offset += header.size;
	return NULL;
}

static __attribute__((noinline)) struct sp_error *next_slow(struct walker *walker,
							    struct raw_record *raw)
{
	struct sp_error *error = walker->doubt.size ? walker_settle_doubt(walker) : NULL;
	uint64_t offset = walker_offset(walker);
	if (error)
		return error;
	if (walker->finished || offset >= walker->begin_end || offset >= walker->data_end) {
		raw->bytes = NULL;
		return NULL;
	}
	uint64_t left = walker->data_end - offset;
	error = walker->hops ? hop(walker, raw) : NULL;
	if (error || (walker->hops && raw->bytes))
		return error;
	error = walker_ensure(walker, RECORD_MAX + 1);
	if (error)
		return error;
	if (left < HEADER_SIZE) {
		walker->finished = true;
		walker->cut_at = offset;
		return error_format(walker->path, offset,
				    "the data ends inside a record's header (%llu of 8 bytes)",
				    (unsigned long long)left);
	}
	struct header header = header_at(walker->pos, walker->swap);
	if (wrapped(walker, &header))
		header.size = HEADER2_SIZE;
	error = check(walker, &header, left);
	if (error)
		return error;
	*raw = (struct raw_record){
		.type = header.type,
		.misc = header.misc,
		.size = header.size,
		.bytes = walker->pos,
		.offset = offset,
	};
	error = walker_hold_size(walker, raw);
	header.size = (uint16_t)raw->size;
	error = error ?: skip_payload(walker, &header);
	if (error)
		return error;
	if (walker->decoder && raw->type == PERF_RECORD_SAMPLE)
		walker_look_into(walker, raw);
	return NULL;
}

struct sp_error *walker_next(struct walker *walker, struct raw_record *raw)
{
	const uint8_t *pos = walker->pos;
	if (likely(pos < walker->stop && walker->end - pos >= HEADER_SIZE && !walker->decoder)) {
		struct header header = header_at(pos, walker->swap);
		bool plain = header.type - 1 < RECORD_USER_TYPES - 1 && !(header.size & 7) &&
			     header.size >= HEADER_SIZE && header.size <= walker->end - pos;
		if (likely(plain)) {
			raw->type = header.type;
			raw->misc = header.misc;
			raw->size = header.size;
			raw->bytes = pos;
			raw->offset = walker->buffer_offset + (uint64_t)(pos - walker->buffer);
			if (header.type != PERF_RECORD_SAMPLE && walker->lengths &&
			    walker_seems_too_long(walker, raw))
				return next_slow(walker, raw);
			walker->pos = pos + header.size;
			return NULL;
		}
	}
	return next_slow(walker, raw);
}
