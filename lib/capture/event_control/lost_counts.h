/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Losses that LOST records do not report right. The kernel reports a loss with the next record that
 * has room, so the last losses have no record. A LOST record counts all records of its ring buffer:
 * helpers' samples and SWITCH records, too. Since Linux 6.0 each event counts its own lost samples.
 * At a file's end, as in perf, LOST_SAMPLES records without a time have these counts, and replace
 * the sum of LOST records.
 */
#pragma once

#include <sprof/reader.h>
#include "base/error.h"
#include "record/encode.h"

/* Zeroed: nothing is lost. Numbers are sums over all files, except `unreported`. */
struct losses {
	uint64_t at_end;       /* samples beyond those in LOST records */
	uint64_t not_counting; /* helpers' samples and context switches in LOST records */
	uint64_t unreported;   /* records in the last file, beyond those in LOST records */
	uint64_t reported;     /* records in LOST records */
	uint64_t *of_events; /* counts of events where the last file ended; owned */
};

/* Lost records by phase, as sums since the recording began. */
struct loss_phases {
	uint64_t attached; /* until the end of the first round: while events were enabled */
	uint64_t stopped;  /* until the recording was stopped */
	uint64_t ended;    /* until the last samples were read */
	bool has_attached;
};

/* Counts since the recording began. All pointers are borrowed. */
struct loss_counts {
	const struct sp_event *events; /* the planned events */
	size_t count;
	const uint64_t *of_events; /* lost samples of each event; NULL: not counted */
	uint64_t reported;             /* in LOST records */
};

void losses_deinit(struct losses *losses);

/*
 * Ends a file: adds what was lost since the last one, and appends records that correct its LOST
 * records. The number of events is always the same. Fails only when out of memory.
 */
struct sp_error *losses_end_file(struct losses *losses, const struct loss_counts *counts,
				 struct record_buffer *records) SP_MUST_CHECK;
