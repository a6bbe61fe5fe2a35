/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Line of the report about time: the recording's span and its samples over time. */
#ifndef OUT_TIME_LINE_H
#define OUT_TIME_LINE_H

#include <sprof/sprof.h>
#include <stdio.h>

struct report;

struct timeline {
	uint64_t first_ns, last_ns;       /* first and last sample of all events */
	const struct sp_time_bins *const *bins;  /* samples over time of each shown event */
	size_t bins_count;
	const struct sp_time_span *times; /* spans of --time; none: the whole recording */
	size_t time_count;
};

/* Writes the line; nothing if report->timeline is NULL or its span is too short. */
void timeline_write(const struct report *report, FILE *out);

#endif
