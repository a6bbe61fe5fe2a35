/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Types of phase 1: samples counted under their chains. */
#ifndef AGGREGATE_COUNTED_H
#define AGGREGATE_COUNTED_H

#include <sprof/trace.h>
#include "aggregate/chain.h"
#include "aggregate/labels.h"
#include "aggregate/names.h"
#include "aggregate/matches.h"
#include "aggregate/stack_end.h"
#include "aggregate/stacks.h"
#include "aggregate/time_bins.h"
#include "base/strtab.h"
#include "profile/cells.h"
#include "profile/detail.h"
#include "profile/group.h"
#include "profile/interval.h"
#include "profile/ratio.h"
#include "sideband/sideband.h"

/*
 * Whether the key's words are addresses of texts. Texts belong to the worker's table until all workers
 * are merged.
 */
static inline bool key_is_text(enum sp_key key)
{
	return key >= SP_KEY_TRACE && key < SP_KEY_COUNT;
}

/* Constants shared by all workers. */
struct work {
	struct sp_ctx *ctx;
	struct sp_reader *reader;
	const struct record_layout *layout;
	const struct machine *machine;
	const struct sideband *sideband;
	const struct unwinding *unwinding;
	const struct deferred *deferred; /* NULL: no deferred call chains */
	const struct analysis_options *options;
	const struct labels *labels; /* labels of frames, made after all workers resolved their chains */
	bool keys[SP_KEY_COUNT];       /* keys of rows */
	bool group_keys[SP_KEY_COUNT]; /* keys that distinguish groups: those of rows, and of the tree's
				        * outermost nodes */
	enum sp_key detail_keys[SP_KEY_COUNT]; /* keys of rows that are values of samples */
	size_t detail_count;
	bool has_texts;   /* some of them are texts (key_is_text()) */
	const struct matches *matches; /* functions that options name; made with the labels; NULL: options
				        * name none */
	bool by_stack;    /* filters depend on all functions of a stack */
	bool only_leaves; /* callers of the sampled function are not needed */
	bool replicates;  /* assign samples to replicates, for intervals of ratios */
	bool sum_tasks;   /* count samples by thread, to compare them with READ records */
};

/* A thread during a time in which machine_span() states that nothing changes. */
struct task {
	uint32_t pid, tid;
	struct machine_span span;
	bool shown;               /* passes the filters by comm, pid and tid */
	uint16_t last_event;      /* event for which `root` was made; the CPU and detail follow;
				   * SP_EVENT_NONE: none */
	uint32_t last_cpu, last_detail, last_view, root;
	uint8_t last_replicate;
};

/* Samples of one address under one chain. */
struct leaf {
	uint32_t node;    /* chain of the callers; the root if there are none */
	uint32_t answer;  /* answer (names.h) for the sampled address */
	uint64_t chains;  /* samples with a call chain, including filtered ones */
	uint64_t samples, weight; /* samples that pass the filters */
};

struct event_sums {
	struct weight_sums all, shown;
	uint64_t ends[SP_STACK_END_COUNT];
	uint64_t stated_ends;  /* stacks whose end the recording states */
	uint64_t repaired, shortened, guessed;
	uint64_t limited; /* stacks cut by the requested limit */
	uint64_t branch_stacks;   /* samples with branches, if branches are counted */
	uint64_t enabled_ns, running_ns; /* times between samples with counter values */
	uint64_t unattributed;    /* counter values whose start is unknown */
	uint64_t branchless;      /* samples without branches, which do not count then */
};

/* A sample to count under its stack. */
struct rooted_sample {
	uint32_t root;   /* root for its task, event and values (sample_root()) */
	uint32_t answer; /* answer (names.h) for the sampled address */
	uint16_t event;
	bool shown;
	uint64_t weight;
	uint64_t time_ns; /* 0: unknown */
	uint32_t task;    /* index of its thread in `tasks` */
};

/*
 * A sample with a truncated stack. It is counted after all samples are read, when its stack may be
 * repaired.
 */
struct truncated_sample {
	struct rooted_sample rooted;
	struct sampled sampled;
	uint32_t number;       /* number of its stack in the repair */
	uint32_t kernel_begin; /* index of its kernel addresses in kernel_ips */
	uint32_t kernel_count;
	uint16_t misc;
};

/* A counter's last value. */
struct counter_state {
	uint64_t value, enabled_ns, running_ns;
};

/*
 * Phase 1: samples counted under their chains, by one thread of a report. Workers share only
 * struct work; their results are merged afterwards.
 */
struct counted {
	const struct work *work;
	struct address_cache answers; /* answers of names_answer() */
	struct chains chains;             /* interned chains; their roots are named group << 32 | view */
	struct groups groups;
	struct details details;           /* values of the groups; code addresses are frames */
	struct sp_trace *trace;           /* decoder of tracepoint fields, if work->has_texts */
	struct strtab texts;              /* texts of details */
	struct stacks stacks;
	struct stack stack;               /* stack of the last sample, if has_stack */
	bool has_stack;
	VEC(struct truncated_sample) truncated;
	VEC(uint64_t) kernel_ips;
	const struct repair *repaired;    /* repair of all workers, and where this worker's stacks begin in
					   * it */
	uint32_t repair_offset;
	VEC(struct leaf) leaves;
	struct u64map leaf_of;            /* node, frame -> index in leaves */
	VEC(struct task) tasks;
	struct u64map task_of;            /* pid, tid -> index in tasks */
	uint32_t last_task;
	VEC(struct weight_sums) pending;  /* by leaf: sums that are shown if the leaf's function passes the
					   * filter by symbol */
	struct event_sums *events;
	struct u64map task_samples;       /* event, tid -> samples, if work->sum_tasks */
	struct u64map counter_of;         /* event id, tid -> index in counters */
	VEC(struct counter_state) counters; /* counters of PERF_SAMPLE_READ */
	uint64_t first_ns, last_ns;       /* times of first and last sample; both 0: no sample has a time */
	struct time_bins **time_bins;     /* by event; NULL without options->samples.time_bins */
	struct cells cells;               /* samples by task and leaf; its limit is 0 without
					   * options->samples.timeline */
	uint64_t unknown_event;           /* samples whose event is not in the recording */
};

/* *counted must be deinitialised after a failure, too. `work` and `names` are borrowed. */
struct sp_error *counted_init(struct counted *counted, const struct work *work,
			      struct names *names) SP_MUST_CHECK;

/* Frees everything. A zeroed struct counted is allowed. */
void counted_deinit(struct counted *counted);

#endif
