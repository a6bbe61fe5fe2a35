/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A section of debug information, read page by page on demand: debug information may have
 * gigabytes, and a profile needs little of it. Pages are read to their place in reserved memory, so
 * that readers see one array. The file is never mapped: if it shrinks, there is no SIGBUS.
 * Compressed sections are inflated completely on first use; large ones are then kept in the cache
 * on disk, from which they are read block by block.
 */
#pragma once

#include <pthread.h>
#include "base/cursor.h"
#include "base/disk_cache.h"
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
	const uint8_t *bytes;   /* NULL: absent, or not inflated yet */
	uint64_t size;          /* 0: absent, or not inflated yet; use section_size() */
	uint64_t file_offset;   /* file offset of the section's first byte */
	uint8_t *reserved;      /* memory that is filled page by page; else NULL */
	void *mapping;          /* address of `reserved` before alignment, for munmap() */
	uint64_t *loaded;       /* a bit for each page of `reserved`: it has been read */
	uint64_t window;        /* bytes to read around a missing page; protected by the lock */
	struct sp_ctx *ctx;	/* for the cache of inflated sections; NULL: not used */
	struct disk_entry *kept;  /* inflated bytes from the cache; NULL: none */
	struct image_bytes whole; /* inflated bytes */
	uint64_t packed_size;   /* compressed size in the file; 0: not compressed */
	pthread_mutex_t lock;   /* for loading pages, and for inflating */
	bool broken;            /* reading or inflating has failed; written under the lock */
};

/*
 * Finds a section. Absence is no error: the size is 0. `split`: the image is a .dwo or .dwp. `ctx`
 * may be NULL: the cache is not used then.
 */
struct sp_error *section_open(struct section *section, struct sp_ctx *ctx,
			      const struct image *image, enum section_id id,
			      bool split) SP_MUST_CHECK;
void section_close(struct section *section);

/* Returns whether an image has such a section that is not empty; reads only section headers. */
bool section_exists(const struct image *image, enum section_id id);

/* Returns the section's size; inflates it first if it is compressed. 0: absent, or inflating failed. */
uint64_t section_size(struct section *section);

/*
 * Copies bytes to `ret` without keeping their page, for data that are read once. Returns the number
 * of bytes: less than `size` at the end, 0 if reading fails.
 */
size_t section_peek(struct section *section, uint64_t offset, void *ret, size_t size);

/* Makes a cursor over [offset, end) of the section, and reads these bytes; false if that fails. */
bool section_cursor(struct section *section, uint64_t offset, uint64_t end, struct cursor *ret);

/* Reads entry `index` of the table of numbers of `size` bytes at `base`. */
bool section_entry(struct section *section, uint64_t base, uint64_t index, unsigned int size,
		   uint64_t *ret);

/* Returns the string at an offset; NULL if it does not end within the section and 64 KiB. */
const char *section_string(struct section *section, uint64_t offset);

/* Hints that about `bytes` of the section will be read, at scattered places. */
void section_expect(struct section *section, uint64_t bytes);

/* Makes an error for damage, with file, section and offset. */
struct sp_error *section_error(const struct section *section, uint64_t offset, const char *what);
