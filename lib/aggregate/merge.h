/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Merges the workers' results into profiles. */
#ifndef AGGREGATE_MERGE_H
#define AGGREGATE_MERGE_H

#include "aggregate/run.h"

/* Makes the analysis's profiles and groups, once all workers have made rows. */
struct sp_error *profiles_merge(struct run *run) SP_MUST_CHECK;

#endif
