/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads of samples: name, address space, and whether filters select them, at a time. */
#ifndef SAMPLES_SAMPLE_TASK_H
#define SAMPLES_SAMPLE_TASK_H

#include "samples/counted.h"

/*
 * Returns a thread, updated for a time of the machine's clock; it then is counted->last_task. Valid until
 * the next call. NULL when out of memory.
 */
struct task *sample_task(struct counted *counted, uint32_t pid, uint32_t tid, uint64_t time_ns);

/* Returns the time of a record in the machine's clock. */
uint64_t sample_time(const struct counted *counted, const struct sp_record *record);

#endif
