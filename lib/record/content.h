/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Size and hash of mapped files without a build-id: the only proof that the file that a report
 * finds is the recorded one. Like a note (record/note.h) it is an EVENT_UPDATE record (78)
 * of a kind of our own; numbers are little-endian on every machine:
 *
 *	header  u32 78, u16 misc 0, u16 size
 *	u64     kind: CONTENT_KIND ("sproffil" in ASCII)
 *	u64     id: 0, the first event
 *	u64     size of the file in bytes; 0: the path had another file at the recording's end
 *	u64     hash of its first CONTENT_HASHED bytes, by content_hash_add()
 *	u64     inode;  u32, u32 major and minor number of its device; as in its MMAP2
 *	char[]  path, as in its MMAP2, a NUL, zeros up to a multiple of 8
 */
#pragma once

#include <sprof/record.h>
#include "record/encode.h"

#define CONTENT_KIND UINT64_C(0x6c6966666f727073)
#define CONTENT_HASHED ((uint64_t)64 << 20)
#define CONTENT_FIXED_SIZE 32 /* number of bytes between the id and the path */

struct file_content {
	const char *path; /* path of the file; in a decoded record, the record owns it */
	uint64_t size, hash, ino;
	uint32_t maj, min;
};

/* Adds bytes to a hash, which begins as 0. All sizes but the last must be multiples of 8. */
uint64_t content_hash_add(uint64_t hash, const void *bytes, size_t size);

/* Appends a content record. Fails with SP_ERROR_LIMIT if the path does not fit. */
struct sp_error *record_encode_content(struct record_buffer *buffer,
				       const struct file_content *content) SP_MUST_CHECK;

/* Returns whether a decoded record is a content record, and gets its values, which are untrusted. */
bool record_content(const struct sp_record *record, struct file_content *ret);
