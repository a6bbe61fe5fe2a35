/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The scheduler's account of a task, and its comparison with the states that the library reads. */
#ifndef SIM_STATES_H
#define SIM_STATES_H

#include "tests/thread_lives.h"
#include "found.h"

/* Records of one moment have different times: of each event that gets one. */
#define SIM_SWITCH_NS 32
#define SIM_LIFE_NS 1000

struct sim_account {
	uint64_t running_ns, runnable_ns, blocked_ns;
	uint64_t switches;
};

/*
 * Returns the state that a span has in a file from `from_ns` on. A thread that waits for a CPU when
 * its events are opened, or a file begins, counts as blocked.
 */
enum sim_state sim_state_in(const struct sim_task *task, const struct sim_span *span,
			    uint64_t from_ns);

/* Returns the task's account of a range of a file's time. */
struct sim_account sim_account_of(const struct sim_task *task, const struct sp_time_span *file,
				  const struct sp_time_span *range);

/* Whether all switches of the task since sim_result.begin_ns, and its begin, have records. */
bool sim_is_comparable(const struct sim_task *task);

/* Whether the time `span` of a file has the thread's states. */
bool sim_is_known(const struct thread_life *thread, const struct sp_time_span *span);

/* Checks the states in a range of the time `span` of a file, in which all events were enabled. */
void sim_check_thread(const struct thread_life *thread, const struct sp_time_span *span,
		      const struct sp_time_span *range, bool lost);

/* Reads the threads of a file; NULL: that failed. */
struct thread_lives *sim_read_threads(struct sp_ctx *ctx, const char *path,
				    const struct sim_inode *inode, const struct sp_filter *filter);

/* ranges.c: checks states and reports of random ranges of the time `span` of a file. */
void sim_check_ranges(struct sp_ctx *ctx, const char *path, const struct sim_inode *inode,
		      const struct sp_time_span *span, bool lost);

#endif
