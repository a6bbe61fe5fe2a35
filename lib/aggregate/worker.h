/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pass two, as one thread does it: samples become chains in groups, and those sums
 * of rows. Workers know nothing of one another; what they found is put together
 * afterwards.
 */
#ifndef AGGREGATE_WORKER_H
#define AGGREGATE_WORKER_H

#include <sprof/trace.h>
#include "aggregate/chain.h"
#include "aggregate/labels.h"
#include "aggregate/lookup.h"
#include "aggregate/matches.h"
#include "aggregate/stack_end.h"
#include "aggregate/stacks.h"
#include "aggregate/time_bins.h"
#include "base/strtab.h"
#include "profile/detail.h"
#include "profile/group.h"
#include "profile/interval.h"
#include "profile/ratio.h"
#include "profile/tally.h"
#include "sideband/sideband.h"

/* Keys whose words are texts: addresses in the worker's table, until what all found is merged. */
static inline bool key_is_text(enum sp_key key)
{
	return key >= SP_KEY_TRACE && key < SP_KEY_COUNT;
}

/* What all workers have in common and none changes. */
struct work {
	struct sp_ctx *ctx;
	struct sp_reader *reader;
	const struct record_layout *layout;
	const struct machine *machine;
	const struct sideband *sideband;
	const struct unwinding *unwinding;
	const struct deferred *deferred; /* NULL: there are none */
	const struct sp_analysis_options *options;
	const struct labels *labels; /* of frames; made when all workers have resolved */
	bool keys[SP_KEY_COUNT];       /* what rows are made by */
	bool group_keys[SP_KEY_COUNT]; /* and groups: the tree's commands too */
	enum sp_key detail_keys[SP_KEY_COUNT]; /* those that are values */
	size_t detail_count;
	bool has_texts;   /* some of them are texts (key_is_text()) */
	const struct matches *matches; /* NULL: no function is asked for by name; as labels */
	bool by_stack;    /* filters need the whole stack, with all its functions */
	bool only_leaves; /* nobody asked for what is above the sampled function */
	bool replicates;  /* deal samples into hands, for ratios */
	bool sum_tasks;   /* count samples by thread: READ records want to be compared */
};

/* What stands for words that are no calls: others, and where calls were left out. */
#define WORD_NONE UINT32_MAX
#define WORD_GAP (UINT32_MAX - 1)

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
	uint32_t node;    /* of the caller; the root if there is none */
	uint32_t answer;  /* lookup_find()'s of the sampled ip */
	uint64_t chains;  /* samples with a call chain, shown or not */
	uint64_t samples, weight; /* shown */
};

struct event_sums {
	struct weight_sums all, shown;
	uint64_t ends[SP_STACK_END_COUNT];
	uint64_t said;  /* stacks of which the recording says how they ended */
	uint64_t repaired, shortened, guessed;
	uint64_t limited; /* by what was asked for */
	uint64_t branch_stacks;   /* that are not empty, of samples whose branches are counted */
	uint64_t enabled_ns, running_ns; /* between samples with counters' values */
	uint64_t unattributed;    /* values of which is not known since when they count */
	uint64_t branchless;      /* samples without, which count for nothing then */
};

/* A sample whose stack is truncated, and counted when it is known whether that can be repaired. */
struct cut_sample {
	struct sampled sampled;
	uint32_t root, number;
	uint32_t answer;       /* lookup_find()'s of the sampled ip */
	uint32_t kernel_begin; /* of its ips in cut_ips */
	uint32_t kernel_count;
	uint16_t event;
	uint16_t misc;
	bool shown;
	uint64_t weight;
};

/* What the words up to a node's end say of those that follow. */
struct node_state {
	uint32_t view, group;
	uint32_t depth;      /* calls */
	bool begun;          /* one of them is a call: `first` is set */
	uint32_t first;      /* lookup_find()'s answer of the outermost call */
	uint16_t cpumode;
	bool exact;          /* the next ip is */
	uint8_t end;         /* enum sp_misc_end */
};

/* A counter's last value. */
struct counter_state {
	uint64_t value, enabled_ns, running_ns;
};

