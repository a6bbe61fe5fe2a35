/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Wakers of threads, as texts: "comm[tid]", or the context of an interrupt. A wait's waker is known from the
 * states, a wake-up's from its sample.
 */
#ifndef SAMPLES_WAKERS_H
#define SAMPLES_WAKERS_H

#include "samples/counted.h"

/*
 * Sets counted->waker and counted->wakee for a sample of work->mode, and in SP_MODE_WAKERS the stratum of
 * counted->of_mode. Returns false when out of memory.
 */
bool wakers_find(struct counted *counted, const struct sp_record *record);

/* Returns whether an interrupt woke the thread of a wake-up's sample; its stack is on an unrelated one. */
bool wakers_interrupted(const struct counted *counted);

#endif
