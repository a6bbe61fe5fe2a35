/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Executes the commands that a running recorder receives through --control. */
#ifndef CMD_RECORD_CONTROL_H
#define CMD_RECORD_CONTROL_H

#include <sprof/capture.h>
#include "cmd/common/control.h"

/*
 * Executes the pending commands, prints their errors, and acknowledges each. Sets *stop_ret to true
 * after "stop".
 */
void record_control_run(struct control *control, struct sp_capture *capture, bool *stop_ret);

#endif
