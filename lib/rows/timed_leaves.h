/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Gives leaves their times (times/times.h), between counting samples and making rows. `times` are
 * those of the workers, which cannot change them.
 */
#pragma once

#include "rows/make_rows.h"

/*
 * Computes the times of all strata, and adds leaves for the rests of threads that pass the filters.
 * Call it when all samples are counted, before the chains are resolved.
 */
struct sp_error *timed_leaves_compute(struct workers *workers, struct times *times) SP_MUST_CHECK;

/*
 * Scales all leaves to their times, finds the reasons of their waits, and leaves out idle threads.
 * Call it when the chains are resolved.
 */
struct sp_error *timed_leaves_scale(struct workers *workers, struct times *times) SP_MUST_CHECK;
