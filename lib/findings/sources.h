/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions that add the findings of one kind to an analysis with totals. */
#pragma once

#include "findings/finding.h"

/* Findings on damage and on samples of unknown events. */
void find_damage(const struct analysis_view *view);

/* Findings on lost and throttled samples. */
void find_losses(const struct analysis_view *view);
void find_throttling(const struct analysis_view *view);

/* Findings on samples without a symbol, by file. */
void find_symbols(const struct analysis_view *view);

/* Findings on calls of Python's interpreter without their Python function. */
void find_missing_python(const struct analysis_view *view);

/* Note on names that the recording stores. */
void find_stored_names(const struct analysis_view *view);

/* Findings on truncated stacks, by module, and on incomplete stacks, by event. */
void find_stacks_by_module(const struct analysis_view *view);
void find_truncation(const struct analysis_view *view);

/* Findings on threads and processes without a sample, by program. */
void find_unsampled(const struct analysis_view *view);

/* Findings on events that sample in step with timers. */
void find_lock_in(const struct analysis_view *view);

/* Findings on clock samples that were taken after the code that they are of. */
void find_late_samples(const struct analysis_view *view);

/* Remark on generated code that may include inlined callees. */
void find_inlined(const struct analysis_view *view);

/* Remark on time of preempted threads, which has no stacks of its own. */
void find_preempted(const struct analysis_view *view);

/* Findings on multiplexed counters, and on samples without branches. */
void find_multiplexing(const struct analysis_view *view);
void find_branchless(const struct analysis_view *view);

/* Findings on unfinished recordings, and notes of the recorder and the analysis. */
void find_unfinished(const struct analysis_view *view);
void find_notes(const struct analysis_view *view);
