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
	{"stored names", find_stored_names},
	{"Python functions", find_missing_python},
	{"stacks by module", find_stacks_by_module},
	{"truncated stacks", find_truncation},
	{"tasks without samples", find_unsampled},
	{"lock-in", find_lock_in},
	{"late samples", find_late_samples},
	{"preempted threads", find_preempted},
	{"inlined callees", find_inlined},
	{"samples without branches", find_branchless},
	{"counting", find_multiplexing},
	{"unfinished recording", find_unfinished, .in_order = true},
	{"notes", find_notes, .in_order = true},
};
const size_t finding_source_count = count_of(finding_sources);

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

struct sp_error *findings_find(const struct analysis_view *view)
{
	struct sp_analysis *analysis = view->analysis;
	for (size_t i = 0; i < finding_source_count; i++) {
		const struct finding_source *source = &finding_sources[i];
		size_t before = analysis->findings.count;
		source->find(view);
		NEED(!analysis->lacks_findings);
		ctx_log(view->work->ctx, SP_LOG_DEBUG, "findings: %s: %zu", source->name,
			analysis->findings.count - before);
		for (size_t j = before; source->in_order && j < analysis->findings.count; j++) {
			struct sp_finding *note = vec_push(&analysis->notes);
			NEED(note);
			*note = analysis->findings.items[j];
		}
		if (source->in_order)
			analysis->findings.count = before;
	}
	return NULL;
}

struct sp_error *findings_order(struct sp_analysis *analysis)
{
	size_t count = analysis->findings.count;
	if (count)
		qsort(analysis->findings.items, count, sizeof(struct sp_finding), compare_findings);
	NEED(vec_reserve(&analysis->findings, count + analysis->notes.count));
	vec_each (note, &analysis->notes)
		*vec_push(&analysis->findings) = *note;
	analysis->notes.count = 0;
	return NULL;
}
