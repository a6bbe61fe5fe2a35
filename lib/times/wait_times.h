/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Distributes the time of waits to the samples of waits with a similar duration. */
#pragma once

#include "times/times.h"

/*
 * Distributes a slice's blocked time, and that from waking to running, to the strata of its waits;
 * time that no sample stands for goes to the slice's rest. `totals`: times of the slice; `sampled`:
 * sums of the slice's samples by wait_class(), NULL without samples; index 0 is not used.
 */
void wait_times_add(struct times *times, const struct slice *slice,
		    const struct task_totals *totals,
		    const struct sample_weight *const sampled[WAIT_CLASSES]);
