/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef HTML_BASE64_H
#define HTML_BASE64_H

#include <stdio.h>

/*
 * Returns a stream that encodes to `out` in base64, without line breaks. fclose() ends the format and
 * leaves `out` open, which has the write errors. NULL when out of memory.
 */
FILE *base64_open(FILE *out);

#endif
