/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The walker's state and its buffer. */
#ifndef WALK_WALKER_BUFFER_H
#define WALK_WALKER_BUFFER_H

#include <sprof/reader.h>
#include "file/mapping.h"
#include "record/decode.h"
#include "record/length.h"
#include "walk/resync.h"

#define RECORD_MAX ((size_t)UINT16_MAX)

#define likely(x) __builtin_expect(!!(x), 1)

struct walker {
	const uint8_t *pos;  /* the next record */
	const uint8_t *stop; /* records that begin here or later are not returned */
	const uint8_t *end;  /* end of the bytes at `base` */
	bool swap;
	bool hops;
	bool finished;
	uint64_t cut_at; /* walker_cut_at() */
	int fd;
	const char *path;
	const uint8_t *base;  /* the buffer, or a window of the file */
	uint64_t base_offset; /* offset of base[0] in the file */
	uint8_t *buffer;
	size_t buffer_size;
	struct mapping *mapping; /* NULL: the file is read */
	struct { uint64_t begin, size; bool is_open; } window;
	uint64_t unmapped_end;   /* no window is tried before this offset */
	uint64_t begin_end; /* records begin before this offset */
	uint64_t data_end;  /* records end before this offset */
	struct sp_reader *reader;      /* NULL: a file's records, which are not decoded */
	struct decoder *decoder;       /* for an exact reader; else NULL */
	const struct lengths *lengths; /* NULL: sizes are not checked */
	struct sp_reader *damaged;     /* wrong sizes are added to its damage; NULL: not added */
	struct decoder *time_decoder;  /* NULL until a record's size is in doubt */
	uint8_t *shortened;            /* copy of a record with its size corrected; or NULL */
	/* The doubted sample; size 0: none. */
	struct { uint64_t begin, fields_end; size_t size; } doubt;
};

/*
 * Allocates an empty buffer at `offset`, of up to `size` bytes (a multiple of 4096). False when out
 * of memory.
 */
bool walker_buffer_init(struct walker *walker, uint64_t offset, uint64_t size);

/* Sets `stop` after `end` or `begin_end` changed. */
void walker_set_stop(struct walker *walker);

/* Moves to `offset`, with nothing in the buffer. */
void walker_move(struct walker *walker, uint64_t offset);

/* Releases the window of the file, if one is open. */
void walker_close_window(struct walker *walker);

/*
 * Reads up to `most` bytes at `offset`, or opens a window there. Fails with SP_ERROR_FORMAT if the file
 * was truncated.
 */
struct sp_error *walker_fill(struct walker *walker, uint64_t offset, size_t most) SP_MUST_CHECK;

/* Reads until `need` bytes from `pos` on, or all bytes of the data, are in the buffer. */
struct sp_error *walker_ensure(struct walker *walker, size_t need) SP_MUST_CHECK;

/* Whether records begin at `pos` in the buffer, which has HEADER_SIZE bytes there. */
bool walker_records_begin(const struct walker *walker, const uint8_t *pos);

/* Offset of `pos` in the file. */
static inline uint64_t walker_pos_offset(const struct walker *walker)
{
	return walker->base_offset + (uint64_t)(walker->pos - walker->base);
}

#endif
