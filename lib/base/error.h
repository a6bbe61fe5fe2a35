/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>
#include <sprof/error.h>

/* Returns the error for lack of memory: a static object, so that this cannot fail. */
struct sp_error *error_no_memory(void);

/* Makes an error with a formatted message. */
struct sp_error *error_new(enum sp_error_code code, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Makes the error of a failed system call: the message ends with ": " and strerror(errnum). ENOMEM,
 * EACCES/EPERM, ENOENT/ESRCH and ENOSPC/EDQUOT/EFBIG/EMFILE/ENFILE have their own codes; others
 * SP_ERROR_OS.
 */
struct sp_error *error_os(int errnum, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Makes an error of damaged input: "PATH: offset 0x…: MESSAGE". */
struct sp_error *error_format(const char *path, uint64_t offset, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Returns the message of error_format() without "PATH: offset 0x…: ", and sets *offset_ret to the
 * offset. Of other errors, returns the whole message and does not set *offset_ret.
 */
const char *error_what(const struct sp_error *error, uint64_t *offset_ret);

/*
 * Puts "PREFIX: " before the message of `error`; returns it. NULL, and the error of exhausted
 * memory, stay as they are.
 */
struct sp_error *error_prefix(struct sp_error *error, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Sets the remedy: what the user can do. Replaces an earlier one; returns `error`. */
struct sp_error *error_set_remedy(struct sp_error *error, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Returns the error of `call` from the caller, if it is one. Cleanup attributes release the locals.
 */
#define TRY(call)                                                                                  \
	do {                                                                                       \
		struct sp_error *try_error = (call);                                               \
		if (try_error)                                                                     \
			return try_error;                                                          \
	} while (0)

/* Returns the error for lack of memory from the caller, if `memory` is NULL or false. */
#define NEED(memory)                                                                               \
	do {                                                                                       \
		if (!(memory))                                                                     \
			return error_no_memory();                                                  \
	} while (0)

/* Returns the first of two errors (NULL: none) and frees the later one. */
static inline struct sp_error *error_first(struct sp_error *error, struct sp_error *later)
{
	if (error)
		sp_error_free(later);
	return error ? error : later;
}
