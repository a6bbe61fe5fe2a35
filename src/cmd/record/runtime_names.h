/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Variables for language runtimes, so that they write symbols of generated code (--runtime-names). */
#ifndef CMD_RECORD_RUNTIME_NAMES_H
#define CMD_RECORD_RUNTIME_NAMES_H

#include <stdbool.h>

/*
 * Sets the variables in this process's environment, which COMMAND inherits, and prints their names,
 * or with `verbose` their values. Options that the user has set stay. Returns false after printing
 * an error: also as root, if other users' links are followed in /tmp.
 */
bool runtime_names_set(bool quiet, bool verbose);

#endif