struct worker {
	const struct work *work;
	struct lookup lookup;
	struct chains chains;             /* roots are named group << 32 | view */
	struct groups groups;
	struct details details;           /* of the groups: frames stand for what is at addresses */
	struct sp_trace *trace;           /* where work->has_texts */
	struct strtab texts;              /* of details */
	struct stacks stacks;
	struct stack stack;               /* of the last sample, if it was asked for */
	bool has_stack;
	VEC(struct cut_sample) cuts;
	VEC(uint64_t) cut_ips;
	const struct repair *repaired;    /* of all workers; this one's stacks are behind others: */
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
	VEC(struct counter_state) counters; /* of PERF_SAMPLE_READ */
	uint64_t first_ns, last_ns;       /* 0, 0: no sample has a time */
	struct time_bins **time_bins;     /* by event; NULL without options->time_bins */
	uint64_t unknown_event;           /* samples that are of no event of the recording */

	/* Made of the above by worker_resolve() and worker_sum(). */
	uint32_t *order;     /* of the chains' nodes */
	uint32_t *frames;    /* of the chains' words; WORD_NONE of marks, WORD_GAP of CHAIN_GAP */
	struct node_state *states; /* of the chains' nodes */
	struct groups row_groups;  /* groups by the keys of rows alone */
	struct details row_details; /* of those: functions stand for what is at addresses */
	struct tallies tallies;           /* groups are those of row_groups */
};

/* A sample's thread, its address space, and what the filters say of both. */
struct place_of_sample {
	struct task *task;
	uint64_t time_ns; /* as the machine has it */
	uint32_t cpu;     /* UINT32_MAX: not known */
	uint8_t replicate; /* of struct group */
	bool shown;       /* but for where its code is */
	uint32_t view;    /* stacks_view() */
};

struct sp_error *worker_init(struct worker *worker, const struct work *work,
			     struct names *names) SP_MUST_CHECK;
void worker_deinit(struct worker *worker);

/* The sample's; false when out of memory. The task is valid until the next call. */
bool worker_place(struct worker *worker, const struct sp_record *record,
		  struct place_of_sample *ret);

/*
 * The root that chains and leaves are put under: of the task, event, and what rows are by. NULL
 * as `words`: nothing is by details. RADIX_NONE when out of memory.
 */
uint32_t worker_root(struct worker *worker, const struct place_of_sample *place, uint16_t event,
		     const uint64_t *words);

/* The leaf of an answer of lookup_find() under a node; UINT32_MAX when out of memory. */
uint32_t worker_leaf(struct worker *worker, uint32_t node, uint32_t answer);

/* Adds to what the leaf has if its function is shown; false when out of memory. */
bool worker_add_pending(struct worker *worker, uint32_t leaf, const struct weight_sums *sums);

/* Counts a sample of `weight` for one event. */
struct sp_error *worker_count(struct worker *worker, const struct sp_record *record,
			      uint16_t event, uint64_t weight) SP_MUST_CHECK;

/* Counts what the counters of a sample's group counted, each for its event. */
struct sp_error *worker_count_counters(struct worker *worker,
				       const struct sp_record *record) SP_MUST_CHECK;

/* Counts the branches of a sample's branch stack for its event. */
struct sp_error *worker_count_branches(struct worker *worker,
				       const struct sp_record *record) SP_MUST_CHECK;

/* The samples that begin in `extent`, which begins at a record; damage goes to the reader. */
struct sp_error *worker_read(struct worker *worker, struct reader_extent extent) SP_MUST_CHECK;

/* Counts the samples with truncated stacks; after `repaired` is settled. */
struct sp_error *worker_count_cut(struct worker *worker) SP_MUST_CHECK;

/* Names all calls of the chains, and counts how those ended; after the last sample. */
struct sp_error *worker_resolve(struct worker *worker) SP_MUST_CHECK;

/* How the leaf's stacks ended, which must have chains; after worker_resolve(). */
enum sp_stack_end worker_stack_end(const struct worker *worker, const struct leaf *leaf);

/* Sums up rows; after all workers have resolved, and frames have labels. */
struct sp_error *worker_sum(struct worker *worker) SP_MUST_CHECK;

#endif
