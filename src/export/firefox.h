/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processed profile of the Firefox Profiler (profiler.firefox.com), format version 66: newer versions of
 * the profiler convert older files, and refuse newer ones. Each thread's samples refer to one table of
 * stacks, which are the nodes of the call tree. Times are in ms since the first sample.
 */
#ifndef EXPORT_FIREFOX_H
#define EXPORT_FIREFOX_H

#include <stdbool.h>
#include <sprof/sprof.h>
#include "export/unique.h"
#include "json.h"
#include "out/report.h"

/* Tables of a Firefox profile that all threads share: functions, frames, and what they refer to. */

/* Value of a table's number that is unknown or absent. */
#define FIREFOX_NONE UINT64_MAX

/* The last two are for code of threads that are not on a CPU, in modes of time. */
enum firefox_category { CATEGORY_OTHER, CATEGORY_USER, CATEGORY_KERNEL, CATEGORY_BLOCKED,
			CATEGORY_RUNNABLE };

/*
 * Columns of the tables, in order. Indexes of strings, sources, … are into the table of that name.
 */
enum { SOURCE_NAME, SOURCE_COLUMNS };

enum { LIBRARY_NAME, LIBRARY_COLUMNS };

enum { SYMBOL_LIBRARY, SYMBOL_ADDRESS, SYMBOL_NAME, SYMBOL_COLUMNS };

/* FUNCTION_ADDRESS and FUNCTION_LEVEL only distinguish functions of one name. */
enum { FUNCTION_NAME, FUNCTION_LIBRARY, FUNCTION_SOURCE, FUNCTION_ADDRESS, FUNCTION_LEVEL,
       FUNCTION_COLUMNS };

enum { FRAME_ADDRESS, FRAME_DEPTH, FRAME_CATEGORY, FRAME_FUNCTION, FRAME_SYMBOL, FRAME_LINE,
       FRAME_COLUMNS };

struct firefox_tables {
	struct unique strings, sources, libraries, symbols, functions, frames;
	uint64_t *function_sources; /* source of each function; FIREFOX_NONE: unknown */
	size_t function_source_capacity;
	uint32_t *node_frames; /* frame of each node of the timeline; UNIQUE_NONE for the root */
	enum sp_state
		*node_states; /* state of each node's thread; SP_STATE_NONE: no mode of time */
};

#define NS_PER_MS 1e6

/* Type and name of the markers for losses. */
#define FIREFOX_LOSS "Lost samples"

/* Meaning of the samples' weights. */
enum firefox_weight {
	WEIGHT_NONE,    /* each sample counts as 1 */
	WEIGHT_SAMPLES, /* sums of samples with equal periods */
	WEIGHT_TIME,    /* time in ms; periods differ */
	WEIGHT_EVENTS,  /* number of events; periods differ */
};

/* A thread with samples. */
struct firefox_thread {
	size_t begin, end; /* range in firefox.order */
	uint64_t weight;   /* sum of its cells */
	size_t thread;     /* index in the timeline */
};

struct firefox {
	const struct report *report;
	const struct sp_profile *profile;   /* NULL: the recording has no event */
	const struct sp_timeline *timeline; /* NULL: no samples */
	struct firefox_tables tables;
	uint32_t *order;                /* cells by thread, then by time */
	struct firefox_thread *threads; /* in the timeline's order */
	size_t thread_count;
	size_t busiest;                 /* index in threads; 0: there is none */
	uint32_t loss_name;             /* string of FIREFOX_LOSS */
	enum firefox_weight weight_kind;
	struct json json;
};

/* Writes a number, or `none` instead of FIREFOX_NONE; NAN: null. */
void firefox_put_number(struct json *json, uint64_t number, double none);

/* Writes a column with equal values; NAN: null. */
void firefox_put_constant(struct json *json, const char *key, size_t count, double value);

/* Opens a table of `count` rows. */
void firefox_begin_table(struct json *json, const char *key, size_t count);

/* Returns the time from the first sample to the last one. */
double firefox_duration_ms(const struct firefox *firefox);

void firefox_write_shared(struct firefox *firefox);
void firefox_write_libraries(struct firefox *firefox);

void firefox_write_meta(struct firefox *firefox);

#endif
