/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* State of a walker, and the buffer or mapped window that holds bytes of the file. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sprof/reader.h>
#include "file/file_mapping.h"
#include "record/decode.h"
#include "record/record_length.h"
#include "walk/record_boundary.h"

#define RECORD_MAX ((size_t)UINT16_MAX)

#define likely(x) __builtin_expect(!!(x), 1)

struct walker {
	const uint8_t *pos;  /* position of the next record */
	const uint8_t *stop; /* end of the records that can be returned quickly */
	const uint8_t *end;  /* end of the bytes at `base` */
	bool swap;
	bool hops;
	bool finished;
	uint64_t cut_at; /* result of walker_truncated_at() */
	int fd;
	const char *path;
	const uint8_t *base;  /* begin of the buffer, or of a window of the file */
	uint64_t base_offset; /* offset in the file of base[0] */
	uint8_t *buffer;
	size_t buffer_size;
	struct file_mapping *mapping; /* NULL: the file is read, not mapped */
	struct { uint64_t begin, size; bool is_open; } window;
	uint64_t unmapped_end;   /* offset below which no window is tried */
	uint64_t begin_end; /* offset after the last record's begin */
	uint64_t data_end;  /* offset where the data ends */
	struct sp_reader *reader;      /* NULL: the records of a plain file, which are not decoded */
	struct decoder *decoder;       /* decodes samples to find wrong sizes, if the reader is exact; else
				        * NULL */
	const struct lengths *lengths; /* lengths of records by their contents; NULL: sizes are not checked */
	/* Reader that lists wrong sizes as damage; NULL: they are not listed. */
	struct sp_reader *damaged;
	struct decoder *time_decoder;  /* decodes times of records with a wrong size; NULL until it is
				        * needed */
	uint8_t *shortened;            /* copy of a record with a corrected size; NULL: none */
	/* Sample that may contain other records; size 0: none. */
	struct { uint64_t begin, fields_end; size_t size; } doubt;
};

/*
 * Allocates a buffer of up to `size` bytes (a multiple of 4096), and moves to `offset`. Returns false
 * when out of memory.
 */
bool walker_buffer_init(struct walker *walker, uint64_t offset, uint64_t size);

/* Computes `stop` again, after `end` or `begin_end` changed. */
void walker_set_stop(struct walker *walker);

/* Moves to `offset`; the buffer is then empty. */
void walker_move(struct walker *walker, uint64_t offset);

/* Closes the window of the file, if one is open. */
void walker_close_window(struct walker *walker);

/*
 * Reads up to `most` bytes at `offset` into the buffer, or opens a window there. Fails with
 * SP_ERROR_FORMAT if the file was truncated.
 */
struct sp_error *walker_fill(struct walker *walker, uint64_t offset, size_t most) SP_MUST_CHECK;

/* Fills the buffer until it has `need` bytes from `pos` on, or all bytes up to the end of the data. */
struct sp_error *walker_ensure(struct walker *walker, size_t need) SP_MUST_CHECK;

/* Returns whether records begin at `pos` in the buffer, where HEADER_SIZE bytes must be. */
bool walker_records_begin(const struct walker *walker, const uint8_t *pos);

/* Returns the offset of `pos` in the file. */
static inline uint64_t walker_pos_offset(const struct walker *walker)
{
	return walker->base_offset + (uint64_t)(walker->pos - walker->base);
}
