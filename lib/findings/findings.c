/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "findings/findings.h"

#include <stdlib.h>
#include <string.h>
#include "base/ctx.h"
#include "findings/sources.h"

const struct finding_source finding_sources[] = {
	{"damage", find_damage},
	{"losses", find_losses},
	{"throttling", find_throttling},
	{"symbols", find_symbols},
	{"stacks by module", find_stacks_by_module},
	{"truncated stacks", find_truncation},
	{"tasks without samples", find_unsampled},
	{"lock-in", find_lock_in},
	{"samples without branches", find_branchless},
	{"counting", find_counting},
	{"unfinished recording", find_unfinished, .in_order = true},
	{"notes", find_notes, .in_order = true},
};
const size_t finding_source_count = sizeof(finding_sources) / sizeof(*finding_sources);

static int compare_findings(const void *a, const void *b)
{
	const struct sp_finding *x = a, *y = b;
	if (x->kind != y->kind)
		return (int)x->kind - (int)y->kind;
	if (x->share != y->share)
		return x->share > y->share ? -1 : 1;
	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	return strcmp(x->what, y->what);
}

struct sp_error *findings_find(struct run *run)
{
	size_t sorted = 0;
	for (size_t i = 0; i < finding_source_count; i++) {
		const struct finding_source *source = &finding_sources[i];
		size_t before = run->analysis->findings.count;
		if (!source->find(run))
			return error_no_memory();
		ctx_log(run->ctx, SP_LOG_DEBUG, "findings: %s: %zu", source->name,
			run->analysis->findings.count - before);
		if (!source->in_order)
			sorted = run->analysis->findings.count;
	}
	if (sorted)
		qsort(run->analysis->findings.items, sorted, sizeof(struct sp_finding),
		      compare_findings);
	return NULL;
}
