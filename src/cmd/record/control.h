/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Commands to a recorder that runs: perf record's --control. */
#ifndef CMD_RECORD_CONTROL_H
#define CMD_RECORD_CONTROL_H

#include <sprof/capture.h>
#include "cmd/common/control.h"

/*
 * Does what has come, says what of it fails, and acknowledges each command. *stop_ret becomes true
 * where it was "stop".
 */
void record_control_run(struct control *control, struct sp_capture *capture, bool *stop_ret);

#endif
