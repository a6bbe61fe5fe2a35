/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of tracepoints from other features, for files without EVENT_DESC. */
#ifndef READER_RECORDED_NAMES_H
#define READER_RECORDED_NAMES_H

#include <sprof/reader.h>
#include "base/hash.h"
#include "base/vec.h"

/* A zeroed struct is empty. */
struct recorded_names {
	VEC(const char *) names; /* the reader's */
	struct u64map name_of;   /* type and config -> index in names */
};

void recorded_names_deinit(struct recorded_names *names);

/*
 * Reads features TRACING_DATA ("system:name" of each format) and simpleperf's META_INFO. Damaged
 * entries are skipped. False when out of memory.
 */
bool recorded_names_read(struct recorded_names *names, struct sp_reader *reader);

/* NULL: the file has none. */
const char *recorded_names_find(const struct recorded_names *names, uint32_t type, uint64_t config);

#endif
