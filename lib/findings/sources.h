/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions that add the findings of one kind to an analysis with totals. False when out of memory. */
#ifndef FINDINGS_SOURCES_H
#define FINDINGS_SOURCES_H

#include "findings/finding.h"

/* Findings on damage and on samples of unknown events. */
bool find_damage(const struct analysis_view *view);

/* Findings on lost and throttled samples. */
bool find_losses(const struct analysis_view *view);
bool find_throttling(const struct analysis_view *view);

/* Findings on samples without a symbol, by file. */
bool find_symbols(const struct analysis_view *view);

/* Findings on calls of Python's interpreter without their Python function. */
bool find_missing_python(const struct analysis_view *view);

/* Note on names that the recording stores. */
bool find_stored_names(const struct analysis_view *view);

/* Findings on truncated stacks, by module, and on incomplete stacks, by event. */
bool find_stacks_by_module(const struct analysis_view *view);
bool find_truncation(const struct analysis_view *view);

/* Findings on threads and processes without a sample, by program. */
bool find_unsampled(const struct analysis_view *view);

/* Findings on events that sample in step with timers. */
bool find_lock_in(const struct analysis_view *view);

/* Findings on clock samples that were taken after the code that they are of. */
bool find_late_samples(const struct analysis_view *view);

/* Findings on multiplexed counters, and on samples without branches. */
bool find_multiplexing(const struct analysis_view *view);
bool find_branchless(const struct analysis_view *view);

/* Findings on unfinished recordings, and notes of the recorder and the analysis. */
bool find_unfinished(const struct analysis_view *view);
bool find_notes(const struct analysis_view *view);

#endif
