/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "analysis/parents.h"

#include <stdlib.h>
#include "base/error.h"

struct sp_error *parents_init(struct parents *parents, const char *pattern)
{
	char why[128];
	int failed = regcomp(&parents->regex, pattern ? pattern : "^sys_|^do_page_fault",
			     REG_EXTENDED | REG_NOSUB);
	parents->compiled = !failed;
	if (!failed)
		return NULL;
	if (failed == REG_ESPACE)
		return error_no_memory();
	regerror(failed, &parents->regex, why, sizeof(why));
	return error_new(SP_ERROR_INVALID, "'%s' is no regular expression: %s", pattern, why);
}

void parents_deinit(struct parents *parents)
{
	if (parents->compiled)
		regfree(&parents->regex);
	free(parents->is);
	*parents = (struct parents){0};
}

struct sp_error *parents_find(struct parents *parents, const struct labels *labels)
{
	parents->is = calloc(labels->sides.count + 1, sizeof(*parents->is));
	if (!parents->is)
		return error_no_memory();
	for (size_t i = 0; i < labels->sides.count; i++) {
		uint32_t index = labels->sides.items[i].symbol;
		if (index == UINT32_MAX)
			continue;
		const struct function *function = &labels->functions->items[index];
		parents->is[i] = function->known &&
				 !regexec(&parents->regex, function->symbol, 0, NULL, 0);
	}
	return NULL;
}
