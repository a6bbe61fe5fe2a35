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
 * Of copies of stacks, few bytes are ever looked at. Where that is safe (mapping.h) windows
 * of the file take the buffer's place. Of 1.69 GB of 8,420-byte records, the page faults take
 * 27 ms where the page cache is of large folios, 65 where it is of single pages, be the
 * samples hopped over or not; otherwise hopping takes 135 ms and copying 125.
 *
 * A record is never split: where the buffer ends inside one it is filled again
 * from that record's start, so that records stay aligned as they are in the file.
 *
 * Where a header makes no sense, the next place is looked for at which a chain of
 * plausible headers begins, byte by byte: COMPRESSED records, and those of types that nobody
 * knows, have sizes of any number of bytes.
 *
 * A size that is too large makes sense as a header, and swallows up to 64 KB of records. But what a
 * record holds says how long it is (record/length.h): where its size says more, and a chain of
 * headers begins behind what it holds, it is given as long as that, and reading goes on there. The
 * kernel leaves nothing there itself, but for three types (record/mend.h).
 *
 * Of a sample it is noticed where the fields are decoded; who only hops over samples does not know
 * of it. So once one was seen, walkers decode them, too.
 */
#include "file/walker.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include "base/cleanup.h"
#include "base/format.h"
#include "base/io.h"
#include "file/chain.h"
#include "file/reader_internal.h"
#include "record/decode.h"
#include "record/mend.h"
#include "record/types.h"

#define HEADER_SIZE 8
#define HEADER2_SIZE 16 /* of COMPRESSED2 */

/* simpleperf puts the payload inside the record, which then is longer than this. */
#define TRACING_DATA_MAX 16
#define BUFFER_SIZE ((size_t)1 << 18)
#define RECORD_MAX ((size_t)UINT16_MAX)

/* Where records are looked for: half of it is gone through before the other is read again. */
#define SEARCH_SIZE (2 * BUFFER_SIZE)

/* Longer samples are hopped over where nobody wants to see them: less costs more than it saves. */
#define HOP_MIN 4096
#define HOP_READ 512

/* Of a file that is mapped, what is looked at at a time: what was touched of it stays in memory. */
#define WINDOW_SIZE ((uint64_t)4 << 20)

/* HEADER_TRACING_DATA of 12 bytes shifts all that follow it. */
#define SEEK_STEP 4

#define LINE 64 /* of the processor's cache */

#define likely(x) __builtin_expect(!!(x), 1)

struct walker {
	const uint8_t *pos;  /* the next record */
	const uint8_t *stop; /* records that begin here or later are not ours */
	const uint8_t *end;  /* of what is in the buffer */
	bool swap;
	bool hops;
	bool finished;
	int fd;
	const uint8_t *base;    /* the buffer, or a window of the file */
	uint64_t base_offset;   /* of base[0] in the file */
	uint8_t *buffer;
	size_t buffer_size;     /* SEARCH_SIZE, or less where there is less to read */
	struct mapping *mapping; /* NULL: the file is read */
	struct { uint64_t begin, size; bool is_open; } window;
	uint64_t refused_end;    /* where no window could be opened, one may be from here on */
	struct sp_reader *reader; /* NULL: bytes of a file, which nobody decodes */
	struct decoder *decoder;  /* of a reader that is exact */
	const struct lengths *lengths; /* NULL: sizes are taken as they are */
	struct sp_reader *teller; /* is told of sizes that are wrong; NULL: nobody is */
	struct decoder *judge;    /* says the times of records whose size is in doubt; or NULL */
	uint8_t *mended;          /* a record of which the size was wrong; NULL until there is one */
	struct { uint64_t begin, fields_end; size_t size; } doubt; /* of a sample; size 0: none */
	uint64_t begin_end;     /* records begin before this offset … */
	uint64_t data_end;      /* … and end before this one */
	const char *path;
};

