/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef EXPORT_GZIP_H
#define EXPORT_GZIP_H

#include <stdio.h>

/*
 * Returns a stream that compresses to `out` in gzip's format. fclose() ends the format and leaves `out`
 * open, which has the write errors.
 */
FILE *gzip_open(FILE *out);

#endif
