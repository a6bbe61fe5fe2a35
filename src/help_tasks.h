/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Topics of 'sprof help TASK': commands for a question, by a word that users type. */
#ifndef HELP_TASKS_H
#define HELP_TASKS_H

#include <stdbool.h>
#include <stdio.h>

/* Prints the commands for the task. Returns false if there is no task of that name. */
bool help_task_print(const char *name, FILE *out);

/* Prints the first names of all tasks in one line. */
void help_tasks_list(FILE *out);

#endif
