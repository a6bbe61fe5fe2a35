/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The walker's parts, between its files: walker.c (bytes and records), walker_sizes.c. */
#ifndef WALK_WALKER_INTERNAL_H
#define WALK_WALKER_INTERNAL_H

#include <stddef.h>
#include "record/decode.h"
#include "record/types.h"
#include "walk/chain.h"
#include "walk/walker.h"

#define HEADER_SIZE 8
#define RECORD_MAX ((size_t)UINT16_MAX)

#define likely(x) __builtin_expect(!!(x), 1)

struct walker {
	const uint8_t *pos;  /* the next record */
	const uint8_t *stop; /* records that begin here or later are not ours */
	const uint8_t *end;  /* of what is in the buffer */
	bool swap;
	bool hops;
	bool finished;
	uint64_t cut_at; /* walker_cut_at() */
	int fd;
	uint8_t *buffer;
	uint64_t buffer_offset; /* of buffer[0] in the file */
	size_t buffer_size;     /* SEARCH_SIZE, or less where there is less to read */
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

/* -- walker.c ------------------------------------------------------------- */

/* Records that begin in what is in the buffer are ours, or not. */
void walker_set_stop(struct walker *walker);

/* Makes the next `need` bytes (or all that are left) lie in the buffer. */
struct sp_error *walker_ensure(struct walker *walker, size_t need) SP_MUST_CHECK;

/* Whether records seem to begin at `pos` in the buffer, where a header fits. */
bool walker_begins(const struct walker *walker, const uint8_t *pos);

/* -- walker_sizes.c ------------------------------------------------------- */

/* Goes on behind the fields of the doubted sample if records begin there, else behind it. */
struct sp_error *walker_settle_doubt(struct walker *walker) SP_MUST_CHECK;

/* Whether a sample's fields leave some of it. */
void walker_look_into(struct walker *walker, const struct raw_record *raw);

/* Whether a header stands behind what a record holds, and its size says that it goes on there. */
bool walker_has_header_inside(const struct walker *walker, const struct raw_record *raw);

static inline bool walker_seems_too_long(const struct walker *walker, const struct raw_record *raw)
{
	return !likely(lengths_fit(walker->lengths, raw, walker->swap)) &&
	       walker_has_header_inside(walker, raw);
}

/* Holds the size of the next record, which is *raw, against what it holds, and mends it. */
struct sp_error *walker_hold_size(struct walker *walker, struct raw_record *raw) SP_MUST_CHECK;

#endif
