/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Notes about stacks that were unwound while recording: missing and truncated ones, and the remedy.
 */
#pragma once

#include "capture/config/call_graph.h"
#include "capture/notes/notes.h"
#include "capture/samples/live_unwind.h"

/*
 * Adds notes by the final `counts`. `most_bytes`: the largest size of stack copies so far. Fails
 * only when out of memory.
 */
struct sp_error *unwind_notes_add(const struct live_unwind_counts *counts, const struct call_graph *graph,
				  uint32_t most_bytes, struct notes *notes) SP_MUST_CHECK;
