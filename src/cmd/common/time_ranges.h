/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ranges of --time: parsed with the options, and converted to a recording's clock when the
 * recording is open. A moment is in seconds of the recording's clock, in seconds after the first
 * sample, a time of day in the local time zone, or the end's distance from the begin.
 */
#ifndef CMD_COMMON_TIME_RANGES_H
#define CMD_COMMON_TIME_RANGES_H

#include <sprof/filter.h>
#include <sprof/reader.h>
#include <stdbool.h>

enum moment_kind {
	MOMENT_CLOCK,  /* "SECONDS" */
	MOMENT_OFFSET, /* "+SECONDS" */
	MOMENT_WALL,   /* "[YYYY-MM-DDT]HH:MM[:SECONDS]" */
	MOMENT_LENGTH, /* "+NUMBER UNIT"; only an end */
};

struct range_time {
	enum moment_kind kind;
	uint64_t ns; /* MOMENT_WALL: since midnight */
	int year, month, day; /* MOMENT_WALL; 0: the recording's */
};

struct time_range {
	bool percent;
	double from, to; /* percent: parts of the recording's time, 0 to 1 */
	bool has_end;
	struct range_time begin, end; /* the end is inclusive, but for a length */
};

/* Most ranges of one option. */
#define TIME_RANGES 64

struct time_ranges {
	struct time_range items[TIME_RANGES]; /* in the order given */
	size_t count;
};

/* Parses the option's text. Returns false if it is wrong. */
bool time_ranges_parse(struct time_ranges *ranges, const char *text);

/*
 * Converts all ranges to a recording's clock, in ret[]. Prints an error and returns false if they
 * need what the recording lacks, such as the time of day.
 */
bool time_ranges_resolve(const struct time_ranges *ranges, struct sp_reader *reader,
			struct sp_time_span *ret);

#endif