struct sp_error *walker_new_at(int fd, const char *path, bool swap, struct reader_extent extent,
			       uint64_t data_end, struct walker **ret)
{
	struct walker *walker = calloc(1, sizeof(*walker));
	if (!walker)
		return error_no_memory();
	*walker = (struct walker){
		.swap = swap,
		.fd = fd,
		.base_offset = extent.begin,
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
	walker->pos = walker->stop = walker->end = walker->base = walker->buffer;
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
	walker->mapping = &reader->mapping;
	walker->reader = reader;
	walker_hold_sizes(walker, &reader->lengths, reader);
	if (reader_is_exact(reader))
		error = decoder_new(&reader->layout, &walker->decoder);
	if (error)
		walker_free(take_ptr(*ret));
	return error;
}

static void close_window(struct walker *walker)
{
	if (walker->window.is_open)
		mapping_close(walker->mapping, walker->window.begin, walker->window.size);
	walker->window.is_open = false;
}

void walker_free(struct walker *walker)
{
	if (!walker)
		return;
	close_window(walker);
	decoder_free(walker->decoder);
	decoder_free(walker->judge);
	free(walker->mended);
	free(walker->buffer);
	free(walker);
}

uint64_t walker_offset(const struct walker *walker)
{
	return walker->base_offset + (uint64_t)(walker->pos - walker->base);
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

/* Records that begin in what is in the buffer are ours, or not. */
static void set_stop(struct walker *walker)
{
	uint64_t offset = walker->base_offset;
	uint64_t own = walker->begin_end > offset ? walker->begin_end - offset : 0;
	walker->stop = own < (size_t)(walker->end - walker->base) ? walker->base + own : walker->end;
}

/* `size` bytes of the file, from `offset` on, are at `bytes`. */
static void show(struct walker *walker, uint64_t offset, const uint8_t *bytes, size_t size)
{
	walker->base_offset = offset;
	walker->base = walker->pos = bytes;
	walker->end = bytes + size;
	set_stop(walker);
}

/* Opens the window that begins before `offset`; false where the file must be read. */
static bool open_window(struct walker *walker, uint64_t offset)
{
	uint64_t begin = offset & ~(MAPPING_ALIGN - 1);
	uint64_t size = walker->data_end - begin;
	close_window(walker);
	if (!walker->mapping || offset < walker->refused_end)
		return false;
	if (size > WINDOW_SIZE)
		size = WINDOW_SIZE;
	const uint8_t *bytes = mapping_open(walker->mapping, begin, size);
	if (!bytes) {
		walker->refused_end = begin + size;
		return false;
	}
	walker->window.begin = begin;
	walker->window.size = size;
	walker->window.is_open = true;
	show(walker, offset, bytes + (offset - begin), (size_t)(size - (offset - begin)));
	return true;
}

/*
 * Has a window of the file at `offset`, or `most` bytes of it in the buffer. The file may be
 * shorter than it was.
 */
static struct sp_error *fill(struct walker *walker, uint64_t offset, size_t most)
{
	uint64_t left = walker->data_end - offset;
	size_t size = left < most ? (size_t)left : most, got = 0;
	if (open_window(walker, offset))
		return NULL;
	int errnum = io_pread(walker->fd, walker->buffer, size, (off_t)offset, &got);
	show(walker, offset, walker->buffer, got);
	if (errnum) {
		walker->finished = true;
		return error_prefix(error_os(errnum, "cannot read at offset 0x%llx",
					     (unsigned long long)offset), "%s", walker->path);
	}
	if (got < size) {
		walker->data_end = offset + got;
		return error_format(walker->path, offset + got,
				    "the file ends here; it was longer when it was opened");
	}
	return NULL;
}

/* Makes the next `need` bytes (or all that are left) lie in the buffer. */
static struct sp_error *ensure(struct walker *walker, size_t need)
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

/* Whether records seem to begin at `pos` in the buffer, where a header fits. */
static bool begins(const struct walker *walker, const uint8_t *pos)
{
	uint64_t buffer_end = walker->base_offset + (uint64_t)(walker->end - walker->base);
	return chain_begins(pos, walker->end, buffer_end == walker->data_end, walker->swap);
}

/*
 * Moves to the next place where reading may resume, of those that many bytes apart; to the end
 * if there is none.
 */
static struct sp_error *resync(struct walker *walker, unsigned int step)
{
	for (;;) {
		struct sp_error *error = ensure(walker, CHAIN * RECORD_MAX);
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
			if (begins(walker, walker->pos))
				return NULL;
		if (last) {
			walker->pos = walker->end;
			walker->finished = true;
			return NULL;
		}
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
	if (header->size > left)
		return damaged(walker,
			       "a record (%s, type %u) of %u bytes, but the data ends after %llu",
			       name ?: "unknown", header->type, header->size,
			       (unsigned long long)left);
	/* Newer kernels and perfs have more types, but not these. */
	if (header->type > CHAIN_TYPES_LAST && !header_is_simpleperf(header))
		return damaged(walker, "a record of type %u, which nobody writes", header->type);
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
	walker->base_offset += payload;
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
	walker->base_offset += header.size;
	return NULL;
}

void walker_doubt(struct walker *walker, const struct raw_record *raw, size_t excess)
{
	if (likely(excess < HEADER_SIZE) || !walker->reader || raw->offset < walker->base_offset)
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

/* Goes on behind the fields of the doubted sample if records begin there, else behind it. */
static struct sp_error *settle_doubt(struct walker *walker)
{
	uint64_t begin = walker->doubt.begin, fields_end = walker->doubt.fields_end;
	size_t size = walker->doubt.size;
	walker->doubt.size = 0;
	set_stop(walker);
	walker->pos = walker->base + (fields_end - walker->base_offset);
	struct sp_error *error = ensure(walker, CHAIN * RECORD_MAX);
	if (error)
		return error;
	if (begins(walker, walker->pos))
		reader_add_resized_sample(walker->reader, begin, size,
					  (size_t)(fields_end - begin));
	else
		walker->pos = walker->base + (begin + size - walker->base_offset);
	return NULL;
}

/* Whether a sample's fields leave some of it. */
static void look_into(struct walker *walker, const struct raw_record *raw)
{
	struct sp_record record;
	struct sp_error *error = decoder_decode(walker->decoder, raw, &record);
	/* Who decodes it again says what is wrong with it. */
	if (!error)
		walker_doubt(walker, raw, decoder_excess(walker->decoder));
	sp_error_free(error);
}

/* Whether a header stands behind what a record holds, and its size says that it goes on there. */
static bool seems_too_long(const struct walker *walker, const struct raw_record *raw)
{
	size_t lengths[LENGTHS_MAX], count;
	if (likely(lengths_fit(walker->lengths, raw, walker->swap)))
		return false;
	count = lengths_below(walker->lengths, raw, walker->swap, lengths);
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
	*ret = !record_size_is_doubtful(raw->type) || !begins(walker, raw->bytes + raw->size) ||
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

/* Holds the size of the next record, which is *raw, against what it holds, and mends it. */
static struct sp_error *hold_size(struct walker *walker, struct raw_record *raw)
{
	size_t lengths[LENGTHS_MAX], count;
	if (!walker->lengths || raw->type == PERF_RECORD_SAMPLE || !seems_too_long(walker, raw))
		return NULL;
	struct sp_error *error = ensure(walker, (CHAIN + 1) * RECORD_MAX);
	if (error)
		return error;
	raw->bytes = walker->pos;
	count = lengths_below(walker->lengths, raw, walker->swap, lengths);
	for (size_t i = 0; i < count; i++) {
		bool sure = false;
		if (!begins(walker, raw->bytes + lengths[i]))
			continue;
		error = swallows(walker, raw, lengths[i], &sure);
		if (error || sure)
			return error ?: shorten(walker, raw, lengths[i]);
	}
	return NULL;
}

static __attribute__((noinline)) struct sp_error *next_slow(struct walker *walker,
							    struct raw_record *raw)
{
	struct sp_error *error = walker->doubt.size ? settle_doubt(walker) : NULL;
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
	error = ensure(walker, RECORD_MAX + 1);
	if (error)
		return error;
	if (left < HEADER_SIZE) {
		walker->finished = true;
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
	error = hold_size(walker, raw);
	header.size = (uint16_t)raw->size;
	error = error ?: skip_payload(walker, &header);
	if (error)
		return error;
	if (walker->decoder && raw->type == PERF_RECORD_SAMPLE)
		look_into(walker, raw);
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
			raw->offset = walker->base_offset + (uint64_t)(pos - walker->base);
			if (header.type != PERF_RECORD_SAMPLE && walker->lengths &&
			    seems_too_long(walker, raw))
				return next_slow(walker, raw);
			walker->pos = pos + header.size;
			return NULL;
		}
	}
	return next_slow(walker, raw);
}
