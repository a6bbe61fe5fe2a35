/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds without libiberty: only names of OCaml are demangled. */
#include "symbol/demangle.h"

const char *demangle(const char *name, struct arena *arena)
{
	return demangle_ocaml(name, arena);
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
