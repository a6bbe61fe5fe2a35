/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CMD_RECORD_ANSWER_H
#define CMD_RECORD_ANSWER_H

#include <sprof/capture.h>

/*
 * Prints the hottest functions of a recording as one line of standard error, as `sprof report` would
 * show them. Prints nothing if standard error is not a terminal, if `path` (NULL: sprof.data) is not a
 * regular file, if the file cannot be analysed, or if that takes longer than 0.3 s or until a signal
 * can be read from `signal_fd`. A child of this process prints.
 */
void record_print_hottest(const struct sp_capture *capture, const char *path, int signal_fd);

#endif
