/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* File of a command, and the interpreters of scripts. */
#pragma once

#include <stdbool.h>

/*
 * Returns the path that execvp(3) would use, malloc'ed; NULL if there is none, or when out of
 * memory. A name with a slash is the path, also if no such file exists.
 */
char *command_path_find(const char *name);

/*
 * Replaces *path, malloc'ed, by the path of a script's interpreter; of "/usr/bin/env NAME", by that
 * of NAME. Returns false if the file is no script. If no interpreter is found, *path becomes NULL,
 * and it returns false, too.
 */
bool command_path_follow(char **path);
