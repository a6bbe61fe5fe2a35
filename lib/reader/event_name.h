/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of events by their attrs, for recordings without feature EVENT_DESC. */
#ifndef READER_EVENT_NAME_H
#define READER_EVENT_NAME_H

#include <sprof/reader.h>
#include "base/error.h"
#include "base/hash.h"
#include "base/vec.h"

/* Names of tracepoints that other features have, for recordings without feature EVENT_DESC. */

/* A zeroed struct has no names. */
struct recorded_names {
	VEC(const char *) names; /* names, in the reader's arena */
	struct u64map name_of;   /* type and config -> index in names */
};

void recorded_names_deinit(struct recorded_names *names);

/*
 * Reads feature TRACING_DATA (the name of each tracepoint's format) and simpleperf's META_INFO.
 * Skips damaged entries. Returns false when out of memory.
 */
bool recorded_names_read(struct recorded_names *names, struct sp_reader *reader);

/* Returns the name that perf shows for an attr, in the reader's arena; NULL when out of memory. */
const char *event_name_derive(struct sp_reader *reader, const struct perf_event_attr *attr,
			      const struct recorded_names *names);

/* Size of a PMU's name with its NUL; longer names are cut. */
#define EVENT_PMU_NAME 65

/* Finds the name of the PMU with a number. Returns false if the recording has none. */
bool event_pmu_name(const struct sp_reader *reader, uint32_t wanted, char name[EVENT_PMU_NAME]);

/* Adds events to an open recording's list, and names them. */

#define EVENTS_MAX 32768

/* Adds a copy of *event. Its ids and name must be in the reader's arena. */
struct sp_error *events_add(struct sp_reader *reader, const struct sp_event *event) SP_MUST_CHECK;

/* Names events that have no name yet. Call it after the features have been read. */
struct sp_error *events_name(struct sp_reader *reader) SP_MUST_CHECK;

#endif
