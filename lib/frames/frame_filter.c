/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "frames/frame_filter.h"

#include <stdio.h>
#include <string.h>
#include "base/cleanup.h"
#include "frames/generated.h"
#include "frames/shown_names.h"
#include "profile/filter.h"

/* Returns whether `part`, with a '/', is the end of the path: the part of it that may be shown. */
static bool is_end_of_path(const char *path, const char *part)
{
	size_t size = strlen(path), part_size = strlen(part);
	return strchr(part, '/') && part_size < size && path[size - part_size - 1] == '/' &&
	       !strcmp(path + size - part_size, part);
}

bool frame_passes_dso(const struct names *names, const struct frame *frame)
{
	const char *dso = frame_dso(frame);
	const char *path = frame->module ? frame->module->path : dso;
	const char *name = frame->module ? frame->module->name : dso;
	const struct sp_string_list *dsos = &names->options->filter.dsos;
	vec_each (item, dsos)
		if (is_end_of_path(path, *item))
			return true;
	return filter_pattern(dsos->items, dsos->count, dso) ||
	       filter_pattern(dsos->items, dsos->count, path) ||
	       (name != dso && filter_pattern(dsos->items, dsos->count, name));
}

/* Returns whether the name of generated code passes the filter. Its symbol may pass, too. */
static bool generated_passes(const struct names *names, const struct frame *frame)
{
	const struct sp_string_list *wanted = &names->options->filter.symbols;
	if (!wanted->count || !generated_has(frame))
		return false;
	CLEANUP_FREE char *name = generated_name(names->locked.machine, frame);
	return name && filter_symbol(wanted->items, wanted->count, name, NULL);
}

bool function_passes(const struct analysis_options *options, const struct named *named)
{
	const struct sp_string_list *wanted = &options->filter.symbols;
	vec_each (item, wanted)
		if ((named->raw && !strcmp(named->raw, *item)) || shown_name_is(named, *item))
			return true;
	return false;
}

bool frame_passes_symbol(const struct names *names, const struct frame *frame)
{
	const struct analysis_options *options = names->options;
	const struct symbol *symbol = frame->symbol;
	char address[32];
	if (!options->filter.symbols.count || generated_passes(names, frame))
		return true;
	if (symbol)
		return function_passes(options, &(const struct named){
							.dso = frame_dso(frame),
							.name = symbol->name,
							.raw = symbol->raw_name,
							.file = symbol->object,
							.start = symbol->start,
						});
	snprintf(address, sizeof(address), "0x%llx", (unsigned long long)frame->address);
	return filter_name(options->filter.symbols.items, options->filter.symbols.count, address);
}
