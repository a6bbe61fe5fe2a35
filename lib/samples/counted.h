/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Types of phase 1 of the analysis: counting samples by call chain. */
#pragma once

#include <sprof/private/command.h>
#include <sprof/trace.h>
#include "base/strtab.h"
#include "frames/labels.h"
#include "frames/matches.h"
#include "frames/names.h"
#include "profile/batches.h"
#include "profile/cells.h"
#include "profile/detail.h"
#include "profile/group.h"
#include "profile/interval.h"
#include "profile/ratio.h"
#include "profile/analysis_keys.h"
#include "samples/time_bins.h"
#include "sideband/pass_one.h"
#include "stacks/chain.h"
#include "stacks/stack_end.h"
#include "stacks/stacks.h"
#include "times/times.h"

/* Constants shared by all workers. */
struct work {
	struct sp_ctx *ctx;
	const struct pass_one_result *read;
	const struct analysis_options *options;
	const struct labels *labels; /* made after all workers resolved their chains */
	const struct analysis_keys *keys;
	struct names *names;
	const struct matches *matches; /* functions that options name, found when labels exist;
					* NULL: options name none */
	bool only_leaves; /* callers of the sampled function are needed by no row or tree */
	const struct times *times;
	bool keeps; /* later analyses use the counts: all samples are pending (struct leaves) */
	/* Parts of the recording's time, by which leaves are counted; part_ns 0: they are not. */
	uint64_t parts_begin_ns, part_ns;
};

static inline const struct perf_event_attr *work_attr(const struct work *work, uint16_t event)
{
	return &work->read->sideband.layout->events[event].attr;
}

/* Returns the name that a thread has in rows: that of its pool, if they are requested. */
static inline const char *work_comm(const struct work *work, const char *comm)
{
	bool pools = work->options->rows.pools && !work->keys->rows[SP_KEY_TID];
	return (pools ? machine_pool(work->read->machine, comm) : NULL) ?: comm;
}

/* A thread, with the time span in which its name and mappings do not change (machine_span()). */
struct task {
	uint32_t pid, tid;
	struct machine_span span;
	const char *text;         /* "comm[tid]" in `texts`; NULL: not made for this span yet */
	const char *process; /* text of its process in `texts`; NULL: not made for this span yet */
	bool shown;               /* the thread passes the filters by comm, pid and tid */
	bool command_known;       /* the two members below are set */
	bool command_shown;       /* the command line passes the filters */
	const struct machine_command *command; /* command line of its process; NULL: unknown */
	struct group last;        /* cache of sample_root(): `root` was made for this group and
				   * last_view; its event is SP_EVENT_NONE: no root yet */
	uint32_t last_view, root;
};

/* Returns the word of a chain's root: a number in `groups`, and the view of its addresses. */
static inline uint64_t root_word(uint32_t group, uint32_t view)
{
	return key_of_pair(group, view);
}

static inline uint32_t root_group(const struct radix_node *root)
{
	return key_high(root->first);
}

static inline uint32_t root_view(const struct radix_node *root)
{
	return (uint32_t)root->first;
}

/* Samples of one frame with the same callers. */
struct leaf {
	uint32_t node;    /* node of the callers' chain; the root if there are no callers */
	uint32_t answer;  /* answer (names.h) for the sampled address */
	uint64_t chains;  /* samples with a call chain, including filtered ones */
	uint64_t samples, weight; /* samples that pass the filters */
	uint32_t last_part; /* index + 1 of its last struct part_weight; 0: none */
	bool has_chain; /* some have a call chain, later parts of a sample included */
};

/* Weight of a leaf in a part of the recording's time. */
struct part_weight {
	uint64_t weight;
	uint32_t part;
	uint32_t earlier; /* index + 1 of the leaf's previous one; 0: none */
};

/* Weights of leaves by part of the recording's time, if work->part_ns. */
struct part_weights {
	VEC(struct part_weight);
	struct part_sums *whole; /* by event: sums before filters */
};

/* Returns whether samples of the leaf, or time without samples, pass the filters. */
static inline bool leaf_is_shown(const struct leaf *leaf)
{
	return leaf->samples || leaf->weight;
}

struct event_sums {
	struct weight_sums all, shown;
	uint64_t recorded; /* number of samples in the file, whether the mode counts them or not */
	uint64_t ends[STACK_ENDS];
	uint64_t stated_ends;  /* number of stacks for which the recording states how they ended */
	uint64_t repaired, shortened, guessed, system_stack;
	uint64_t limited; /* number of stacks truncated by the --max-stack limit */
	uint64_t branch_stacks;   /* samples with branches, if branches are counted */
	uint64_t enabled_ns, running_ns; /* enabled and running times between samples, summed */
	uint64_t unattributed;    /* number of counter values with an unknown increase */
	uint64_t accesses;        /* with samples.memory: number of samples with memory data */
	uint64_t branchless;      /* number of samples without branches, which are not counted */
};

