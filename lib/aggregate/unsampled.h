/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads and processes without a sample, and the weight that is missing with them, by program. */
#ifndef AGGREGATE_UNSAMPLED_H
#define AGGREGATE_UNSAMPLED_H

#include "aggregate/run.h"

/*
 * Fills in the profile's list, its missing weight, and the source's part of it that rows may lack,
 * before rows are made. False when out of memory.
 */
bool sum_unsampled(struct run *run, uint16_t event, struct profile_source *source);

#endif
