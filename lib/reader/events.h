/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Adds events to an open recording's list, and names them. */
#ifndef READER_EVENTS_H
#define READER_EVENTS_H

#include <sprof/reader.h>
#include "base/error.h"

#define EVENTS_MAX 32768

/* Adds a copy of *event. Its ids and name must be in the reader's arena. */
struct sp_error *events_add(struct sp_reader *reader, const struct sp_event *event) SP_MUST_CHECK;

/* Names events that have no name yet. Call it after the features have been read. */
struct sp_error *events_name(struct sp_reader *reader) SP_MUST_CHECK;

#endif
