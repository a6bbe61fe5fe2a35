/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Matching of a thread's switches, samples and snapshots. */
#pragma once

#include "capture/waits/wait_output.h"

/*
 * Processes an event of a thread, in the order of time. Owns event->record from now on. Writes the
 * wait that it ends. An EXIT only marks the thread. Fails only when out of memory.
 */
struct sp_error *wait_process_event(struct waiting_threads *threads, struct waiting_thread *thread,
				    struct wait_event *event,
				    const struct wait_output *output) SP_MUST_CHECK;
