/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counts samples that contain values of a group's counters (PERF_SAMPLE_READ). */
#ifndef SAMPLES_COUNTERS_H
#define SAMPLES_COUNTERS_H

#include "samples/counted.h"

/* Adds the increase of each counter of the sample's group to the counter's event. */
struct sp_error *count_counters(struct counted *counted,
				       const struct sp_record *record) SP_MUST_CHECK;

#endif
