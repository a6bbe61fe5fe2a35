/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Source files as people read them: by their base names, as perf has them, and where
 * several are of one, by as much of their paths as tells them apart.
 */
#ifndef PROFILE_SRCFILE_H
#define PROFILE_SRCFILE_H

#include "base/hash.h"
#include "base/vec.h"
#include "profile/function.h"

struct srcfiles {
	bool whole; /* paths are shown whole */
	struct u64map start_of; /* a path's address -> where what is shown of it begins */
};

/* Collect the functions' srcfiles. False when out of memory. */
bool srcfiles_make(struct srcfiles *files, const struct functions *functions, bool whole);
void srcfiles_deinit(struct srcfiles *files);

/* The part of a path that is shown; the path may be NULL. */
const char *srcfiles_shown(const struct srcfiles *files, const char *path);

/* "file.c:123"; the arena's. NULL where the path or line is not known, or out of memory. */
const char *srcfiles_line(const struct srcfiles *files, const char *path, uint32_t line,
			  struct arena *arena);

#endif
