/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads of samples at a time: name, address space, whether filters select them, and wakers. */
#pragma once

#include "samples/counted.h"

/*
 * Returns a thread, updated for a time of the machine's clock; it then is counted->tasks.last.
 * Valid until the next call. NULL when out of memory.
 */
struct task *sample_task(struct counted *counted, uint32_t pid, uint32_t tid, uint64_t time_ns);

/*
 * Returns whether the command line that a task's process has at a time passes the filters. Patterns
 * are compared only when the command line changes.
 */
bool sample_command_is_shown(const struct counted *counted, struct task *task, uint64_t time_ns);

/*
 * Sets the texts of the waker and wakee in counted->sample, and for a wake-up in
 * counted->sample.time.waker: "comm[tid]", a context such as "[interrupt]" or "[idle]", "-" without
 * a wait, or "[not woken]"; NULL: unknown. A wait's waker is known from the states, a wake-up's
 * from its sample. Returns false when out of memory.
 */
bool sample_find_wakers(struct counted *counted, const struct sp_record *record);

/* Returns the time of a record in the machine's clock. */
uint64_t sample_machine_ns(const struct counted *counted, const struct sp_record *record);

/* Returns the text of a task's process, for SP_KEY_PROCESS; NULL when out of memory. */
const char *sample_process(struct counted *counted, struct task *task);
