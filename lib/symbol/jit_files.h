/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Perf maps and jitdumps of an analysis. Any user writes them, at no cost if they are links to one
 * file: so each file is read once, whatever its names, and all together take bounded memory. A perf
 * map is read again for a process that the recorder holds it for: the times are the process's.
 * Thread-safe.
 */
#pragma once

#include "base/diagnosis.h"
#include "symbol/jitdump.h"
#include "symbol/perfmap.h"

/* Default limit: a perf map of five million functions needs about 800 MB. */
#define JIT_FILES_MEMORY ((uint64_t)1 << 30)

/*
 * The files take at most about `memory` bytes; 0: JIT_FILES_MEMORY. `held` has files that a
 * recorder holds (borrowed; NULL: none).
 */
struct sp_error *jit_files_new(uint64_t memory, const struct held_maps *held,
			       struct jit_files **ret) SP_MUST_CHECK;
const struct held_maps *jit_files_held(const struct jit_files *files);
void jit_files_free(struct jit_files *files);

/* An open file. */
struct jit_file_place {
	int fd;
	const char *path; /* below `root` */
	const char *root; /* see struct jitdump */
	struct stored *stored;
	struct stored_key key;
	const struct held_map *held; /* a perf map that the recorder holds; NULL: it does not */
	bool is_held;                /* a jitdump that the recorder holds */
	bool ended; /* the process that wrote it has ended */
};

/*
 * Read a file, or find it among those that were read. *ret belongs to `files`; it is NULL if the
 * file is damaged or unreadable, or needs more memory than is left, and *diagnosis has the reason.
 * Fail only when out of memory.
 */
struct sp_error *jit_files_perfmap(struct jit_files *files, const struct jit_file_place *place,
				   struct diagnosis *diagnosis,
				   const struct perfmap **ret) SP_MUST_CHECK;
struct sp_error *jit_files_jitdump(struct jit_files *files, const struct jit_file_place *place,
				   struct diagnosis *diagnosis,
				   const struct jitdump **ret) SP_MUST_CHECK;
