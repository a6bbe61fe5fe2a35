/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Chunks: compressed data that sprof appends to a finished recording of any program, such as the names
 * of its code. They follow everything else in the file, so that perf and its viewers do not reach them;
 * in a stream they are records that perf skips. Each is a sequence of EVENT_UPDATE records (78), like a
 * note (record/note.h), with little-endian numbers:
 *
 *	header  u32 78, u16 misc 0, u16 size
 *	u64     kind: CHUNK_KIND ("sprofchk" in ASCII)
 *	u64     id: 0, the first event
 *	u32     type of the chunk;  u32 0
 *	u64     size of the chunk's data
 *	u64     size of the data as stored: compressed by zlib, or not if both sizes are equal
 *	u64     position of this record's bytes in the stored data
 *	u8[]    bytes, zeros up to a multiple of 8
 *
 * The file ends with a record of CHUNK_END_KIND ("sprofend") that holds, after the id, a u64: the size of
 * all these records, its own included. A reader finds the chunks from there.
 */
#pragma once

#include "base/error.h"
#include "base/vec.h"
#include "record/encode.h"

#define CHUNK_KIND UINT64_C(0x6b6863666f727073)
#define CHUNK_END_KIND UINT64_C(0x646e65666f727073)

enum chunk_type {
	CHUNK_NAMES = 1, /* names of sampled addresses (stored/stored_names.h) */
	CHUNK_FILE = 2,  /* a mapped file (stored/stored_files.h) */
};

/* Data may be at most this many times as large as stored, so that small files cannot take much memory. */
#define CHUNK_RATIO_MAX 16

struct stored_chunk {
	uint32_t type;
	uint64_t size, packed_size;
	uint64_t offset; /* offset of its first record in the file */
};

/* The chunks of a file. A zeroed list is empty. */
struct stored_chunks {
	VEC(struct stored_chunk);
	uint64_t begin; /* offset of the first: the size of the file without them */
};

void chunks_deinit(struct stored_chunks *chunks);

/*
 * Lists the chunks of an open file of `file_size` bytes. Bytes at its end that are none, or damaged, count
 * as the file's own: the list is empty then. Fails if the file cannot be read, or out of memory.
 */
struct sp_error *chunks_list(int fd, uint64_t file_size, const char *path,
			     struct stored_chunks *ret) SP_MUST_CHECK;

/* Returns whether a chunk, whole or cut, begins at an offset before the end of the file. */
bool chunks_begin_at(int fd, uint64_t offset);

/* Reads a chunk's data: chunk->size bytes, which the caller frees. SP_ERROR_FORMAT if it is damaged. */
struct sp_error *chunk_read(int fd, const char *path, const struct stored_chunk *chunk,
			    uint8_t **ret) SP_MUST_CHECK;

/* Appends a chunk to a buffer of records. */
struct sp_error *chunk_encode(struct record_buffer *buffer, enum chunk_type type, const void *data,
			      size_t size) SP_MUST_CHECK;

/* Appends the record that ends the file. */
struct sp_error *chunks_encode_end(struct record_buffer *buffer) SP_MUST_CHECK;
