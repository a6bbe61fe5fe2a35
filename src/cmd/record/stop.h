/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ending a recording. A pipe's reader that takes nothing keeps it from its end for as long as it
 * likes: that is said, and who has waited enough may say so.
 */
#ifndef CMD_RECORD_STOP_H
#define CMD_RECORD_STOP_H

#include <sprof/capture.h>

/*
 * sp_capture_stop(). Where `path` is no regular file, a signal that can be read from `signal_fd`
 * meanwhile ends this process by that signal, and its command by SIGTERM. Unless `quiet`, prints
 * that it waits for the reader.
 */
struct sp_error *record_stop(struct sp_capture *capture, const char *path,
			     int signal_fd, bool quiet) SP_MUST_CHECK;

#endif
