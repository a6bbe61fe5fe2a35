/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names between analyses (struct sp_names of sprof/analysis.h). A resolver takes a module's names from
 * here on first use, which moves their ownership, and gives them back when it is freed. So an object has
 * one owner at any time, and concurrent analyses do not share one. Only names that depend on the
 * content of a file are kept, which the recording must prove by a build-id, or by size and hash.
 */
#pragma once

#include <sprof/analysis.h>
#include "binary/held_maps.h"
#include "symbol/module_names.h"

/*
 * Makes later analyses add all that they find to `store` (borrowed; NULL: nothing is stored); with `files`,
 * also the files themselves. kept_names_store() adds a module's log and empties it;
 * kept_names_stored_all() returns false if memory was short.
 */
void kept_names_set_store(struct sp_names *kept, struct stored_names *store, bool files);
bool kept_names_are_logged(const struct sp_names *kept);
void kept_names_store(struct sp_names *kept, const struct source_env *env,
		      struct module_names *names);
bool kept_names_stored_all(const struct sp_names *kept);

/* Bounds the memory of perf maps and jitdumps in each later analysis; 0: the default. */
void kept_names_set_jit_memory(struct sp_names *kept, uint64_t memory);
uint64_t kept_names_jit_memory(const struct sp_names *kept);

/* Returns the number of files that have no names because this process may not read them. */
size_t kept_names_denied(const struct sp_names *kept);

/* Lets later analyses find files and perf maps that a recorder holds (borrowed; NULL: none). */
void kept_names_set_held(struct sp_names *kept, struct held_files *held, struct held_maps *maps);
struct held_files *kept_names_held(const struct sp_names *kept);
struct held_maps *kept_names_maps(const struct sp_names *kept);

/* Returns a module's kept names, which the caller then owns; NULL: none are kept. Thread-safe. */
struct module_names *kept_names_take(struct sp_names *kept, const struct source_env *env,
				     const struct module *module);

/* Takes ownership of a module's names, and keeps or frees them. Thread-safe. */
void kept_names_give(struct sp_names *kept, const struct source_env *env,
		     const struct module *module, struct module_names *names);

/* The same for the table of the recorded kernel, cached by build-id, without its modules. */
struct kallsyms *kept_names_take_kernel(struct sp_names *kept, const struct source_env *env);
void kept_names_give_kernel(struct sp_names *kept, const struct source_env *env,
			    struct kallsyms *kallsyms);

/*
 * Ends an analysis: frees names that several analyses have not used, the oldest first if those of
 * many modules are unused. Thread-safe.
 */
void kept_names_expire(struct sp_names *kept);
