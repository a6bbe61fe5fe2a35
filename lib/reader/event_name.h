/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of events by their attrs, for recordings without feature EVENT_DESC. */
#ifndef READER_EVENT_NAME_H
#define READER_EVENT_NAME_H

#include <sprof/reader.h>
#include "reader/recorded_names.h"

/* Returns the name that perf shows for an attr, in the reader's arena; NULL when out of memory. */
const char *event_name_derive(struct sp_reader *reader, const struct perf_event_attr *attr,
			      const struct recorded_names *names);

/* Size of a PMU's name with its NUL; longer names are cut. */
#define EVENT_PMU_NAME 65

/* Finds the name of the PMU with a number. Returns false if the recording has none. */
bool event_pmu_name(const struct sp_reader *reader, uint32_t wanted, char name[EVENT_PMU_NAME]);

#endif
