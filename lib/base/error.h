/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <stdint.h>
#include <sprof/error.h>

/* Out of memory: a static object, so that reporting it cannot fail. */
struct sp_error *error_no_memory(void);

/* `code` with a formatted message. */
struct sp_error *error_new(enum sp_error_code code, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * A failed system call: the message gets ": " and what `errnum` means behind it.
 * ENOMEM, EACCES/EPERM, ENOENT/ESRCH and ENOSPC/EDQUOT/EFBIG/EMFILE/ENFILE get
 * the code that fits; others SP_ERROR_OS.
 */
struct sp_error *error_os(int errnum, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Damaged input: "PATH: offset 0x…: MESSAGE". */
struct sp_error *error_format(const char *path, uint64_t offset, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Returns the message of error_format() without its place, and sets *offset_ret to its offset. For
 * other errors returns the whole message and leaves *offset_ret.
 */
const char *error_what(const struct sp_error *error, uint64_t *offset_ret);

/* Puts "PREFIX: " before the message of `error`; returns it. */
struct sp_error *error_prefix(struct sp_error *error, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Says what the user can do; replaces an earlier remedy; returns `error`. */
struct sp_error *error_set_remedy(struct sp_error *error, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The first of two failures; the later one is freed. NULL: none. */
static inline struct sp_error *error_first(struct sp_error *error, struct sp_error *later)
{
	if (error)
		sp_error_free(later);
	return error ? error : later;
}

#endif
