/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Samples over time: the common data of pictures and of exports that have times. */
#ifndef SPROF_TIMELINE_H
#define SPROF_TIMELINE_H

#include <sprof/analysis.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sp_timeline_thread {
	size_t recording; /* index of the recording; equal pids of two recordings are two threads */
	int32_t pid, tid;
	const char *comm; /* its last known name */
	const char *process; /* its process at last, as an outermost node of
				sp_analysis_tree.processes */
};

/* A node of sp_profile.tree. Nodes are listed in depth-first order: parents come first. */
struct sp_timeline_node {
	const struct sp_tree_node *node; /* NULL: all children that the tree leaves out */
	uint32_t parent;                 /* index; of the root: its own, 0 */
};

/*
 * Sum of the samples of one thread with one node as the end of their stack, in one time bin. In
 * modes of time, weights are those of the tree, and lie at the times at which the thread was in
 * that state. A time that lasts has a cell in each of its parts; the first counts the sample.
 */
struct sp_cell {
	uint64_t time_ns; /* begin of the bin */
	uint64_t weight;  /* sum of the samples' periods, or time in ns; saturating */
	uint32_t thread, node; /* indexes in the timeline */
	uint32_t samples; /* saturating */
};

/* Samples of one event that were lost at one time. */
struct sp_timeline_loss {
	uint64_t time_ns, lost;
};

/*
 * The samples of one event that pass the filters. Sums are exact: only times lose resolution if there
 * are more samples than sp_analysis_samples.timeline_cells.
 */
struct sp_timeline {
	uint64_t begin_ns; /* time of the recording's first sample; 0 for several recordings */
	uint64_t end_ns;   /* time of the last sample; in modes of time both include all known states */
	uint64_t width_ns; /* width of a bin; 1: each sample has its own time */
	const void *threads; /* sp_timeline_thread(): the same for all events */
	size_t thread_count;
	const void *nodes;   /* sp_timeline_node(): the first is the root */
	size_t node_count;
	const void *cells;   /* sp_timeline_cell(): in order of time, thread and node */
	size_t cell_count;
	/*
	 * sp_timeline_loss(): in order of time, of the whole recording; above 10,000, neighbours
	 * are one loss at the time of the last. Their sum may differ from sp_profile.lost: some
	 * kernels only count losses, without a time, and full rings lose other records, too.
	 */
	const void *losses;
	size_t loss_count;
	/*
	 * In modes of time: parts of the recording begin at multiples of it, and no cell's time is
	 * in two of them. If all samples pass the filters, each part has the time of the states. 0:
	 * weights are those of samples.
	 */
	uint64_t part_ns;
};

/*
 * Returns an event's timeline; NULL if sp_analysis_samples.timeline was not set. Times are of the
 * recording's clock. Several recordings have different clocks: their times are since the first sample
 * of each. Samples without a time are at 0. Branches (sp_analysis_samples.branches) have no cells.
 */
SP_API const struct sp_timeline *sp_analysis_timeline(const struct sp_analysis *analysis, size_t index);

/* Return a thread, node, cell and loss, by indexes below their counts. */
SP_API const struct sp_timeline_thread *sp_timeline_thread(const struct sp_timeline *timeline,
							   size_t index);
SP_API const struct sp_timeline_node *sp_timeline_node(const struct sp_timeline *timeline,
						       size_t index);
SP_API const struct sp_cell *sp_timeline_cell(const struct sp_timeline *timeline, size_t index);
SP_API const struct sp_timeline_loss *sp_timeline_loss(const struct sp_timeline *timeline,
						       size_t index);

/* Times in each state, in ns. */
struct sp_thread_times {
	uint64_t running_ns;  /* on a CPU */
	uint64_t runnable_ns; /* waiting for a CPU */
	uint64_t blocked_ns;  /* waiting for anything else */
	uint64_t unknown_ns;  /* records were lost */
};

/*
 * Sets ret[i] to the times that a thread of the timelines spent in each state in bin i, which begins at
 * begin_ns + i * width_ns. Returns false, and only zeros, if the states are not known, and for several
 * recordings or in SP_MODE_CPU. Time from waking to running is blocked time if wake-ups were not recorded.
 */
SP_API bool sp_analysis_state_times(const struct sp_analysis *analysis, size_t thread, uint64_t begin_ns,
				    uint64_t width_ns, size_t count, struct sp_thread_times *ret);

#ifdef __cplusplus
}
#endif
#endif
