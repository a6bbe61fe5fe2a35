/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Hides arguments in the command lines of a recording (record/command_line.h). */
#pragma once

#include <sprof/reader.h>

/*
 * Overwrites all words but the program's and names of files with asterisks, in the file `fd`, which
 * `reader` reads; so in the recorder's command line, after its options. *left_ret: command lines
 * that stay: an older recorder compressed them.
 */
struct sp_error *arguments_hide(struct sp_reader *reader, int fd, size_t *left_ret) SP_MUST_CHECK;
