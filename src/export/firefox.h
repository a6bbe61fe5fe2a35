/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processed profile of the Firefox Profiler (profiler.firefox.com), format version 66: newer versions of
 * the profiler convert older files, and refuse newer ones. Each thread's samples refer to one table of
 * stacks, which are the nodes of the call tree. Times are in ms since the first sample.
 */
#ifndef EXPORT_FIREFOX_H
#define EXPORT_FIREFOX_H

#include "export/firefox_tables.h"
#include "json.h"
#include "out/report.h"

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

/* Returns false when out of memory. */
bool firefox_write_meta(struct firefox *firefox);

#endif
