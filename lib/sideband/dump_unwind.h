/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Unwinding of recorded stack copies: state that workers share. */
#ifndef SIDEBAND_DUMP_UNWIND_H
#define SIDEBAND_DUMP_UNWIND_H

#include <sprof/analysis.h>
#include "binary/binary.h"
#include "record/decode.h"
#include "unwind/unwind.h"

struct unwinding {
	bool has_dumps;            /* samples of some event hold registers and stack */
	bool has_leaves;           /* or arm64's return address beside chains of frame pointers */
	struct unwinder *unwinder; /* NULL: nothing can be unwound */
	struct sp_error *refusal;  /* why, if there is something to unwind */
	const struct machine *machine;
	struct binary_env files;
	bool has_files;
};

struct dump_unwind_source {
	struct sp_ctx *ctx;
	const struct record_layout *layout;
	const struct machine *machine; /* sealed; borrowed */
	const struct sp_files *wanted;
	struct provenance provenance;          /* the recording's */
};

/* Fails when out of memory, or asked for an engine that is none. To be deinitialised then, too. */
struct sp_error *dump_unwind_init(struct unwinding *unwinding,
				const struct dump_unwind_source *source) SP_MUST_CHECK;
void dump_unwind_deinit(struct unwinding *unwinding);

/* Whether the event's samples hold what is needed to unwind. */
static inline bool dump_unwind_has_dump(const struct perf_event_attr *attr)
{
	const uint64_t both = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	return (attr->sample_type & both) == both;
}

/* x30, by perf's numbers of arm64's registers. */
#define DUMP_UNWIND_LINK_REGISTER 30

/* Whether the event's samples have what is needed to tell the caller of a leaf from frame pointers. */
static inline bool dump_unwind_has_leaf(const struct perf_event_attr *attr)
{
	const uint64_t both = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_CALLCHAIN;
	return (attr->sample_type & both) == both && !(attr->sample_type & PERF_SAMPLE_STACK_USER) &&
	       attr->sample_regs_user >> DUMP_UNWIND_LINK_REGISTER & 1;
}

#endif
