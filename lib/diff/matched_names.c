/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "diff/matched_names.h"

#include <string.h>
#include "symbol/namesake_keys.h"

size_t object_name_size(const char *dso)
{
	const char *so = dso;
	while ((so = strstr(so, ".so.")) && (so[4] < '0' || so[4] > '9'))
		so += 4;
	return so ? (size_t)(so - dso) + 3 : strlen(dso);
}

bool object_is_program(const char *dso)
{
	size_t size = object_name_size(dso);
	bool is_library = size > 3 && !strncmp(dso + size - 3, ".so", 3);
	return *dso && *dso != '[' && !is_library && !strstr(dso, ".ko");
}

size_t function_name_size(const char *function)
{
	const char *clone = strstr(function, " [clone ");
	size_t size = namesake_suffix(function) - function;
	return clone && (size_t)(clone - function) < size ? (size_t)(clone - function) : size;
}

size_t unfiled_name_size(const char *function)
{
	const char *file = NULL;
	for (const char *at = function; (at = strstr(at, " [")); at++)
		file = at;
	return file ? (size_t)(file - function) : strlen(function);
}
