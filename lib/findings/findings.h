/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Collects the findings of an analysis. */
#ifndef FINDINGS_FINDINGS_H
#define FINDINGS_FINDINGS_H

#include "aggregate/run.h"

/* Adds all findings, after finish_profiles(). */
struct sp_error *finish_findings(struct run *run) SP_MUST_CHECK;

/*
 * Adds a copy of `finding`, with the sentence that the format makes as its `what`. `cause` and
 * `summary` are constants; other texts are copied. False when out of memory.
 */
bool finding_add(struct run *run, const struct sp_finding *finding, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* "1,234", "12.3%" and "1.25 s", into a buffer of FINDING_TEXT bytes; returns it. */
#define FINDING_TEXT 32
const char *count_text(uint64_t count, char *text);
const char *share_text(double share, char *text);
const char *time_text(uint64_t time_ns, char *text);

/* "s", but of 1 "". */
const char *plural(uint64_t count);

/* "-F 999", a quarter of the event's rate, or of a fixed period "-c 4000000". */
const char *lower_rate(const struct perf_event_attr *attr, char *text);

/* The event's name, if the recording has samples of another event; else NULL. */
const char *event_to_name(const struct run *run, const struct sp_profile *profile);

/* Lost and throttled samples. False when out of memory. */
bool find_losses(struct run *run);
bool find_throttling(struct run *run);

/* Whether most of an event's stacks were unwound, by the recorder or here. */
bool was_unwound(const struct run *run, uint16_t event);

/* Counters that took turns; samples without branches. False when out of memory. */
bool find_counting(struct run *run);
bool find_branchless(struct run *run);

/* Threads and processes without a sample, by program. False when out of memory. */
bool find_unsampled(struct run *run);

/* Samples that have no name, by what stands in the way. False when out of memory. */
bool find_troubles(struct run *run);

/* Stacks that could not be unwound, by module; and by event those that are incomplete. */
bool find_stack_troubles(struct run *run);
bool find_truncation(struct run *run);

/*
 * How many bytes of each stack would have held nearly all of them whole; 0: not known, since too
 * many are `truncated`, however far.
 */
uint32_t stack_size_enough(const struct run *run, uint64_t truncated);

#endif
