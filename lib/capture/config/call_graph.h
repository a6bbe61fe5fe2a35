/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Recording of stacks: the kind of call chains, whether they are unwound live, and rings that hold
 * them. call_graph_choose() is the only writer of `struct call_graph`.
 */
#pragma once

#include <sprof/capture.h>
#include "capture/config/capture_options.h"
#include "capture/config/survey.h"
#include "capture/notes/notes.h"
#include "event/parse.h"
#include "event/rights.h"
#include "record/note.h"

struct call_graph {
	enum sp_call_graph kind; /* never AUTO */
	bool live;               /* DWARF: unwound during the recording */
	bool python;             /* live: Python frames are inserted */
	bool python_first;       /* live: the target is a Python program from the start */
	enum note_python python_remedy; /* for missing Python functions */
	uint32_t stack_bytes, max_stack;
	bool fixed_size;         /* never more than stack_bytes is copied */
	uint64_t registers;      /* bits as in attr.sample_regs_user */
};

/* At higher rates, waking a thread for each sample costs too much: 30 us. */
#define PYTHON_FIRST_HZ_MAX 2500

/* Facts of the decision. Pointers are borrowed for the call. */
struct call_graph_facts {
	const struct capture_options *options;
	const struct event_specs *specs;
	const struct rights *rights;
	const char *machine;                /* the machine's name, as in struct utsname */
	const struct target_survey *survey; /* made for the same options and machine */
	size_t cpu_count;
	uint64_t memory_bytes;              /* the machine's memory; 0: unknown */
	uint64_t freq_hz;                   /* requested; 0: periods; SP_CAPTURE_FREQ_MAX */
};

/* Bits of perf's register numbers that unwinding needs; 0: not supported on this `machine`. */
uint64_t call_graph_registers(const char *machine);

/*
 * Decides how stacks are recorded, and the size of the rings. Rings depend on the call graph: a
 * stack copy needs more room than a call chain. And a call graph that was not requested depends on
 * the rings: frame pointers replace DWARF where a ring has no room for two copies, or would not
 * reach back as far as the window of --overwrite. This changes once at most, so that the result is a
 * fixed point. Differences between request and decision are added to `notes`.
 *
 * Fails with SP_ERROR_INVALID if a size is wrong, with SP_ERROR_UNSUPPORTED if this machine has no
 * DWARF unwinding, with SP_ERROR_LIMIT as rights_fit_rings(), or when out of memory.
 */
struct sp_error *call_graph_choose(const struct call_graph_facts *facts, struct notes *notes,
				   struct call_graph *graph_ret,
				   struct ring_pages *pages_ret) SP_MUST_CHECK;

/* Returns whether a ring of that size has room for two samples, with their stack copies. */
bool call_graph_has_room(const struct call_graph *graph, uint64_t ring_bytes);
