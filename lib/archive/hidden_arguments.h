/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Hides arguments in the command lines of a recording (record/command_line.h). */
#pragma once

#include <sprof/reader.h>

/*
 * Overwrites words of command lines with asterisks in the file `fd`, which `reader` reads. Programs
 * and names of files stay, and the recorder's own options if they can be separated. *left_ret:
 * number of command lines that stay: an older recorder compressed them, or the file was changed.
 */
struct sp_error *arguments_hide(struct sp_reader *reader, int fd, size_t *left_ret) SP_MUST_CHECK;
