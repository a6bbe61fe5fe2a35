/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the header and the events of a perf.data file. Streams have no such header. */
#ifndef READER_HEADER_H
#define READER_HEADER_H

#include "base/error.h"
#include "reader/header_info.h"

struct sp_reader;

/*
 * Reads the header, and finds the end of the data if the header does not state it. Fails if the header
 * is unreadable.
 */
struct sp_error *header_read(struct sp_reader *reader, struct header_info *ret) SP_MUST_CHECK;

/* Adds the events that the header lists. Fails with SP_ERROR_FORMAT if they are damaged. */
struct sp_error *header_read_events(struct sp_reader *reader, const struct header_info *header)
	SP_MUST_CHECK;

#endif
