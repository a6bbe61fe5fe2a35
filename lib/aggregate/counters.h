/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counts the values of counters that samples have. */
#ifndef AGGREGATE_COUNTERS_H
#define AGGREGATE_COUNTERS_H

#include "aggregate/counted.h"

/* Counts what the counters of a sample's group counted, each for its event. */
struct sp_error *count_counters(struct counted *counted,
				       const struct sp_record *record) SP_MUST_CHECK;

#endif
