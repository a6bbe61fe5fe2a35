/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Collecting the findings of an analysis: findings.c says what, trouble.c of names. */
#ifndef ANALYSIS_FINDINGS_H
#define ANALYSIS_FINDINGS_H

#include "analysis/internal.h"

/* Adds one; false when out of memory. `remedy` may be NULL; texts are copied. */
bool finding_add(struct run *run, enum sp_finding_kind kind, uint64_t samples, double share,
		 const char *remedy, const char *format, ...)
	__attribute__((format(printf, 6, 7)));

/* "1,234", "12.3%" and "1.25 s", into a buffer of FINDING_TEXT bytes; returns it. */
#define FINDING_TEXT 32
const char *count_text(uint64_t count, char *text);
const char *share_text(double share, char *text);
const char *time_text(uint64_t time_ns, char *text);

/* "s", but of 1 "". */
const char *plural(uint64_t count);

/* Counters that took turns; samples without branches. False when out of memory. */
bool find_counting(struct run *run);
bool find_branchless(struct run *run);

/*
 * Threads and processes without a sample, by program: sum_unsampled() fills in the profile's list,
 * its missing weight, and the source's part of it that rows may lack, before rows are made.
 * False when out of memory.
 */
bool sum_unsampled(struct run *run, uint16_t event, struct profile_source *source);
bool find_unsampled(struct run *run);

/* Samples that have no name, by what stands in the way. False when out of memory. */
bool find_troubles(struct run *run);

/* Remedy for stacks that end in code without unwind information: often its file is missing. */
const char *no_unwind_info_remedy(const struct run *run);

/* What kept stacks from being unwound. False when out of memory. */
bool find_stack_troubles(struct run *run);

/*
 * How many bytes of each stack would have held nearly all of them whole; 0: not known, since too
 * many are `truncated`, however far.
 */
uint32_t stack_size_enough(const struct run *run, uint64_t truncated);

#endif
