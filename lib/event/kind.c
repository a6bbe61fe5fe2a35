/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "event/kind.h"

/* Offset of the modifiers after the last ':' or '/'; the size if there are none. */
static size_t modifiers_at(const char *name, size_t size)
{
	size_t at = size;
	while (at && strchr("ukhGHIpPSDeWb", name[at - 1]))
		at--;
	return at && (name[at - 1] == ':' || name[at - 1] == '/') ? at : size;
}

const char *event_name_with_mode(struct arena *arena, const char *name, char mode)
{
	size_t size = strlen(name), at = modifiers_at(name, size), used = at;
	bool has_place = at && strchr(":/", name[at - 1]);
	char *changed = arena_alloc(arena, size + 3);
	if (!changed)
		return NULL;
	memcpy(changed, name, size + 1);
	if (!has_place && strchr(name, ':'))
		return changed; /* tracepoints and other events without modifiers in the name */
	if (!has_place)
		changed[used++] = ':';
	changed[used++] = mode;
	for (const char *p = name + at; *p; p++)
		if (!strchr("ukh", *p))
			changed[used++] = *p;
	changed[used] = 0;
	return changed;
}
