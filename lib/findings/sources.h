/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions that add the findings of one kind to an analysis with totals. False when out of memory. */
#ifndef FINDINGS_SOURCES_H
#define FINDINGS_SOURCES_H

#include "findings/finding.h"

/* Findings on damage and on samples of unknown events. */
bool find_damage(struct run *run);

/* Findings on lost and throttled samples. */
bool find_losses(struct run *run);
bool find_throttling(struct run *run);

/* Findings on samples without a symbol, by file. */
bool find_symbols(struct run *run);

/* Note on names that the recording stores. */
bool find_stored_names(struct run *run);

/* Findings on truncated stacks, by module, and on incomplete stacks, by event. */
bool find_stacks_by_module(struct run *run);
bool find_truncation(struct run *run);

/* Findings on threads and processes without a sample, by program. */
bool find_unsampled(struct run *run);

/* Findings on events that sample in step with timers. */
bool find_lock_in(struct run *run);

/* Findings on clock samples that were taken after the code that they are of. */
bool find_late_samples(struct run *run);

/* Findings on multiplexed counters, and on samples without branches. */
bool find_multiplexing(struct run *run);
bool find_branchless(struct run *run);

/* Findings on unfinished recordings, and notes of the recorder and the analysis. */
bool find_unfinished(struct run *run);
bool find_notes(struct run *run);

#endif
