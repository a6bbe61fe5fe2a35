/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Texts of kernel addresses in a recording: symbols (kallsyms) and strings (printk_formats). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/vec.h"

struct kernel_name {
	uint64_t address;
	size_t line; /* later lines come first */
	const char *text;
};

/* Zeroed: none. kernel_names_sort() must be called before texts are looked up. */
struct kernel_names {
	struct arena arena;
	VEC(struct kernel_name) symbols;
	VEC(struct kernel_name) strings;
};

void kernel_names_deinit(struct kernel_names *names);
/*
 * Adds lines "ffffffff81000000 T _stext", for modules with a tab and "[module]". False: no memory.
 */
bool kernel_names_add_symbols(struct kernel_names *names, const char *text);
/* Adds lines 0xffffffff82000000 : "text\n". False: no memory. */
bool kernel_names_add_strings(struct kernel_names *names, const char *text);
/* False: no memory. */
bool kernel_names_sort(struct kernel_names *names);

/* Returns the symbol that holds an address; NULL if there is none, or it has no known end. */
const struct kernel_name *kernel_symbol(const struct kernel_names *names, uint64_t address);
/* Returns the string at an address; NULL if there is none. */
const char *kernel_string(const struct kernel_names *names, uint64_t address);
/* Returns a symbol's address; 0 if there is none. */
uint64_t kernel_address(const struct kernel_names *names, const char *name);
