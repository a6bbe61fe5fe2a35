/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One thread's part of a report, by phase. Workers share nothing that they change; their results
 * are merged afterwards (merged.h).
 */
#ifndef AGGREGATE_WORKER_H
#define AGGREGATE_WORKER_H

#include "aggregate/make_rows.h"

struct worker {
	struct counted counted;
	struct resolved resolved; /* once all samples are counted */
	struct summed summed;     /* once frames have labels */
};

static inline void worker_deinit(struct worker *worker)
{
	counted_deinit(&worker->counted);
	resolved_deinit(&worker->resolved);
	summed_deinit(&worker->summed);
}

#endif
