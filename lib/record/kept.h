/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files kept in the recording, because they cannot be opened later: the vdso is part of a kernel
 * that another machine, or this one after an update, does not run. Like a note (record/note.h), a
 * file is an EVENT_UPDATE record (78) with a kind of our own:
 *
 *	header  u32 78, u16 misc 0, u16 size
 *	u64     kind: KEPT_KIND ("sprofelf" in ASCII)
 *	u64     id: 0, the first event
 *	u64     size of the file in bytes, little-endian
 *	char[16] name, as in MMAP: "[vdso]", with a NUL behind
 *	u8[]    the file, zeros up to a multiple of 8
 */
#pragma once

#include <sprof/record.h>
#include "record/encode.h"

#define KEPT_KIND UINT64_C(0x666c65666f727073)
#define KEPT_NAME_SIZE 16

/* Appends such a record. Fails with SP_ERROR_LIMIT if the file does not fit a record (64 KB). */
struct sp_error *record_encode_kept(struct record_buffer *buffer, const char *name,
				    const void *bytes, size_t size) SP_MUST_CHECK;

/*
 * Returns whether a decoded record contains such a file, and gets its name and bytes, which are the
 * record's own and untrusted.
 */
bool record_kept(const struct sp_record *record, char name_ret[KEPT_NAME_SIZE],
		 struct sp_bytes *ret);
