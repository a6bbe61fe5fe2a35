/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sources of findings: each adds those of its subject to an analysis that has its profiles. False
 * when out of memory.
 */
#ifndef FINDINGS_SOURCES_H
#define FINDINGS_SOURCES_H

#include "findings/finding.h"

/* Damage, and samples of unknown events. */
bool find_damage(struct run *run);

/* Lost and throttled samples. */
bool find_losses(struct run *run);
bool find_throttling(struct run *run);

/* Samples without a symbol, by the file that lacks it. */
bool find_symbols(struct run *run);

/* Stacks that could not be unwound, by module; and by event those that are incomplete. */
bool find_stacks_by_module(struct run *run);
bool find_truncation(struct run *run);

/* Threads and processes without a sample, by program. */
bool find_unsampled(struct run *run);

/* Events that sample in step with timers. */
bool find_lock_in(struct run *run);

/* Multiplexed counters; samples without branches. */
bool find_counting(struct run *run);
bool find_branchless(struct run *run);

/* An unfinished recording, and the notes of recorder and analysis. */
bool find_unfinished(struct run *run);
bool find_notes(struct run *run);

#endif
