/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Result of one event, summed over all workers and recordings: the input for its profile. */
#pragma once

#include "profile/cells.h"
#include "profile/detail.h"
#include "profile/group.h"
#include "profile/interval.h"
#include "profile/paths.h"
#include "profile/ratio.h"
#include "profile/tally.h"
#include "rows/unsampled.h"

/* One event's sums. Texts belong to the analysis. */
struct merged_event {
	struct tallies tallies;   /* sums for each group and function: the rows */
	struct groups groups;     /* groups of the rows */
	struct details details;   /* values of the groups */
	VEC(struct replicate_sums) replicates; /* index: row; empty unless ratios are requested */
	struct paths paths;       /* call trees */
	VEC(const char *) texts;  /* texts of the paths */
	struct u64map text_of;    /* a text's address -> index in texts */
	struct weight_sums all, shown; /* samples before filters, and samples that pass them; in a mode of
					* time only on-CPU samples */
	struct weight_sums preempted;  /* in a mode of time: those of preempted threads, all */
	struct state_whole states;     /* in a mode of time; its n_eff is set last */
	struct programs unsampled;
	struct cells cells;       /* samples by thread and node of `paths`, if timelines are made */
	struct timeline_losses losses; /* if timelines are made */
	struct batches whole;     /* whole weight by batch, in one row; empty: not requested, or
				   * unknown */
	uint64_t missing;         /* weight that lost samples and throttling stand for; a part of it may be
				   * missing in each row */
};

/* A zeroed struct merged_event may be released. */
void merged_event_deinit(struct merged_event *event);

/*
 * Returns the index of an interned text in `texts`, and adds it if it is new. Out of memory, or if
 * the text is NULL: sets `paths.failed`, and returns 0.
 */
uint32_t merged_event_text(struct merged_event *event, const char *interned);

/* Adds weights to one replicate of a row. Returns false when out of memory. */
bool merged_event_replicate(struct merged_event *event, uint32_t row, uint8_t replicate,
			 const struct tally *tally);
