/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SPROF_ERROR_H
#define SPROF_ERROR_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SP_API __attribute__((visibility("default")))

/* Every function that can fail returns one; ignoring it is a bug. */
#define SP_MUST_CHECK __attribute__((warn_unused_result))

enum sp_error_code {
	SP_ERROR_NO_MEMORY,
	SP_ERROR_OS,          /* a system call failed: sp_error_errno() says how */
	SP_ERROR_FORMAT,      /* input data is damaged: the message has file and offset */
	SP_ERROR_INVALID,     /* an option or event string is wrong */
	SP_ERROR_NOT_FOUND,   /* a named file, process or event does not exist */
	SP_ERROR_PERMISSION,  /* refused: the remedy says what would allow it */
	SP_ERROR_UNSUPPORTED, /* this kernel, machine or build cannot do it */
	SP_ERROR_LIMIT,       /* a limit (mlock, fds, file size, disk) was reached */
	SP_ERROR_CANCELLED,   /* sp_ctx_cancel() was called */
};

/* An error. NULL means success. The receiver owns it. */
struct sp_error;

/* Returns the kind of failure. */
SP_API enum sp_error_code sp_error_code(const struct sp_error *error);

/* Returns the errno of the failed system call, or 0. */
SP_API int sp_error_errno(const struct sp_error *error);

/* Returns the failed action and its cause, without a newline; valid as long as the error. */
SP_API const char *sp_error_message(const struct sp_error *error);

/* Returns a remedy for the user, or NULL; valid as long as the error. */
SP_API const char *sp_error_remedy(const struct sp_error *error);

/* NULL is allowed. */
SP_API void sp_error_free(struct sp_error *error);

#ifdef __cplusplus
}
#endif
#endif
