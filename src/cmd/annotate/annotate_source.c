/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "cmd/annotate/annotate.h"
#include "memory.h"

/* Divides the text of a file into lines. */
static void split(struct annotate_source *source)
{
	size_t count = 1;
	for (const char *at = source->text; (at = strchr(at, '\n')); at++)
		count++;
	source->lines = xcalloc(count, sizeof(*source->lines));
	char *rest = source->text;
	while (source->line_count < count) {
		source->lines[source->line_count++] = rest;
		rest += strcspn(rest, "\n");
		if (*rest)
			*rest++ = '\0';
	}
}

static struct annotate_source *find(struct annotate_sources *sources, const char *path)
{
	for (size_t i = 0; i < sources->count; i++)
		if (!strcmp(sources->items[i].path, path))
			return &sources->items[i];
	if (sources->count == SOURCE_FILES_MAX)
		return NULL;
	struct annotate_source *source = list_push(sources);
	*source = (struct annotate_source){.path = path};
	char real[PATH_MAX];
	/* source_read() follows no links. */
	if (realpath(path, real))
		source->text = source_read(&sources->roots, real);
	if (source->text)
		split(source);
	return source;
}

const char *annotate_source_line(struct annotate_sources *sources, const char *path, uint32_t line)
{
	const struct annotate_source *source = find(sources, path);
	return source && line && line <= source->line_count ? source->lines[line - 1] : NULL;
}
