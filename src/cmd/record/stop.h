/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Completes a recording. If the output is a pipe, its reader can delay this without limit; a signal
 * ends the wait.
 */
#ifndef CMD_RECORD_STOP_H
#define CMD_RECORD_STOP_H

#include <sprof/capture.h>
#include "cmd/common/session.h"

/*
 * Calls sp_capture_stop(). If `path` is no regular file, a signal during the call ends this process by
 * that signal, and the command by SIGTERM. Unless `quiet`, prints that it waits for the reader.
 */
struct sp_error *record_stop(struct sp_capture *capture, const char *path,
			     const struct session *session, bool quiet) SP_MUST_CHECK;

#endif
