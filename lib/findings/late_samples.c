/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Findings about clock events in the kernel. A timer's interrupt cannot come while interrupts are
 * disabled: the sample of such code is taken in the function that enables them again.
 */
#include <string.h>
#include "findings/sources.h"
#include "reader/event_name.h"
#include "record/types.h"
#include "rows/resolve_chains.h"

/* Least share of the weight for a finding. */
#define SHARE_LEAST 0.05

/* Kernel functions that enable interrupts, and are short themselves. */
static bool enables_interrupts(const struct frame *frame)
{
	static const char *const functions[] = {
		"_raw_spin_unlock_irq", "_raw_spin_unlock_irqrestore", "finish_task_switch",
		"raw_spin_rq_unlock_irq",
	};
	if (frame->cpumode != PERF_RECORD_MISC_KERNEL || !symbol_is_named(frame->symbol))
		return false;
	for (size_t i = 0; i < count_of(functions); i++)
		if (name_is_function(frame->symbol->name, functions[i]))
			return true;
	return false;
}

/* Returns the share of the weight of samples that may be of other code. */
static double late_share(const struct analysis_view *view, uint16_t event, uint64_t *samples_ret)
{
	double all = 0, late = 0;
	for (struct worker_leaf at = {0}; workers_next_leaf(view->workers, &at);) {
		if (resolved_event(&at.worker->resolved, at.leaf) != event)
			continue;
		all += (double)at.leaf->weight;
		size_t frame = answer_frame(at.leaf->answer);
		if (!enables_interrupts(&view->names->frames.items[frame]))
			continue;
		late += (double)at.leaf->weight;
		*samples_ret += at.leaf->samples;
	}
	return all > 0 ? late / all : 0;
}

/*
 * Returns whether the recorded machine has a PMU, by its list; true if that is unknown. Counters of
 * x86 interrupt by NMI; a virtual machine may have none.
 */
static bool may_have_pmu(const struct analysis_view *view)
{
	const struct sp_file_info *info = sp_reader_info(view->read->reader);
	char name[EVENT_PMU_NAME];
	bool lists_pmus = event_pmu_name(view->read->reader, PERF_TYPE_SOFTWARE, name);
	return !info->arch || strcmp(info->arch, "x86_64") != 0 || !lists_pmus ||
	       event_pmu_name(view->read->reader, PERF_TYPE_RAW, name);
}

void find_late_samples(const struct analysis_view *view)
{
	const bool has_pmu = may_have_pmu(view);
	/* Rows of waits have no samples of the clock. */
	if (view->work->times->weigher == &weigher_off_cpu)
		return;
	for (uint16_t event = 0; event < view->recording->event_count; event++) {
		const struct perf_event_attr *attr = view_attr(view, event);
		const char *name = view->recording->totals[event].event;
		char text[FINDING_TEXT];
		uint64_t samples = 0;
		if (view->work->times->roles[event] == ROLE_NONE ||
		    !record_is_clock(attr->type, attr->config))
			continue;
		const double share = late_share(view, event, &samples);
		const struct sp_finding finding = {
			.kind = SP_FINDING_LATE,
			.cause = "late",
			.event = name,
			.samples = samples,
			.share = share,
			.remedy = has_pmu ? "record with -e cycles" : NULL,
		};
		/* One line of 80 columns. */
		if (share >= SHARE_LEAST)
			finding_add(view, &finding, "%s of %s: interrupts were off; it is counted "
				    "where they are on again", share_text(share, text), name);
	}
}
