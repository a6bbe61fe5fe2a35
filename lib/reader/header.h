/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the header and the events of a perf.data file. Streams have no such header. */
#pragma once

#include "base/error.h"
#include "file/file_format.h"

/* Fields of a perf.data file's header that the reader uses. */
struct header_info {
	uint64_t size, attr_size;
	struct file_section attrs, data; /* offsets and sizes; `data` is limited to the file */
	struct feature_bits features;
	bool data_ends_unknown; /* data.size is missing or wrong, so the end of the data was
				   searched */
	bool data_never_ended; /* data.size is missing, because the recorder did not end normally */
};

struct sp_reader;

/*
 * Reads the header, and finds the end of the data if the header does not state it. Fails if the header
 * is unreadable.
 */
struct sp_error *header_read(struct sp_reader *reader, struct header_info *ret) SP_MUST_CHECK;

/* Returns whether header_read() has read a header that a recorder has changed since. */
bool header_has_changed(const struct sp_reader *reader);

/* Adds the events that the header lists. Fails with SP_ERROR_FORMAT if they are damaged. */
struct sp_error *header_read_events(struct sp_reader *reader, const struct header_info *header)
	SP_MUST_CHECK;

/*
 * Table of features after the data. It has an entry {offset, size} for each set feature bit of the
 * header, in ascending order of bits.
 */

/* Adds the payloads that the table lists. */
struct sp_error *feature_table_read(struct sp_reader *reader, const struct header_info *header)
	SP_MUST_CHECK;

/* Fills in the info and the events' names from the payloads that have been added. */
struct sp_error *features_interpret(struct sp_reader *reader) SP_MUST_CHECK;