/* A sample that is ready to be counted under its stack. */
struct rooted_sample {
	uint32_t root;   /* root for its task, event and values (sample_root()) */
	uint32_t answer; /* answer (names.h) for the sampled address */
	uint16_t event;
	bool shown;      /* it passes all filters except those by its code */
	uint8_t part;    /* part of the recording's time, if work->part_ns */
	uint64_t weight;
	uint32_t task;    /* index of its thread in `tasks` */
};

/*
 * A sample with a truncated stack. It is counted after all samples are read, because its stack may
 * be repaired from others.
 */
struct truncated_sample {
	struct rooted_sample rooted;
	struct sample_time time;
	struct sampled sampled;
	uint32_t number;       /* number of its stack in the worker's repair */
	uint32_t kernel_begin; /* index of its kernel addresses in kernel_ips */
	uint32_t kernel_count;
	uint16_t misc;
};

/* Leaves of one worker. */
struct leaves {
	VEC(struct leaf);
	struct u64map index_of; /* node, frame -> index */
	/* By leaf: sums of samples that filters by function name may exclude; not yet shown. */
	VEC(struct weight_sums) pending;
};

/* Threads of one worker's samples. */
struct tasks {
	VEC(struct task);
	struct u64map index_of; /* pid, tid -> index */
	uint32_t last; /* index of the last sample's */
};

/* Samples with truncated stacks. */
struct truncated_samples {
	VEC(struct truncated_sample);
	VEC(uint64_t) kernel_ips;
	const struct repair *repaired; /* repair with the stacks of all workers; this worker's
					* stacks begin at repair_offset */
	uint32_t repair_offset;
};

/* Sample that is being counted. */
struct current_sample {
	struct stack stack; /* its stack, if has_stack */
	bool has_stack;
	struct sample_time time;   /* the sample's, or that of a part of it */
	uint32_t part; /* part of the recording's time, if work->part_ns */
	const char *waker, *wakee; /* their texts, if times.wakers; NULL: unknown */
};

/* Values of a counter at its last sample. */
struct counter_state {
	uint64_t value, enabled_ns, running_ns;
};

/* Counters of PERF_SAMPLE_READ. */
struct counter_states {
	VEC(struct counter_state);
	struct u64map index_of; /* event id, tid -> index */
};

/*
 * Result of phase 1 for one worker: samples counted by call chain. Workers share only struct work;
 * their results are merged afterwards.
 */
struct counted {
	const struct work *work;
	struct address_cache answers; /* cache for names_resolve_address() */
	struct chains chains; /* interned chains, under root_word() */
	struct groups groups;
	struct details details; /* values of the groups; code addresses are indexes of frames */
	struct sp_trace *trace;		  /* decoder of tracepoint fields, if keys->has_traces */
	struct strtab texts;              /* texts of details */
	struct stacks stacks;
	VEC(uint64_t) folded;             /* buffers of samples/fold_frames.h */
	VEC(uint8_t) kept;
	struct current_sample sample;
	struct truncated_samples truncated;
	struct leaves leaves;
	struct tasks tasks;
	struct event_sums *events;
	struct leaf_times times;
	struct part_weights parts;
	uint64_t part_begin_ns; /* begin of sample.part */
	struct u64map task_samples; /* event, tid -> number of samples, if those are compared with
				     * other records */
	struct counter_states counters;
	uint64_t first_ns, last_ns;       /* times of first and last sample; both 0: unknown */
	struct time_bins **time_bins;     /* by event; NULL without options->samples.time_bins */
	struct cells cells;               /* samples by task and leaf; its limit is 0 without
					   * options->samples.timeline */
	bool failed; /* out of memory; asked after each sample */
	uint64_t unknown_event; /* number of samples of events that are not in the recording */
};

/*
 * Initializes `counted`; `work` is borrowed. `bin_shift`: least `shift` of the cells,
 * that of earlier recordings. Call counted_deinit() even after a failure.
 */
struct sp_error *counted_init(struct counted *counted, const struct work *work,
			      unsigned int bin_shift) SP_MUST_CHECK;

/* Frees everything. A zeroed struct counted is allowed. */
void counted_deinit(struct counted *counted);

/* Splits a leaf to parts by state, when the leaves have their times. Returns their number. */
static inline size_t counted_leaf_parts(const struct counted *counted, uint32_t index,
					struct leaf_part ret[TIME_STATES])
{
	const struct leaf *leaf = &counted->leaves.items[index];
	const struct leaf_times *times = &counted->times;
	const struct timed_leaf timed = {leaf->samples, leaf->weight,
					 index < times->count ? &times->items[index] : NULL};
	return counted->work->times->weigher->split_leaf(&timed, ret);
}
