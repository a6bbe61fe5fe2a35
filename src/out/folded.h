/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OUT_FOLDED_H
#define OUT_FOLDED_H

/* Most bytes for each byte of a name: one of invalid UTF-8 becomes U+FFFD. */
#define FOLDED_GROWTH 3

/*
 * Writes a name to `end`, which has room for FOLDED_GROWTH times its size; replaces semicolons and
 * control characters, which would break the format. Returns the new end, without a final NUL.
 */
char *folded_put_name(char *end, const char *name);

#endif
