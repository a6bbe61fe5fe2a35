/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of tracepoints that other features have, for recordings without feature EVENT_DESC. */
#ifndef READER_RECORDED_NAMES_H
#define READER_RECORDED_NAMES_H

#include <sprof/reader.h>
#include "base/hash.h"
#include "base/vec.h"

/* A zeroed struct has no names. */
struct recorded_names {
	VEC(const char *) names; /* names, in the reader's arena */
	struct u64map name_of;   /* type and config -> index in names */
};

void recorded_names_deinit(struct recorded_names *names);

/*
 * Reads feature TRACING_DATA (the name of each tracepoint's format) and simpleperf's META_INFO. Skips
 * damaged entries. Returns false when out of memory.
 */
bool recorded_names_read(struct recorded_names *names, struct sp_reader *reader);

/* Returns the name of an event, or NULL if the recording has none. */
const char *recorded_names_find(const struct recorded_names *names, uint32_t type, uint64_t config);

#endif
