/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report's line about time: the recording's span, and samples over time. */
#ifndef OUT_TIMELINE_H
#define OUT_TIMELINE_H

#include <sprof/sprof.h>
#include <stdio.h>

struct report;

struct timeline {
	uint64_t first_ns, last_ns;       /* first and last sample of all events */
	const struct sp_time_bins *bins;  /* one for each shown event */
	size_t bins_count;
	const struct sp_time_span *times; /* --time; none: the whole recording */
	size_t time_count;
};

/* Nothing if report->timeline is NULL or its span is too short to be a curve. */
void timeline_write(const struct report *report, FILE *out);

#endif
