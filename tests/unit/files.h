/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs and files that a case makes: in a folder of its own, by the tools at hand. */
#ifndef UNIT_FILES_H
#define UNIT_FILES_H

#include <stdbool.h>
#include <stddef.h>

/* A new empty folder, removed when the case's process ends; a static string. */
const char *files_folder(void);

/* FOLDER/NAME; valid for the case. */
const char *files_path(const char *name);

void files_write(const char *path, const void *bytes, size_t size);

/* Runs a shell command in the folder ($CC is the compiler) or fails the case. */
void files_run(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Returns a command's output, NUL-terminated; valid for the case. */
char *files_output(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Waits until no other test of this build samples (tests/run says why), a
 * minute at most; until the case's process ends.
 */
void files_sample_alone(void);

/* Whether there is such a command; where not, a case that needs it should end. */
bool files_have(const char *command);

#endif
