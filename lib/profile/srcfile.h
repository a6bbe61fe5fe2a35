/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Short names of source files: base names, as in perf. If several files share one, as many directories
 * are added as distinguish them.
 */
#pragma once

#include "base/hash.h"
#include "base/vec.h"
#include "profile/function.h"

struct srcfiles {
	bool whole; /* show whole paths */
	struct u64map start_of; /* path's address -> offset of its shown part */
};

/* Collects the srcfiles of functions. False when out of memory. */
bool srcfiles_make(struct srcfiles *files, const struct functions *functions, bool whole);
/*
 * Finds the shown parts of these paths, which may repeat. Sorts the array. False when out of
 * memory.
 */
bool srcfiles_of(struct srcfiles *files, const char **paths, size_t count);

void srcfiles_deinit(struct srcfiles *files);

/* Returns the shown part of a path, which may be NULL. */
const char *srcfiles_shown(const struct srcfiles *files, const char *path);

/* Returns "file.c:123", owned by the arena. NULL if the path or line is unknown, or out of memory. */
const char *srcfiles_line(const struct srcfiles *files, const char *path, uint32_t line,
			  struct arena *arena);
