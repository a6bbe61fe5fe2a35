/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf's commands that sprof does not have. `sprof diff` must not record the program diff, and so
 * replace the user's last recording.
 */
#ifndef PERF_COMMANDS_H
#define PERF_COMMANDS_H

/* Returns a sentence that says what to use instead; NULL if `name` is no command of perf alone. */
const char *perf_command_remedy(const char *name);

#endif
