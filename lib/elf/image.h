/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An ELF file opened for reading: its headers, its segments, its build-id, and
 * its sections by name. Everything that needs libelf for a file starts here.
 * The file is read, not mapped: a file that shrinks while it is read gives an
 * error and no SIGBUS. Only headers are read at first, and a section's data on demand.
 */
#pragma once

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/proxy.h"
#include "base/vec.h"
#include "elf/code_map.h"

#define IMAGE_BUILD_ID_MAX 20

/* A PT_LOAD segment. */
struct image_load {
	uint64_t file_offset, file_size;
	uint64_t vaddr, memory_size;
	uint64_t alignment;
	bool executable;
};

struct image {
	char *path; /* path for messages, with the root */
	char *root; /* root directory of image_open_in(); NULL: none */
	Elf *elf;
	int fd;        /* -1: image from memory, or closed by image_release_file() */
	void *memory;  /* the bytes of an image from memory; else NULL */
	uint64_t size; /* size of the file */
	uint64_t allocated; /* bytes of the file on the disk, without holes */
	dev_t device;  /* device and inode of the file; 0 for one from memory */
	ino_t inode;
	uid_t owner;   /* owner of the file; 0 for one from memory */
	bool is_public; /* every user may read the file; false for one from memory */
	uint64_t modified_ns; /* mtime, since 1970; 0 for one from memory */
	uint64_t changed_ns;  /* ctime */
	uint16_t machine, type; /* EM_*, ET_* */
	bool is_64bit;
	bool is_copy; /* `fd` is a copy in memory, because the file's file system may not answer */
	bool swap; /* the file's byte order is not the host's */
	bool has_no_code; /* image_stand_in(): the segments' bytes are not in this file */
	uint8_t build_id[IMAGE_BUILD_ID_MAX];
	uint8_t build_id_size;        /* 0: the file has none */
	VEC(struct image_load) loads; /* by vaddr, as the format demands */
	struct code_map code;
};

/*
 * Fails with SP_ERROR_NOT_FOUND or another code for the errno of open(2), with SP_ERROR_FORMAT if
 * the file is damaged or not ELF, and with SP_ERROR_INVALID if it is not a regular file.
 */
struct sp_error *image_open(const char *path, struct image **ret) SP_MUST_CHECK;

/*
 * Opens an image below a root directory ("/proc/PID/root", or --symfs). Symbolic links and ".." do
 * not lead out of it, as after chroot(2). Root NULL or "": no restriction.
 */
struct sp_error *image_open_in(const char *root, const char *path,
			       struct image **ret) SP_MUST_CHECK;

/* The same by guarded_file_open(), which does not wait for a file system that does not answer. */
struct sp_error *image_open_guarded(struct proxies *proxies, const char *root, const char *path,
				    struct image **ret) SP_MUST_CHECK;

/* Opens the image's file again. SP_ERROR_NOT_FOUND if another file has replaced it. */
struct sp_error *image_open_again(const struct image *image, struct image **ret) SP_MUST_CHECK;

/* Returns the image's path below its root, as image_open_in() expects it. */
const char *image_path_in_root(const struct image *image);

/* Opens an image from malloc'ed bytes. Takes ownership of them, even if it fails. */
struct sp_error *image_open_memory(void *bytes, size_t size, const char *name,
				   struct image **ret) SP_MUST_CHECK;
void image_free(struct image *image);

DEFINE_CLEANUP(struct image *, image_free)

/* Returns whether the image has this build-id. Caution: also true if both have none (size 0). */
static inline bool image_has_build_id(const struct image *image, const uint8_t *id, size_t size)
{
	return bytes_equal(image->build_id, image->build_id_size, id, size);
}

/*
 * Closes the file and keeps the data that were read from it. A report may keep more images than a
 * process may have open files.
 */
void image_release_file(struct image *image);

/* Converts a file offset to a vaddr by the PT_LOAD segments; false if no segment contains it. */
bool image_vaddr(const struct image *image, uint64_t file_offset, uint64_t *ret);

/* Converts a vaddr to a file offset; false if no segment has it in the file. */
bool image_file_offset(const struct image *image, uint64_t vaddr, uint64_t *ret);

/*
 * Converts a vaddr in any segment to a file offset, and returns the number of bytes in the file
 * from there to the segment's end.
 */
bool image_range_at(const struct image *image, uint64_t vaddr, uint64_t *file_offset_ret,
		    uint64_t *size_ret);

/* Returns whether the file has debug information only (objcopy --only-keep-debug). */
bool image_lacks_code(const struct image *image);

/*
 * Restores the segments' offsets in the mapped file, which objcopy changes: each follows the
 * one before, as linkers place it. image_range_at() finds nothing then.
 */
void image_stand_in(struct image *image);

/* Finds a section by name and sets *header_ret; NULL if there is none. */
Elf_Scn *image_section(const struct image *image, const char *name, GElf_Shdr *header_ret);

/*
 * Reads a section's bytes, in host byte order; they are valid as long as the image. NULL if the
 * section is NULL, empty, SHT_NOBITS or damaged, or larger than 1 GiB.
 */
Elf_Data *image_section_data(Elf_Scn *section);

/*
 * Bytes read from a file without libelf, which would keep its copy as long as the image lives,
 * and take a page fault for every 4 KB of it. A zeroed struct is empty.
 */
struct image_bytes {
	const uint8_t *bytes;
	size_t size;
	void *owned;   /* memory to release; NULL: the bytes are the image's memory */
	size_t mapped; /* size of the mapping if `owned` is from mmap(); 0: from malloc() */
};

/*
 * Reads a section as it is in the file: neither byte-swapped nor unpacked. SP_ERROR_FORMAT if it
 * has no bytes there, reaches past the end, or is larger than 1 GiB or extent_read_max().
 */
struct sp_error *image_section_bytes(const struct image *image, Elf_Scn *section,
				     struct image_bytes *ret) SP_MUST_CHECK;
/* Reads any range of the file, with the same errors. */
struct sp_error *image_range_bytes(const struct image *image, uint64_t file_offset, uint64_t size,
				   struct image_bytes *ret) SP_MUST_CHECK;
void image_bytes_release(struct image_bytes *bytes);
