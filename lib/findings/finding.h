/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One finding of an analysis, and the facts of an event that several sources of findings need. */
#ifndef FINDINGS_FINDING_H
#define FINDINGS_FINDING_H

#include "aggregate/run.h"
#include "findings/text.h"

/*
 * Adds a copy of `finding`, with the sentence that the format makes as its `what`. `cause` and
 * `summary` are constants; other texts are copied. False when out of memory.
 */
bool finding_add(struct run *run, const struct sp_finding *finding, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* "-F 999", a quarter of the event's rate, or of a fixed period "-c 4000000". */
const char *lower_rate(const struct perf_event_attr *attr, char *text);

/*
 * The event's name, if the recording has samples of another event, or is summed with recordings that
 * may; else NULL.
 */
const char *event_to_name(const struct run *run, const struct sp_profile *profile);

/* Whether most of an event's stacks were unwound, by the recorder or here. */
bool was_unwound(const struct run *run, uint16_t event);

#endif
