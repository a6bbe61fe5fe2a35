/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of events by their attrs, for recordings without feature EVENT_DESC. */
#pragma once

#include <sprof/reader.h>
#include "base/error.h"

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
