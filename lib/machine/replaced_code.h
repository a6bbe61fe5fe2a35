/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Code that programs moved: they copied it to memory without a file at the same addresses, to have
 * it in huge pages. The code keeps its file:
 *
 * - The recorder compares the bytes while the process lives, and writes the file's mapping again.
 * - Without such a record, the program's own code is kept, because the process cannot run without
 *   it. So is a library's, if the memory has exactly the place of its code. The module is marked.
 */
#ifndef MACHINE_REPLACED_CODE_H
#define MACHINE_REPLACED_CODE_H

#include "base/hash.h"
#include "machine/modules.h"
#include "machine/process.h"

/* A zeroed struct is empty. */
struct replaced_code {
	struct u64map programs; /* pid -> module of the program that it executed */
	struct u64map unproven; /* pid and module of code without a proof -> the module */
};

struct replaced_mapping {
	struct views *views;
	struct timeline *space;
	uint64_t time_ns;
	struct mapping mapping;
	bool is_code;
};

void replaced_code_deinit(struct replaced_code *replaced);

/* The process executes a program. Returns false when out of memory. */
bool replaced_code_exec(struct replaced_code *replaced, uint32_t pid);

/* Adds a mapping, like views_map(), but keeps moved code. Returns false when out of memory. */
bool replaced_code_map(struct replaced_code *replaced, const struct modules *modules,
	       const struct replaced_mapping *event);

/* Marks the modules of code that is not proven, and frees the memory. */
void replaced_code_seal(struct replaced_code *replaced, const struct modules *modules);

#endif
