/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Language runtimes that generate code, and the options that make it visible to profilers. */
#ifndef FINDINGS_RUNTIMES_H
#define FINDINGS_RUNTIMES_H

#include "aggregate/run.h"

struct runtime {
	const char *dso;     /* base name of its executable or library, up to the version */
	const char *name;
	const char *symbols; /* remedy for code without symbols */
	const char *stacks;  /* remedy for stacks that end in its code; NULL: it needs none */
};

/* Returns the first known runtime that the recording has mapped, or NULL. */
const struct runtime *runtime_find(const struct run *run);

/* Returns whether the recording has stacks of a Go program: compilers' options are no remedy for them. */
bool runtime_is_go(const struct run *run);

/* Whether a module may hold generated code. */
bool runtime_may_own(const struct module *module);

#endif
