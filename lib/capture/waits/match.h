/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Matching of a thread's switches, samples and snapshots. */
#ifndef CAPTURE_WAITS_MATCH_H
#define CAPTURE_WAITS_MATCH_H

#include "capture/waits/wait_output.h"

/*
 * Processes an event of a thread, which is not older than those before. Takes event->record over. Writes the
 * wait that it ends. An EXIT only marks the thread. Fails only when out of memory.
 */
struct sp_error *wait_match(struct waiting_threads *threads, struct waiting_thread *thread,
			    struct wait_event *event, const struct wait_output *output) SP_MUST_CHECK;

#endif
