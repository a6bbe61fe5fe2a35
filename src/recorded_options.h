/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The extent of a recording, by the options of `record` in its command line. */
#ifndef RECORDED_OPTIONS_H
#define RECORDED_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

/* Several options: the last extent in this list counts. */
enum recorded_extent {
	RECORDED_RUN,    /* one whole run of a command */
	RECORDED_PART,   /* running processes, or a part of a run */
	RECORDED_OTHERS, /* threads, or all tasks of CPUs, users or control groups */
};

/* Sets *command_ret to the words of the recorded command; NULL: there is none. */
enum recorded_extent recorded_extent(const char *const *words, const char *const **command_ret);

/* Reads an option or operand. Returns its number of words: 1, or 2 with an argument. */
size_t recorded_option(const char *word, enum recorded_extent *extent_ret);

/* Returns whether the name, up to '=', begins a name of the list, with three letters or more. */
bool recorded_has_name(const char *const *names, size_t count, const char *name);
#define RECORDED_HAS_NAME(names, name)                                                             \
	recorded_has_name(names, sizeof(names) / sizeof(*(names)), name)

#endif
