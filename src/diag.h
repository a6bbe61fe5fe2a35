/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes diagnostics to standard error: what failed, why, and what to do. Each is one line, or
 * wrapped on a terminal, without control characters, even if a name in it has some.
 */
#ifndef DIAG_H
#define DIAG_H

#include <sprof/ctx.h>

/*
 * Prints "sprof: MESSAGE", then the remedy on a line of its own. When out of memory, it names the
 * limits of this process. Frees the error.
 */
void diag_error(struct sp_error *error);

/* Prints that memory ran out, and the limits of this process. */
void diag_no_memory(void);

/* Prints "sprof: " and the text. */
void diag_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints a line that continues the previous message. */
void diag_more(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints a log line of the library. Callback for sp_ctx_set_log(). */
void diag_log(void *arg, enum sp_log_level level, const char *line);

/* Returns the number after a line's beginning in a file of /proc; 0: there is none. */
unsigned long long diag_proc_number(const char *path, const char *begin, int base);

#endif
