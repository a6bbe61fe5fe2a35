/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Perf map of a process: the one that the recorder held, or else the file. Timed code has a module
 * of its own (MODULE_JIT, with the map's path). A recording stores its ranges as that module's
 * file: for each entry four u64 in little-endian order, which are time, start, size and offset.
 */
#pragma once

#include "base/cursor.h"
#include "binary/held_maps.h"
#include "symbol/jit_files.h"
#include "symbol/source.h"

struct process_perfmap {
	struct sp_ctx *ctx;
	const char *symfs;
	enum host host;  /* whether the recording was made on this host */
	uint32_t pid;
	struct jit_files *files; /* owns the result */
};

/*
 * Reads the map; NULL if there is none, or *diagnosis has the reason. Fails only when out of
 * memory.
 */
struct sp_error *process_perfmap_open(const struct process_perfmap *process,
					  struct diagnosis *diagnosis,
					  const struct perfmap **ret) SP_MUST_CHECK;

/* Stores the timed entries of a module, or copies stored ones. Fails when out of memory. */
struct sp_error *perfmap_store_timed(const struct source_env *env, const struct module *module,
				    struct stored_names *names,
				    struct stored_module *stored) SP_MUST_CHECK;

/*
 * Reads a timed entry from the bytes of a stored file. False at their end, or if they are damaged.
 * *bytes is advanced.
 */
bool perfmap_read_timed(struct cursor *bytes, struct perfmap_timed *ret);
