/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* State for unwinding recorded stack copies, which workers share. */
#pragma once

#include <sprof/analysis.h>
#include "binary/binary.h"
#include "record/decode.h"
#include "stacks/jit_frames.h"
#include "unwind/unwind.h"

struct unwinding {
	bool has_dumps;            /* some samples have registers and a stack copy */
	bool has_leaves;           /* some samples have arm64's return address with a frame pointer chain */
	struct unwinder *unwinder; /* NULL: stack copies cannot be unwound */
	struct sp_error *refusal;  /* why stack copies cannot be unwound; NULL: they can, or there are none */
	const struct machine *machine;
	struct binary_env files;
	struct jit_frames generated;
	bool has_files;
};

struct dump_unwind_source {
	struct sp_ctx *ctx;
	const struct record_layout *layout;
	const struct machine *machine; /* the machine, sealed; borrowed */
	const struct sp_files *wanted;
	struct provenance provenance;          /* origin of the recording, for checks of files */
	struct stored *stored;                 /* files in the recording; borrowed; NULL: none */
	struct jit_files *jit;                 /* jitdumps; borrowed */
};

/*
 * Fails when out of memory, or if the requested unwinder is unknown. *ret must be deinitialised after a
 * failure, too.
 */
struct sp_error *dump_unwind_init(struct unwinding *unwinding,
				const struct dump_unwind_source *source) SP_MUST_CHECK;
void dump_unwind_deinit(struct unwinding *unwinding);

/* Returns whether the event's samples have registers and a stack copy. */
static inline bool dump_unwind_has_dump(const struct perf_event_attr *attr)
{
	const uint64_t both = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	return (attr->sample_type & both) == both;
}

/* Number of register x30 (the link register) in perf's registers of arm64. */
#define DUMP_UNWIND_LINK_REGISTER 30

/*
 * Returns whether the event's samples have the register needed to add a leaf's caller to a frame
 * pointer chain.
 */
static inline bool dump_unwind_has_leaf(const struct perf_event_attr *attr)
{
	const uint64_t both = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_CALLCHAIN;
	return (attr->sample_type & both) == both && !(attr->sample_type & PERF_SAMPLE_STACK_USER) &&
	       attr->sample_regs_user >> DUMP_UNWIND_LINK_REGISTER & 1;
}
