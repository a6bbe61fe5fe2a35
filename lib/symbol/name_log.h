/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Log of all that a resolver found for one module, by offset: the content of stored names
 * (stored/stored_names.h). Symbols and frames are borrowed from the module's names
 * (module_names.h). Like these, it has no lock.
 */
#pragma once

#include "base/arena.h"
#include "base/diagnosis.h"
#include "base/hash.h"
#include "base/vec.h"
#include "stored/stored_names.h"
#include "symbol/source.h"

/* Results for one offset; NULL: none was logged. */
struct name_point {
	uint64_t offset, vaddr;
	const struct symbol *symbol;
	const struct source_frame *innermost;
	bool has_vaddr;
};

/* A zeroed log is empty. */
struct name_log {
	struct u64map by_offset; /* offset -> index in points */
	VEC(struct name_point) points;
	VEC(struct stored_code) codes;
	struct arena bytes; /* owns the bytes of `codes` */
	uint16_t machine;   /* ELF machine of the codes; 0: none */
	bool no_memory;     /* something is missing in the log */
};

void name_log_deinit(struct name_log *log);

/* Out of memory, they set `no_memory`. */
void name_log_add_symbol(struct name_log *log, uint64_t offset, const struct symbol *symbol);
void name_log_add_vaddr(struct name_log *log, uint64_t offset, uint64_t vaddr);
void name_log_add_sources(struct name_log *log, const struct source_query *query,
			  const struct source_frames *frames);
void name_log_add_code(struct name_log *log, uint64_t offset, const uint8_t *bytes, size_t size,
		       uint16_t machine);

/*
 * Adds the log to the stored names of a module, which may have those of earlier logs. `symbols`,
 * `lines`: causes of missing ones. Returns false when out of memory.
 */
bool name_log_store(const struct name_log *log, const struct stored_key *key,
		    const struct diagnosis *symbols, const struct diagnosis *lines,
		    struct stored_names *ret);
