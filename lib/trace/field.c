/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "trace/field.h"

#include <stdio.h>
#include <string.h>

/* A field is "field:TYPE NAME;	offset:N;	size:N;". */
struct trace_field trace_field_find(const char *format, const char *name)
{
	struct trace_field field = {0};
	char wanted[32];
	snprintf(wanted, sizeof(wanted), " %s;", name);
	const char *at = strstr(format, wanted);
	if (!at || sscanf(at + strlen(wanted), " offset:%u; size:%u;", &field.offset, &field.size) != 2 ||
	    (field.size != 1 && field.size != 4 && field.size != 8 && field.size != 16))
		return (struct trace_field){0};
	return field;
}
