/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One thread's part of an analysis: its result of each phase. Workers share only constants; their
 * results are merged afterwards (merged.h).
 */
#ifndef ROWS_WORKER_H
#define ROWS_WORKER_H

#include "rows/make_rows.h"

struct worker {
	struct counted counted;
	struct resolved resolved; /* set when all samples are counted */
	struct summed summed;     /* set when frames have labels */
};

static inline void worker_deinit(struct worker *worker)
{
	counted_deinit(&worker->counted);
	resolved_deinit(&worker->resolved);
	summed_deinit(&worker->summed);
}

#endif
