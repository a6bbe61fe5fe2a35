/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How call chains are recorded: what was asked for, or what suits the binaries at hand. */
#ifndef CAPTURE_CONFIG_GRAPH_H
#define CAPTURE_CONFIG_GRAPH_H

#include <sprof/capture.h>
#include "base/ctx.h"
#include "capture/config/options.h"
#include "elf/image.h"

struct call_graph {
	enum sp_call_graph kind; /* never AUTO */
	bool live;               /* DWARF: unwound while it is recorded */
	bool python;             /* live: Python frames are inserted */
	bool python_first;       /* live: the target is a Python program from the start */
	uint32_t stack_bytes, max_stack;
	bool fixed_size;         /* never more than stack_bytes is copied */
	uint64_t registers;      /* as attr.sample_regs_user */
	char *note;              /* why it is this one, a line; NULL: nothing to say. malloc'ed */
};

void call_graph_deinit(struct call_graph *graph);

/*
 * Of AUTO: by frame pointers if the command, or the processes, and their C library keep
 * them. Takes a few milliseconds at most. Fails with SP_ERROR_INVALID where sizes are wrong.
 */
struct sp_error *call_graph_choose(const struct sp_ctx *ctx,
				   const struct capture_options *options,
				   struct call_graph *ret) SP_MUST_CHECK;

/* The registers that unwinding takes, by perf's numbers; 0: not known for this `machine`. */
uint64_t call_graph_registers(const char *machine);

/*
 * Whether its functions set up a frame pointer, by its call frame information: half of them
 * at least. Without any, nobody can tell: it does not.
 */
bool image_keeps_frame_pointers(struct image *image);

#endif
