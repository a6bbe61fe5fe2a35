/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A section of debug information, of which only what is asked for is read: debug
 * information may be gigabytes, and a profile touches little of it. The bytes lie at
 * their place in reserved memory, page by page as they are needed, so that a reader
 * sees plain memory. They are read, never mapped: a file that shrinks is no SIGBUS.
 * Compressed sections are inflated whole, on first use.
 */
#ifndef DWARF_SECTION_H
#define DWARF_SECTION_H

#include <pthread.h>
#include "base/cursor.h"
#include "elf/image.h"

enum section_id {
	SECTION_INFO,
	SECTION_ABBREV,
	SECTION_ADDR,
	SECTION_ARANGES,
	SECTION_LINE,
	SECTION_LINE_STR,
	SECTION_RANGES,
	SECTION_RNGLISTS,
	SECTION_STR,
	SECTION_STR_OFFSETS,
	SECTION_CU_INDEX,
	SECTION_COUNT,
};

struct section {
	const struct image *image;
	const char *name;       /* name in messages */
	const uint8_t *bytes;   /* NULL: there is none */
	uint64_t size;          /* 0: there is none, or not inflated yet: section_size() */
	uint64_t file_offset;   /* file offset of the section's first byte */
	uint8_t *reserved;      /* memory that is filled page by page; else NULL */
	void *mapping;          /* its address before alignment */
	uint64_t *loaded;       /* a bit for each page of it */
	uint64_t window;        /* how much is read at once; under the lock */
	struct image_bytes whole; /* inflated bytes */
	uint64_t packed_size;   /* compressed size in the file; 0: not compressed */
	pthread_mutex_t lock;   /* for loading pages, and for inflating */
	bool broken;            /* could not be read; under the lock that loads it */
};

/* Finds the section; absence is no error: its size is 0. `split`: that of a .dwo or .dwp. */
struct sp_error *section_open(struct section *section, const struct image *image,
			      enum section_id id, bool split) SP_MUST_CHECK;
void section_close(struct section *section);

/* Whether an image has a section of that kind; only its headers are looked at. */
bool section_exists(const struct image *image, enum section_id id);

/* Its size, inflated if need be; 0 where it is absent or cannot be. */
uint64_t section_size(struct section *section);

/*
 * Copies a few bytes without keeping their page: of what is hopped over. Less than `size` at
 * the end; 0 where it cannot be read.
 */
size_t section_peek(struct section *section, uint64_t offset, void *ret, size_t size);

/* A cursor over [offset, end) of it. */
bool section_cursor(struct section *section, uint64_t offset, uint64_t end, bool swap,
		    struct cursor *ret);

/* The string that begins there; NULL where there is none, or it does not end. */
const char *section_string(struct section *section, uint64_t offset);

/* Hint before reading: about `bytes` of it will be read, at scattered places. */
void section_expect(struct section *section, uint64_t bytes);

/* Damage at an offset of it: names file, section, and place. */
struct sp_error *section_error(const struct section *section, uint64_t offset, const char *what);

#endif
