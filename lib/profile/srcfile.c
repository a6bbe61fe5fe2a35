/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Paths are sorted by their last components first, with '/' before all other bytes. Then each path is
 * adjacent to those with which it has the most last components in common.
 */
#include "profile/srcfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"

/* Returns the byte at distance `back` from the end, 0 for '/'. A '/' is assumed before the path. */
static int byte_from_end(const char *path, size_t size, size_t back)
{
	return back >= size || path[size - 1 - back] == '/' ? 0 : (unsigned char)path[size - 1 - back];
}

static int compare_from_end(const void *a, const void *b)
{
	const char *x = *(const char *const *)a, *y = *(const char *const *)b;
	size_t x_size = strlen(x), y_size = strlen(y);
	for (size_t back = 0; back < x_size || back < y_size; back++) {
		int order = byte_from_end(x, x_size, back) - byte_from_end(y, y_size, back);
		if (order)
			return order;
	}
	return x_size < y_size ? -1 : x_size > y_size;
}

/* Returns the number of last components that two paths have in common. */
static size_t common_components(const char *a, const char *b)
{
	size_t a_size = strlen(a), b_size = strlen(b), count = 0;
	for (size_t back = 0; back <= a_size && back <= b_size; back++) {
		int byte = byte_from_end(a, a_size, back);
		if (byte != byte_from_end(b, b_size, back))
			break;
		count += !byte;
	}
	return count;
}

/* Offset of the last `count` components of a path. */
static size_t last_components(const char *path, size_t count)
{
	size_t at = strlen(path);
	while (at && !(path[at - 1] == '/' && !--count))
		at--;
	return at;
}

bool srcfiles_of(struct srcfiles *files, const char **paths, size_t count)
{
	size_t distinct = 0;
	if (count)
		qsort(paths, count, sizeof(*paths), compare_from_end);
	for (size_t i = 0; i < count; i++)
		if (!distinct || paths[i] != paths[distinct - 1])
			paths[distinct++] = paths[i];
	count = distinct;
	for (size_t i = 0; i < count; i++) {
		size_t common = 0;
		if (i)
			common = common_components(paths[i - 1], paths[i]);
		if (i + 1 < count) {
			size_t next = common_components(paths[i], paths[i + 1]);
			common = next > common ? next : common;
		}
		if (!u64map_put(&files->start_of, (uintptr_t)paths[i],
				last_components(paths[i], common + 1), NULL))
			return false;
	}
	return true;
}

bool srcfiles_make(struct srcfiles *files, const struct functions *functions, bool whole)
{
	CLEANUP_FREE const char **paths = calloc(functions->count + 1, sizeof(*paths));
	struct u64map known = {0};
	size_t count = 0;
	bool done = paths != NULL;
	*files = (struct srcfiles){.whole = whole};
	for (size_t i = 0; done && !whole && i < functions->count; i++) {
		bool added = false;
		const char *path = functions->items[i].srcfile;
		if (path)
			done = u64map_put(&known, (uintptr_t)path, 0, &added) != NULL;
		if (added)
			paths[count++] = path;
	}
	u64map_deinit(&known);
	return done && srcfiles_of(files, paths, count);
}

void srcfiles_deinit(struct srcfiles *files)
{
	u64map_deinit(&files->start_of);
}

const char *srcfiles_shown(const struct srcfiles *files, const char *path)
{
	const uint32_t *start = path && !files->whole ?
					u64map_find(&files->start_of, (uintptr_t)path) : NULL;
	return start ? path + *start : path;
}

const char *srcfiles_line(const struct srcfiles *files, const char *path, uint32_t line,
			  struct arena *arena)
{
	const char *shown = srcfiles_shown(files, path);
	size_t size = shown ? strlen(shown) + 12 : 0;
	if (!shown || !line)
		return NULL;
	char *text = arena_alloc(arena, size);
	if (text)
		snprintf(text, size, "%s:%u", shown, line);
	return text;
}
