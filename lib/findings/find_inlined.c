/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Remark on code made at run time. Compilers for Node.js and Java put callees into their callers,
 * and neither perf maps nor jitdumps list them: their time is in their callers' rows.
 */
#include <stdio.h>
#include <string.h>
#include "findings/sources.h"
#include "frames/generated.h"
#include "machine/modules.h"
#include "rows/resolve_chains.h"

/* Least share of an event's weight for a finding. */
#define SHARE_LEAST 0.1

/* Returns the runtime of the frame's code if its compiler may have inlined calls; NULL: none. */
static const struct runtime *inlining_runtime(const struct analysis_view *view,
					      const struct frame *frame)
{
	if (!generated_has(frame) || !symbol_is_named(frame->symbol) ||
	    !generated_may_inline(frame->symbol->name))
		return NULL;
	const struct runtime *runtime =
		machine_runtime(view->read->machine, frame->module->pid);
	return runtime && runtime->callees ? runtime : NULL;
}

/* Returns whether the recorder's command has the option of the remedy, which is its last word. */
static bool is_followed(const struct analysis_view *view, const char *remedy)
{
	const char *option = strrchr(remedy, ' ') + 1;
	const char *const *word = sp_reader_info(view->read->reader)->cmdline;
	while (word && *word && strcmp(*word, option) != 0)
		word++;
	return word && *word;
}

static void find_in_event(const struct analysis_view *view, uint16_t event)
{
	const struct runtime *most = NULL;
	double all = 0, inlined = 0;
	uint64_t samples = 0;
	char share[FINDING_TEXT], remedy[120];
	for (struct worker_leaf at = {0}; workers_next_leaf(view->workers, &at);) {
		if (resolved_event(&at.worker->resolved, at.leaf) != event)
			continue;
		all += (double)at.leaf->weight;
		const struct runtime *runtime = inlining_runtime(
			view, &view->names->frames.items[answer_frame(at.leaf->answer)]);
		/* Several runtimes in one recording are rare: the first one names the remedy. */
		most = most ?: runtime;
		if (!runtime || runtime != most)
			continue;
		inlined += (double)at.leaf->weight;
		samples += at.leaf->samples;
	}
	if (!most || inlined < SHARE_LEAST * all || is_followed(view, most->callees))
		return;
	snprintf(remedy, sizeof(remedy), "to see these callees, %s (slower)",
		 most->callees);
	const struct sp_finding finding = {
		.kind = SP_FINDING_NOTE, .cause = "inlined", .object = most->name,
		.event = view->recording->totals[event].event, .samples = samples,
		.share = inlined / all, .remedy = remedy,
		.summary = "of self may be of inlined callees",
	};
	finding_add(view, &finding, "%s %s: %s", share_text(finding.share, share), finding.summary,
		    most->name);
}

void find_inlined(const struct analysis_view *view)
{
	const bool *keys = view->work->keys->rows;
	if (!keys[SP_KEY_FUNCTION] && !keys[SP_KEY_SYMBOL])
		return;
	for (uint16_t event = 0; event < view->recording->event_count; event++)
		if (view->work->times->roles[event] != ROLE_NONE)
			find_in_event(view, event);
}
