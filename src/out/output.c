/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "out/output.h"

#include <fnmatch.h>
#include <string.h>
#include <strings.h>
#include "text.h"

/* Output formats; the first is the default. A new one needs a file in out/ and a line here. */
const struct output_format *const outputs[] = {
	&output_text,
	&output_json,
	&output_csv,
	&output_folded,
	&output_pprof,
	&output_speedscope,
	&output_callgrind,
	&output_firefox,
	&output_html,
	NULL,
};

const struct output_format *output_find(const char *name)
{
	for (const struct output_format *const *output = outputs; *output; output++)
		if (!strcmp((*output)->name, name))
			return *output;
	return NULL;
}

const struct output_format *output_find_file(const char *path)
{
	const struct output_format *found = NULL;
	const char *name = text_base_name(path);
	size_t longest = 0;
	for (const struct output_format *const *output = outputs; *output; output++)
		for (const char *const *file = (*output)->files; *file; file++)
			if (strlen(*file) > longest && !fnmatch(*file, name, FNM_CASEFOLD)) {
				longest = strlen(*file);
				found = *output;
			}
	return found;
}

bool output_is_picture(const char *path)
{
	static const char *const endings[] = {".svg", ".png", ".pdf", ".jpg", ".jpeg", ".gif"};
	const char *dot = strrchr(path, '.');
	for (size_t i = 0; dot && i < sizeof(endings) / sizeof(*endings); i++)
		if (!strcasecmp(dot, endings[i]))
			return true;
	return false;
}
