/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Log of everything that a resolver found for one module, by offset: the content of stored names
 * (stored/names.h). Symbols and frames are borrowed from the module's names. It has no lock, like these.
 */
#ifndef SYMBOL_NAME_LOG_H
#define SYMBOL_NAME_LOG_H

#include "stored/names.h"
#include "symbol/resolver.h"

struct module_names;

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

void name_log_add_symbol(struct name_log *log, uint64_t offset, const struct symbol *symbol);
void name_log_add_vaddr(struct name_log *log, uint64_t offset, uint64_t vaddr);
void name_log_add_sources(struct name_log *log, const struct source_query *query,
			  const struct source_frames *frames);
void name_log_add_code(struct name_log *log, uint64_t offset, const uint8_t *bytes, size_t size,
		       uint16_t machine);

/*
 * Adds the log of a module's names to stored names, and to those that earlier logs of the module added.
 * Returns false when out of memory.
 */
bool name_log_store(const struct name_log *log, const struct module_names *names,
		    struct stored_names *ret);

#endif
