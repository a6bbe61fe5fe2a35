/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Adds findings of an analysis, and states facts of an event that several kinds of findings need. */
#pragma once

#include "findings/finding_text.h"
#include "findings/findings.h"

/*
 * Adds a copy of `finding`; the format makes its sentence `what`. `cause` and `summary` must be
 * constants; other texts are copied. When out of memory, findings_find() fails.
 */
void finding_add(const struct analysis_view *view, const struct sp_finding *finding,
		 const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Returns `done`. If it is false, memory ran out, and findings_find() fails. */
static inline bool finding_need(const struct analysis_view *view, bool done)
{
	view->analysis->lacks_findings |= !done;
	return done;
}

/*
 * Returns the module's name, which is the runtime's for generated code, so that findings of processes
 * with the same runtime are one. The analysis owns it. NULL when out of memory: findings_find()
 * fails.
 */
const char *finding_module_name(const struct analysis_view *view, const struct module *module);

/*
 * Returns a runtime's remedy, or its second part, after ", or ", if the recorder's command has the
 * first one's options already. NULL: none is left, or `remedy` is NULL.
 */
const char *finding_runtime_remedy(const struct analysis_view *view, const char *remedy);

/*
 * Writes options for a lower rate: "-F 999", a quarter of the event's rate, or "-c 4000000" for a fixed
 * period.
 */
const char *lower_rate_options(const struct perf_event_attr *attr, char *text);

/*
 * Writes record's option for larger ring buffers, FINDING_TEXT bytes. False: they are large, or
 * larger ones may not be permitted.
 */
bool larger_rings_option(const struct analysis_view *view, char *text);

/*
 * Returns the event's name if a finding must name it, because other events have samples or recordings
 * are summed; else NULL.
 */
const char *event_name_if_needed(const struct analysis_view *view,
				 const struct sp_profile *profile);

/*
 * Returns whether most of the event's stacks were unwound from stack copies, by the recorder or by
 * this analysis.
 */
bool was_unwound(const struct analysis_view *view, uint16_t event);

/* Returns whether some stack has a function with this beginning of its name. */
bool has_function(const struct analysis_view *view, const char *name);

/* Returns whether the recording has stacks of a Go program: compilers' options do not help them. */
bool runtime_is_go(const struct analysis_view *view);
