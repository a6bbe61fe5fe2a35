/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Language runtimes that generate code, and the options that make it visible to profilers. */
#ifndef MACHINE_RUNTIME_H
#define MACHINE_RUNTIME_H

#include <stdint.h>

struct runtime {
	const char *dso;     /* base name of its executable or library, up to the version */
	const char *name;
	const char *symbols; /* remedy for code without symbols; NULL: none */
	const char *stacks;  /* remedy for stacks that end in its code; NULL: none, or not needed */
	unsigned int minor;  /* first minor version that this is about; 0: any */
};

/* Returns the number of the runtime that a file belongs to, by its base name; 0: it is no runtime. */
uint8_t runtime_number(const char *name);

/* Returns the runtime of a number from runtime_number(); NULL for 0. */
const struct runtime *runtime_get(uint32_t number);

#endif
