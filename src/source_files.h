/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Source files of sampled lines. Their paths come from debug information, which is untrusted. Only
 * regular files below the directories that the user named are read, and no symbolic link is
 * followed.
 */
#ifndef SOURCE_FILES_H
#define SOURCE_FILES_H

#include "list.h"
#include "out/report.h"

/* Most files, and largest file, that are read. */
#define SOURCE_FILES_MAX 200
#define SOURCE_FILE_SIZE (2 << 20)

/* Directories that source files may be in. */
struct source_roots {
	LIST(struct source_root {
		char *path; /* absolute, without links and without a slash at the end */
		int fd;
	});
	bool skips_private;
	size_t private_count; /* files that were skipped for it */
};

/*
 * Opens the directories; if `count` is 0, the current one. Files of the latter are skipped if
 * others may not read them, or if a part of their path below it begins with a dot. Returns false
 * after printing an error; call source_roots_deinit() in either case.
 */
bool source_roots_open(struct source_roots *roots, const char *const *directories, size_t count);
void source_roots_deinit(struct source_roots *roots);

/*
 * Reads a file. Returns its text, which the caller frees, or NULL if it must not be read, cannot be read,
 * is too large, or is not text.
 */
char *source_read(struct source_roots *roots, const char *path);

#endif
