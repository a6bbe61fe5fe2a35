/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/samples/unwind_notes.h"

/* Least share of truncated stacks for a note: one in CUT_SHARE. */
#define CUT_SHARE 1000

/* Least share of Python calls without functions for a note: one in N. */
#define PYTHON_SHARE 20

/* The first 10 ms of a process at 2500 Hz have 25 samples: that share of this many. */
#define PYTHON_SAMPLES_FEW 500

static uint64_t unwound(const struct sp_capture_stacks *stacks)
{
	return stacks->complete + stacks->repaired + stacks->truncated + stacks->no_unwind_info +
	       stacks->bad_memory + stacks->depth_limit + stacks->none;
}

static struct sp_error *note_skipped(const struct sp_capture_stacks *stacks, struct notes *notes)
{
	return !stacks->skipped ? NULL
	       : notes_add(notes, NOTE_STACKS_SKIPPED, NULL, stacks->skipped,
			   stacks->skipped + unwound(stacks));
}

/*
 * Returns the bytes of a copy that would hold nearly all stacks; 0: unknown, or no more than now.
 */
static uint64_t size_remedy(const struct live_unwind_counts *counts, const struct call_graph *graph,
			    uint32_t most_bytes)
{
	uint32_t enough = stack_sizes_enough(&counts->sizes);
	if (!counts->cuts[STACK_CUT_BY_SIZE])
		return 0;
	if (enough == UINT32_MAX)
		return most_bytes >= SP_STACK_BYTES_MAX ? NOTE_STACK_NO_MORE : SP_STACK_BYTES_MAX;
	bool larger = enough > most_bytes || (enough > graph->stack_bytes && graph->fixed_size);
	return larger ? enough : 0;
}

static struct sp_error *note_truncated(const struct live_unwind_counts *counts, uint64_t remedy,
				       struct notes *notes)
{
	uint64_t truncated = counts->stacks.truncated, all = unwound(&counts->stacks);
	if (!truncated || truncated * CUT_SHARE < all)
		return NULL;
	return notes_add(notes, NOTE_STACKS_TRUNCATED, NULL, truncated, all, counts->cuts[STACK_CUT_BY_SIZE],
			 counts->cuts[STACK_CUT_BY_HOLE], counts->cuts[STACK_CUT_ELSEWHERE], counts->alone,
			 remedy);
}

static struct sp_error *note_unreadable_pages(const struct live_unwind_counts *counts,
					      struct notes *notes)
{
	return !counts->refused ? NULL
	       : notes_add(notes, NOTE_STACK_PAGES_UNREADABLE, NULL, counts->refused, counts->refused_pid);
}

/* A few are always missing: the interpreter's function has begun, and its Python code has not. */
static struct sp_error *note_python(const struct python_counts *python, enum note_python remedy,
				    struct notes *notes)
{
	uint64_t missing = python->dropped + python->unreadable;
	uint64_t all = python->groups + python->unreadable + python->damaged;
	if (python->damaged)
		TRY(notes_add(notes, NOTE_PYTHON_DAMAGED, NULL, python->damaged, all,
			      python->damaged_pid));
	if (missing * PYTHON_SHARE < all || !missing)
		return NULL;
	if (python->samples < PYTHON_SAMPLES_FEW && remedy != PYTHON_LOWER_RATE)
		remedy = PYTHON_LONGER;
	return notes_add(notes, NOTE_PYTHON_DROPPED, NULL, missing, all, remedy);
}

struct sp_error *unwind_notes_add(const struct live_unwind_counts *counts, const struct call_graph *graph,
				  uint32_t most_bytes, struct notes *notes)
{
	TRY(note_skipped(&counts->stacks, notes));
	TRY(note_truncated(counts, size_remedy(counts, graph, most_bytes), notes));
	TRY(note_unreadable_pages(counts, notes));
	if (counts->maps_dropped)
		TRY(notes_add(notes, NOTE_MAPS_DROPPED, NULL, counts->maps_dropped));
	TRY(note_python(&counts->python, graph->python_remedy, notes));
	return !counts->stacks.shortened
		       ? NULL
		       : notes_add(notes, NOTE_STACKS_SHORTENED, NULL, counts->stacks.shortened);
}
