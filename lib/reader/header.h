/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Header and events of a file (not of a stream). */
#ifndef READER_HEADER_H
#define READER_HEADER_H

#include "base/error.h"
#include "reader/header_info.h"

struct sp_reader;

/* Fails without a readable header. If it does not say where the data ends, finds the end. */
struct sp_error *header_read(struct sp_reader *reader, struct header_info *ret) SP_MUST_CHECK;

/* Adds the events that the header lists. Fails with SP_ERROR_FORMAT if they are damaged. */
struct sp_error *header_read_events(struct sp_reader *reader, const struct header_info *header)
	SP_MUST_CHECK;

#endif
