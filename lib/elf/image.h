/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An ELF file opened for reading: its headers, its segments, its build-id, and
 * its sections by name. Everything that needs libelf for a file starts here.
 * The file is read, not mapped: a file that shrinks while it is read gives an
 * error and no SIGBUS. Only headers are read until a section's data is asked for.
 */
#ifndef ELF_IMAGE_H
#define ELF_IMAGE_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/vec.h"

#define IMAGE_BUILD_ID_MAX 20

/* A PT_LOAD segment. */
struct image_load {
	uint64_t file_offset, file_size;
	uint64_t vaddr, memory_size;
	bool executable;
};

struct image {
	char *path; /* for messages */
	char *root; /* the directory that it was opened in; NULL: any path */
	Elf *elf;
	int fd;        /* -1: in memory, or released */
	void *memory;  /* the bytes of an image from memory; else NULL */
	uint64_t size; /* size of the file */
	uint64_t allocated; /* bytes of the file on the disk, without holes */
	dev_t device;  /* device and inode of the file; 0 for one from memory */
	ino_t inode;
	uid_t owner;   /* owner of the file; 0 for one from memory */
	uint64_t modified_ns; /* mtime, since 1970; 0 for one from memory */
	uint64_t changed_ns;  /* ctime */
	uint16_t machine, type; /* EM_*, ET_* */
	bool is_64bit;
	bool swap; /* its byte order is not the host's */
	uint8_t build_id[IMAGE_BUILD_ID_MAX];
	uint8_t build_id_size;        /* 0: the file has none */
	VEC(struct image_load) loads; /* by vaddr, as the format demands */
};

/*
 * Fails with SP_ERROR_NOT_FOUND or another code that says what open(2) said,
 * with SP_ERROR_FORMAT where it is no ELF file or a damaged one, and with
 * SP_ERROR_INVALID where the path is not a regular file.
 */
struct sp_error *image_open(const char *path, struct image **ret) SP_MUST_CHECK;

/*
 * The same in a directory that is the root of its links ("/proc/PID/root", or --symfs): neither
 * these nor ".." lead out of it. NULL or "": anywhere.
 */
struct sp_error *image_open_in(const char *root, const char *path,
			       struct image **ret) SP_MUST_CHECK;

/* The file of an image once more: SP_ERROR_NOT_FOUND where another took its place. */
struct sp_error *image_open_again(const struct image *image, struct image **ret) SP_MUST_CHECK;

/* Its path as image_open_in() takes it, with the image's root. */
const char *image_path_in_root(const struct image *image);

/* The same of bytes in memory (malloc'ed), which become the image's in any case. */
struct sp_error *image_open_memory(void *bytes, size_t size, const char *name,
				   struct image **ret) SP_MUST_CHECK;
void image_free(struct image *image);

DEFINE_CLEANUP(struct image *, image_free)

/* Two without a build-id have the same, which says nothing. */
static inline bool image_has_build_id(const struct image *image, const uint8_t *id, size_t size)
{
	return bytes_equal(image->build_id, image->build_id_size, id, size);
}

/*
 * Closes the file; what has been read from it stays. For images that are kept:
 * a report may need more files than a process may have open.
 */
void image_release_file(struct image *image);

/* Returns the address of a byte of the file when loaded; false if no segment has it. */
bool image_vaddr(const struct image *image, uint64_t file_offset, uint64_t *ret);

/* The reverse. */
bool image_file_offset(const struct image *image, uint64_t vaddr, uint64_t *ret);

/* The same with how many bytes of the segment follow in the file; those of any segment. */
bool image_range_at(const struct image *image, uint64_t vaddr, uint64_t *file_offset_ret,
		    uint64_t *size_ret);

/* The section of that name, or NULL; *header_ret is set with it. */
Elf_Scn *image_section(const struct image *image, const char *name, GElf_Shdr *header_ret);

/*
 * A section's bytes in host order, read now; valid as long as the image. NULL
 * where it has none in the file, is damaged, or is absurdly large.
 */
Elf_Data *image_section_data(Elf_Scn *section);

/*
 * Bytes read from a file, by their reader's own hand: libelf would keep its
 * copy as long as the image lives, and pay a page fault for every 4 KB of it.
 * Zeroed: none.
 */
struct image_bytes {
	const uint8_t *bytes;
	size_t size;
	void *owned;   /* malloc'ed, or mapped; NULL: the image's own memory */
	size_t mapped; /* size of the mapping; 0: malloc'ed */
};

/*
 * A section as it is in the file, unconverted. SP_ERROR_FORMAT where it has no
 * bytes there, reaches past the end, or is absurdly large.
 */
struct sp_error *image_section_bytes(const struct image *image, Elf_Scn *section,
				     struct image_bytes *ret) SP_MUST_CHECK;
/* The same of any bytes of the file. */
struct sp_error *image_range_bytes(const struct image *image, uint64_t file_offset, uint64_t size,
				   struct image_bytes *ret) SP_MUST_CHECK;
void image_bytes_release(struct image_bytes *bytes);

#endif
