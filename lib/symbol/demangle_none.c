/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds without libiberty: names are not demangled. */
#include "symbol/demangle.h"

#include <stddef.h>

const char *demangle(const char *name, struct arena *arena)
{
	(void)name, (void)arena;
	return NULL;
}

const char *demangle_whole(const char *name, struct arena *arena)
{
	(void)name, (void)arena;
	return NULL;
}

bool demangle_available(void)
{
	return false;
}
