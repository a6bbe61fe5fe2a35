/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Findings about events that sample in step with timers of programs. A recording does not state the
 * kernel's own timer rate (HZ).
 */
#include <sprof/private/words.h>
#include <stdio.h>
#include "findings/sources.h"

void find_lock_in(const struct analysis_view *view)
{
	char text[SP_WORDS_SIZE], remedy[FINDING_TEXT];
	for (uint16_t event = 0; event < view->recording->event_count; event++) {
		const struct sp_profile *profile = &view->recording->totals[event];
		struct sp_lock_in lock_in;
		if (view->work->times->roles[event] == ROLE_NONE)
			continue;
		const struct perf_event_attr *attr = view_attr(view, event);
		if ((view->read->sideband.dithered && attr->freq) ||
		    !sp_lock_in_find(attr, 0, &lock_in))
			continue;
		sp_lock_in_text(&lock_in, text, sizeof(text));
		snprintf(remedy, sizeof(remedy), "record with -F %llu",
			 (unsigned long long)lock_in.free_hz);
		const struct sp_finding finding = {
			.kind = SP_FINDING_LOCK_IN, .cause = "lock_in", .event = profile->event,
			.remedy = remedy,
		};
		finding_add(view, &finding, "%s: %s; errors may exceed the intervals",
			    profile->event, text);
	}
}
