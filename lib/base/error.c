/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Errors are heap objects with a composed message. SP_ERROR_NO_MEMORY is one static object that is
 * never freed, and replaces any error that cannot be allocated.
 */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/format.h"

struct sp_error {
	enum sp_error_code code;
	int errnum;
	char *message;
	char *remedy;
	size_t what_at;  /* offset of the message's text after "PATH: offset N: "; 0: it has no such prefix */
	uint64_t offset; /* position in the damaged file */
};

static const struct sp_error no_memory = {
	.code = SP_ERROR_NO_MEMORY,
	.errnum = ENOMEM,
};

struct sp_error *error_no_memory(void)
{
	/* Constant: every function here tests for it before it writes. */
	return (struct sp_error *)(uintptr_t)&no_memory;
}

static struct sp_error *error_take(enum sp_error_code code, int errnum, char *message)
{
	struct sp_error *error = message ? malloc(sizeof(*error)) : NULL;
	if (!error) {
		free(message);
		return error_no_memory();
	}
	*error = (struct sp_error){.code = code, .errnum = errnum, .message = message};
	return error;
}

/* Joins three strings; frees `text`. */
static char *surround(const char *before, char *text, const char *after)
{
	char *whole = text ? format_text("%s%s%s", before, text, after) : NULL;
	free(text);
	return whole;
}

struct sp_error *error_new(enum sp_error_code code, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	char *message = format_text_va(format, args);
	va_end(args);
	return error_take(code, 0, message);
}

static enum sp_error_code code_of_errno(int errnum)
{
	switch (errnum) {
	case ENOMEM:
		return SP_ERROR_NO_MEMORY;
	case EACCES:
	case EPERM:
		return SP_ERROR_PERMISSION;
	case ENOENT:
	case ESRCH:
		return SP_ERROR_NOT_FOUND;
	case ENOSPC:
	case EDQUOT:
	case EFBIG:
	case EMFILE:
	case ENFILE:
		return SP_ERROR_LIMIT;
	default:
		return SP_ERROR_OS;
	}
}

struct sp_error *error_os(int errnum, const char *format, ...)
{
	char reason[128];
	va_list args;
	va_start(args, format);
	char *message = format_text_va(format, args);
	va_end(args);
	snprintf(reason, sizeof(reason), ": %s", strerrordesc_np(errnum) ?: "unknown error");
	return error_take(code_of_errno(errnum), errnum, surround("", message, reason));
}

struct sp_error *error_format(const char *path, uint64_t offset, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	char *message = format_text_va(format, args);
	va_end(args);
	char *where = format_text("%s: offset 0x%llx: ", path ?: "(memory)",
				  (unsigned long long)offset);
	if (where)
		message = surround(where, message, "");
	struct sp_error *error = error_take(SP_ERROR_FORMAT, 0, message);
	if (where && error != &no_memory) {
		error->what_at = strlen(where);
		error->offset = offset;
	}
	free(where);
	return error;
}

struct sp_error *error_prefix(struct sp_error *error, const char *format, ...)
{
	if (!error || error == &no_memory)
		return error;
	va_list args;
	va_start(args, format);
	char *prefix = format_text_va(format, args);
	va_end(args);
	char *whole = prefix ? format_text("%s: %s", prefix, error->message) : NULL;
	if (whole) {
		if (error->what_at)
			error->what_at += strlen(prefix) + 2;
		free(error->message);
		error->message = whole;
	}
	free(prefix);
	return error;
}

struct sp_error *error_set_remedy(struct sp_error *error, const char *format, ...)
{
	if (!error || error == &no_memory)
		return error;
	va_list args;
	va_start(args, format);
	free(error->remedy);
	error->remedy = format_text_va(format, args);
	va_end(args);
	return error;
}

const char *error_what(const struct sp_error *error, uint64_t *offset_ret)
{
	if (error->what_at)
		*offset_ret = error->offset;
	return sp_error_message(error) + error->what_at;
}

enum sp_error_code sp_error_code(const struct sp_error *error)
{
	return error->code;
}

int sp_error_errno(const struct sp_error *error)
{
	return error->errnum;
}

const char *sp_error_message(const struct sp_error *error)
{
	return error->message ?: "out of memory";
}

const char *sp_error_remedy(const struct sp_error *error)
{
	return error->remedy;
}

void sp_error_free(struct sp_error *error)
{
	if (!error || error == &no_memory)
		return;
	free(error->message);
	free(error->remedy);
	free(error);
}
