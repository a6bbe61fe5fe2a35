/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions of interpreted Python code, read while recording. Each has an address range of its own, which
 * no program can map: the number of the function, and the line, are bits of the address. A call chain has
 * such addresses between those of native code. No process has them: functions of several processes
 * that have one name, file and first line are one. Like a note (record/note.h), a function is an
 * EVENT_UPDATE record (78) of a kind of our own, before the first sample that needs it; numbers are
 * little-endian on every machine:
 *
 *	header  u32 78, u16 misc 0, u16 size
 *	u64     kind: PYTHON_KIND ("sprofpyt" in ASCII)
 *	u64     id: 0, the first event
 *	u64     first address of the range
 *	u32     first line of the function
 *	char[]  qualified name, a NUL
 *	char[]  file (empty: unknown), a NUL, zeros up to a multiple of 8
 */
#pragma once

#include <sprof/record.h>
#include "record/encode.h"

/* Name of the file of all Python functions, and of a function that could not be read. */
#define PYTHON_DSO "[python]"
#define PYTHON_UNRESOLVED "[unresolved Python function]"

#define PYTHON_KIND UINT64_C(0x747970666f727073)
#define PYTHON_FIXED_SIZE 12 /* number of bytes between the id and the name */

/*
 * Address: the tag in bits 48 to 63, the function's number in bits 21 to 47, the line in bits 1 to 20, and
 * bit 0 set: readers subtract 1 from return addresses, which must not change the rest.
 */
#define PYTHON_TAG UINT64_C(0x7079) /* "py"; not canonical on any architecture */
#define PYTHON_TAG_SHIFT 48
#define PYTHON_FUNCTION_SIZE (UINT64_C(1) << 21)
#define PYTHON_FUNCTIONS_MAX (UINT32_C(1) << 27)
#define PYTHON_LINE_MAX ((UINT32_C(1) << 20) - 1)

static inline bool python_has_address(uint64_t ip)
{
	return ip >> PYTHON_TAG_SHIFT == PYTHON_TAG;
}

/* Returns a function's range, below PYTHON_FUNCTIONS_MAX. */
static inline uint64_t python_start(uint32_t number)
{
	return PYTHON_TAG << PYTHON_TAG_SHIFT | number * PYTHON_FUNCTION_SIZE;
}

/* Returns the address of a line of the function that has the address `start`; line 0: unknown. */
static inline uint64_t python_address(uint64_t start, uint32_t line)
{
	return start | (line <= PYTHON_LINE_MAX ? (uint64_t)line << 1 : 0) | 1;
}

static inline uint64_t python_function_of(uint64_t ip)
{
	return ip & ~(PYTHON_FUNCTION_SIZE - 1);
}

static inline uint32_t python_line_of(uint64_t ip)
{
	return (uint32_t)(ip >> 1) & PYTHON_LINE_MAX;
}

struct python_function {
	uint64_t start;
	uint32_t first_line;
	const char *name, *file; /* in a decoded record, the record owns them; untrusted */
};

/* Appends a function record. Fails with SP_ERROR_LIMIT if the names do not fit. */
struct sp_error *record_encode_python(struct record_buffer *buffer,
				      const struct python_function *function) SP_MUST_CHECK;

/* Returns whether a decoded record is a function record, and gets its values. */
bool record_python(const struct sp_record *record, struct python_function *ret);
