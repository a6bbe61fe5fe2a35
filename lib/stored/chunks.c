/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stored/chunks.h"

#include <endian.h>
#include <string.h>
#include <zlib.h>
#include "base/cleanup.h"
#include "base/cursor.h"
#include "base/io.h"
#include "elf/unpack.h"

/* Sizes of a record before its bytes, and of the last record. */
#define HEAD_SIZE 56
#define END_SIZE 32

/* Number of data bytes in a record. */
#define PIECE_MAX (RECORD_SIZE_MAX - HEAD_SIZE)

/* Level of compression: higher ones take several times as long, for some percent. */
#define LEVEL 1

void chunks_deinit(struct stored_chunks *chunks)
{
	vec_deinit(chunks);
}

/* -- Reading --------------------------------------------------------------- */

/* The fields of a record before its bytes. */
struct chunk_record {
	struct stored_chunk chunk; /* `offset` is the record's */
	uint64_t position;
	uint16_t record_size;
};

static bool swapped(void)
{
	return htole16(1) != 1;
}

/* Parses a record's header and kind. False if it is none of `kind`. */
static bool parse_kind(struct cursor *cursor, uint64_t kind, uint16_t *size_ret)
{
	uint32_t type;
	uint16_t misc;
	uint64_t found, id;
	return cursor_u32(cursor, &type) && cursor_u16(cursor, &misc) &&
	       cursor_u16(cursor, size_ret) && cursor_u64(cursor, &found) &&
	       cursor_u64(cursor, &id) && type == SP_RECORD_EVENT_UPDATE && found == kind;
}

static bool parse_piece(const uint8_t *bytes, size_t size, struct chunk_record *ret)
{
	struct cursor cursor = cursor_make(bytes, size, swapped(), NULL, 0);
	uint32_t unused;
	return parse_kind(&cursor, CHUNK_KIND, &ret->record_size) &&
	       cursor_u32(&cursor, &ret->chunk.type) && cursor_u32(&cursor, &unused) &&
	       cursor_u64(&cursor, &ret->chunk.size) &&
	       cursor_u64(&cursor, &ret->chunk.packed_size) &&
	       cursor_u64(&cursor, &ret->position) && ret->record_size > HEAD_SIZE;
}

/* Returns the number of a piece's bytes that belong to the chunk. */
static uint64_t bytes_in(const struct chunk_record *piece)
{
	uint64_t room = piece->record_size - HEAD_SIZE;
	uint64_t left = piece->chunk.packed_size - piece->position;
	return left < room ? left : room;
}

static struct sp_error *read_piece(int fd, const char *path, uint64_t offset,
				   struct chunk_record *ret, bool *good_ret)
{
	uint8_t head[HEAD_SIZE];
	size_t got;
	*good_ret = false;
	int errnum = io_pread(fd, head, sizeof(head), offset, &got);
	if (errnum)
		return error_os(errnum, "cannot read %s", path);
	*good_ret = parse_piece(head, got, ret);
	ret->chunk.offset = offset;
	return NULL;
}

/* Returns whether a chunk's sizes are possible in `available` bytes of the file. */
static bool sizes_are_possible(const struct stored_chunk *chunk, uint64_t available)
{
	return chunk->packed_size > 0 && chunk->packed_size <= available &&
	       chunk->size >= chunk->packed_size &&
	       chunk->size / CHUNK_RATIO_MAX <= chunk->packed_size;
}

/* Returns the size of a chunk's records. */
static uint64_t records_size(const struct stored_chunk *chunk)
{
	uint64_t full = chunk->packed_size / PIECE_MAX, rest = chunk->packed_size % PIECE_MAX;
	return full * RECORD_SIZE_MAX + (rest ? HEAD_SIZE + ((rest + 7) & ~(uint64_t)7) : 0);
}

/* Lists the chunks in [begin, end). False if they do not fill it exactly. */
static struct sp_error *list_between(int fd, const char *path, uint64_t begin, uint64_t end,
				     struct stored_chunks *ret, bool *good_ret)
{
	*good_ret = true;
	for (uint64_t at = begin; at < end && *good_ret;) {
		struct chunk_record piece;
		TRY(read_piece(fd, path, at, &piece, good_ret));
		*good_ret = *good_ret && piece.position == 0 &&
			    sizes_are_possible(&piece.chunk, end - at) &&
			    records_size(&piece.chunk) <= end - at;
		struct stored_chunk *slot = *good_ret ? vec_push(ret) : NULL;
		if (*good_ret && !slot)
			return error_no_memory();
		if (slot)
			*slot = piece.chunk;
		at += *good_ret ? records_size(&piece.chunk) : 0;
	}
	return NULL;
}

struct sp_error *chunks_list(int fd, uint64_t file_size, const char *path, struct stored_chunks *ret)
{
	uint8_t bytes[END_SIZE];
	uint16_t record_size;
	uint64_t all;
	size_t got;
	bool good;
	*ret = (struct stored_chunks){.begin = file_size};
	if (file_size < END_SIZE)
		return NULL;
	int errnum = io_pread(fd, bytes, sizeof(bytes), file_size - END_SIZE, &got);
	if (errnum)
		return error_os(errnum, "cannot read %s", path);
	struct cursor cursor = cursor_make(bytes, got, swapped(), NULL, 0);
	if (!parse_kind(&cursor, CHUNK_END_KIND, &record_size) || record_size != END_SIZE ||
	    !cursor_u64(&cursor, &all) || all < END_SIZE || all > file_size)
		return NULL;
	struct sp_error *error = list_between(fd, path, file_size - all, file_size - END_SIZE, ret,
					      &good);
	if (error || !good)
		vec_deinit(ret);
	else
		ret->begin = file_size - all;
	return error;
}

