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
#include "profile/detail.h"
#include "profile/group.h"
#include "profile/interval.h"
#include "profile/ratio.h"
#include "sideband/sideband.h"

/* Keys whose words are texts: addresses in the worker's table, until what all found is merged. */
static inline bool key_is_text(enum sp_key key)
{
	return key >= SP_KEY_TRACE && key < SP_KEY_COUNT;
}

/* Constants that all workers share. */
struct work {
	struct sp_ctx *ctx;
	struct sp_reader *reader;
	const struct record_layout *layout;
	const struct machine *machine;
	const struct sideband *sideband;
	const struct unwinding *unwinding;
	const struct deferred *deferred; /* NULL: there are none */
	const struct analysis_options *options;
	const struct labels *labels; /* labels of frames; made when all workers have resolved */
	bool keys[SP_KEY_COUNT];       /* keys of rows */
	bool group_keys[SP_KEY_COUNT]; /* and groups: the tree's commands too */
	enum sp_key detail_keys[SP_KEY_COUNT]; /* keys that are values */
	size_t detail_count;
	bool has_texts;   /* some of them are texts (key_is_text()) */
	const struct matches *matches; /* NULL: no function is asked for by name; as labels */
	bool by_stack;    /* filters need the whole stack, with all its functions */
	bool only_leaves; /* nobody asked for what is above the sampled function */
	bool replicates;  /* deal samples into hands, for ratios */
	bool sum_tasks;   /* count samples by thread: READ records want to be compared */
};

/* A thread, for as long as machine_span() says that nothing changes. */
struct task {
	uint32_t pid, tid;
	struct machine_span span;
	bool shown;               /* passes the filters by comm, pid and tid */
	uint16_t last_event;      /* and CPU and detail: what `root` is for; SP_EVENT_NONE: nothing */
	uint32_t last_cpu, last_detail, last_view, root;
	uint8_t last_replicate;
};

/* Samples of one place under one chain. */
struct leaf {
	uint32_t node;    /* node of the caller; the root if there is none */
	uint32_t answer;  /* answer (names.h) of the sampled ip */
	uint64_t chains;  /* samples with a call chain, shown or not */
	uint64_t samples, weight; /* shown */
};

struct event_sums {
	struct weight_sums all, shown;
	uint64_t ends[SP_STACK_END_COUNT];
	uint64_t stated_ends;  /* stacks of which the recording says how they ended */
	uint64_t repaired, shortened, guessed;
	uint64_t limited; /* by what was asked for */
	uint64_t branch_stacks;   /* not empty, of samples whose branches are counted */
	uint64_t enabled_ns, running_ns; /* between samples with counters' values */
	uint64_t unattributed;    /* values of which is not known since when they count */
	uint64_t branchless;      /* samples without, which count for nothing then */
};

/* A sample to count under its stack. */
struct rooted_sample {
	uint32_t root;   /* root of its chain (sample_root()) */
	uint32_t answer; /* answer (names.h) of the sampled ip */
	uint16_t event;
	bool shown;
	uint64_t weight;
};

/* A sample whose stack is truncated, and counted when it is known whether that can be repaired. */
struct truncated_sample {
	struct rooted_sample rooted;
	struct sampled sampled;
	uint32_t number;       /* its stack's in the repair */
	uint32_t kernel_begin; /* index of its ips in kernel_ips */
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
	struct chains chains;             /* roots are named group << 32 | view */
	struct groups groups;
	struct details details;           /* values of the groups: addresses as frames */
	struct sp_trace *trace;           /* if work->has_texts */
	struct strtab texts;              /* texts of details */
	struct stacks stacks;
	struct stack stack;               /* stack of the last sample, if has_stack */
	bool has_stack;
	VEC(struct truncated_sample) truncated;
	VEC(uint64_t) kernel_ips;
	const struct repair *repaired;    /* repair of all workers; this one's stacks begin at: */
	uint32_t repair_offset;
	VEC(struct leaf) leaves;
	struct u64map leaf_of;            /* node, frame -> index in leaves */
	VEC(struct task) tasks;
	struct u64map task_of;            /* pid, tid -> index in tasks */
	uint32_t last_task;
	VEC(struct weight_sums) pending;  /* by leaf: what is shown if the filter by symbol lets it */
	struct event_sums *events;
	struct u64map task_samples;       /* event, tid -> samples, where work->sum_tasks */
	struct u64map counter_of;         /* event id, tid -> index in counters */
	VEC(struct counter_state) counters; /* counters of PERF_SAMPLE_READ */
	uint64_t first_ns, last_ns;       /* 0, 0: no sample has a time */
	struct time_bins **time_bins;     /* by event; NULL without options->samples.time_bins */
	uint64_t unknown_event;           /* samples that are of no event of the recording */
};

/* To be released after a failure, too. `work` and `names` are borrowed. */
struct sp_error *counted_init(struct counted *counted, const struct work *work,
			      struct names *names) SP_MUST_CHECK;

/* A zeroed struct counted may be released, too. */
void counted_deinit(struct counted *counted);

#endif