bool chunks_begin_at(int fd, uint64_t offset)
{
	/* A record's header without its size, which is at 6, and its kind. */
	const uint64_t expected[] = {htole64(SP_RECORD_EVENT_UPDATE), htole64(CHUNK_KIND)};
	uint8_t found[sizeof(expected)];
	size_t got;
	if (io_pread(fd, found, sizeof(found), offset, &got) || !got)
		return false;
	if (got > 6)
		found[6] = 0;
	if (got > 7)
		found[7] = 0;
	return !memcmp(found, expected, got);
}

struct sp_error *chunk_read(int fd, const char *path, const struct stored_chunk *chunk,
			    uint8_t **ret)
{
	CLEANUP_FREE uint8_t *packed = malloc(chunk->packed_size);
	NEED(packed);
	uint64_t at = chunk->offset;
	for (uint64_t done = 0; done < chunk->packed_size;) {
		struct chunk_record piece;
		bool good;
		size_t got;
		TRY(read_piece(fd, path, at, &piece, &good));
		if (!good || piece.position != done || piece.chunk.packed_size != chunk->packed_size)
			return error_format(path, at, "stored data is damaged");
		size_t size = bytes_in(&piece);
		int errnum = io_pread(fd, packed + done, size, at + HEAD_SIZE, &got);
		if (errnum)
			return error_os(errnum, "cannot read %s", path);
		if (got < size)
			return error_format(path, at, "stored data ends early");
		done += size;
		at += piece.record_size;
	}
	if (chunk->size != chunk->packed_size)
		return zlib_unpack_sized(packed, chunk->packed_size, chunk->size, path, ret);
	*ret = take_ptr(packed);
	return NULL;
}

/* -- Writing --------------------------------------------------------------- */

static bool append(struct record_buffer *buffer, const void *bytes, size_t size)
{
	if (!vec_reserve(buffer, buffer->count + size))
		return false;
	memcpy(buffer->items + buffer->count, bytes, size);
	buffer->count += size;
	return true;
}

static bool append_u64(struct record_buffer *buffer, uint64_t value)
{
	value = htole64(value);
	return append(buffer, &value, sizeof(value));
}

/* Appends a record's header, kind and id. */
static bool append_head(struct record_buffer *buffer, uint64_t kind, size_t size)
{
	const uint64_t header = SP_RECORD_EVENT_UPDATE | (uint64_t)size << 48;
	return append_u64(buffer, header) && append_u64(buffer, kind) && append_u64(buffer, 0);
}

static bool append_piece(struct record_buffer *buffer, const struct stored_chunk *chunk,
			 const uint8_t *packed, uint64_t position, size_t size)
{
	static const uint8_t zeros[8];
	size_t padding = -size & 7;
	return append_head(buffer, CHUNK_KIND, HEAD_SIZE + size + padding) &&
	       append_u64(buffer, chunk->type) && append_u64(buffer, chunk->size) &&
	       append_u64(buffer, chunk->packed_size) && append_u64(buffer, position) &&
	       append(buffer, packed + position, size) && append(buffer, zeros, padding);
}

/* Compresses data. *ret is NULL if that does not make it smaller, or too much so (CHUNK_RATIO_MAX). */
static struct sp_error *compress_data(const void *data, size_t size, uint8_t **ret, size_t *size_ret)
{
	uLongf packed_size = compressBound(size);
	CLEANUP_FREE uint8_t *packed = malloc(packed_size);
	if (!packed || compress2(packed, &packed_size, data, size, LEVEL) != Z_OK)
		return error_no_memory();
	*ret = NULL;
	if (packed_size < size && size / CHUNK_RATIO_MAX <= packed_size) {
		*ret = take_ptr(packed);
		*size_ret = packed_size;
	}
	return NULL;
}

struct sp_error *chunk_encode(struct record_buffer *buffer, enum chunk_type type, const void *data,
			      size_t size)
{
	CLEANUP_FREE uint8_t *packed = NULL;
	size_t packed_size = size;
	TRY(compress_data(data, size, &packed, &packed_size));
	const struct stored_chunk chunk = {.type = type, .size = size, .packed_size = packed_size};
	for (size_t at = 0; at < packed_size; at += PIECE_MAX) {
		size_t left = packed_size - at;
		NEED(append_piece(buffer, &chunk, packed ?: data, at,
				  left < PIECE_MAX ? left : PIECE_MAX));
	}
	return NULL;
}

struct sp_error *chunks_encode_end(struct record_buffer *buffer)
{
	uint64_t all = buffer->count + END_SIZE;
	return append_head(buffer, CHUNK_END_KIND, END_SIZE) && append_u64(buffer, all) ?
		       NULL :
		       error_no_memory();
}
