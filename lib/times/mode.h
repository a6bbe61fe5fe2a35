/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Modes of an analysis in which weights are time of threads by their state (enum sp_mode). Samples are
 * counted by strata. A stratum is a thread's on-CPU samples (in latency mode: those with one number of
 * threads that could run), or its samples of waits with durations of one class. When all samples are counted,
 * a stratum's samples are scaled so that they sum to the time that it stands for (mode_times.h).
 * With a clock that excludes the kernel, they stand for the time in user code.
 */
#ifndef TIMES_MODE_H
#define TIMES_MODE_H

#include <sprof/reader.h>
#include "base/hash.h"
#include "base/vec.h"
#include "profile/options.h"
#include "profile/state_sums.h"
#include "states/sched_samples.h"
#include "states/task_states.h"

/* Meaning of an event's samples in a mode. */
enum event_role {
	ROLE_NONE,   /* not counted */
	ROLE_ON_CPU, /* distributes on-CPU time, and the time in which threads were preempted */
	ROLE_WAIT,   /* a wait; its period is the time in ns */
	ROLE_SWITCH, /* a thread leaves a CPU; the states have the length of the wait */
	ROLE_WAKE,   /* a wake-up; the states have the length of the wait that it ended */
};

/* Names of events with ROLE_WAIT; the first is perf's and ours. */
#define MODE_WAIT_EVENT "offcpu-time"

/* No lifetime of the states: the thread's states are not known. */
#define LIFETIME_NONE UINT32_MAX

/* One sample, as the mode counts it. Zeroed in SP_MODE_CPU. */
struct mode_sample {
	uint32_t lifetime; /* index of the thread's lifetime in the states, or LIFETIME_NONE */
	uint32_t stratum;  /* on-CPU samples: threads that could run (latency), else 0; waits: number of the
			    * system call plus 1, or 0 */
	uint64_t weight;
	bool is_wait;
	uint32_t wait_class; /* waits of a lifetime: mode_wait_class() or MODE_WAIT_UNMATCHED; else 0 */
	double waits;      /* number of waits that the sample stands for */
	uint64_t wait_ns;  /* duration of the wait */
	double variance;   /* variance of the weight by thinning, in ns² */
	uint64_t wait_end_ns; /* 0: unknown */
	bool wait_open;    /* the wait had not ended when the recording ended */
	struct sched_wake wake; /* ROLE_WAKE; else tid 0 */
	uint32_t woken_pid; /* ROLE_WAKE: pid of the woken thread, or its tid if that is unknown */
	uint64_t delay_ns; /* ROLE_WAKE: from wake-up to running */
};

struct mode {
	enum sp_mode kind;
	const struct task_states *states; /* borrowed; NULL: switches were not recorded */
	const struct task_states *tasks; /* borrowed; has pids in any case; NULL: records have no times */
	const struct sched_samples *sched; /* borrowed */
	uint8_t *roles;     /* enum event_role by event */
	size_t event_count;
	uint16_t any_event; /* an event with a role */
	bool is_clock;      /* weights of on-CPU samples are ns */
	bool user_only;     /* the clock excludes the kernel, and its samples stand for time in user code */
	bool of_tasks;      /* the event counts in tasks: its timer stops while a thread does not run */
	uint64_t period;    /* weight of on-CPU samples that do not state it; of clocks in ns */
	bool is_thinned;    /* samples of switches are a part of them */
	bool latency;       /* strata are by the number of threads that could run */
	bool by_lifetime;   /* strata are scaled to the threads' times; else weights stay as they are */
};

/* Returns the mode's name, a constant; NULL for SP_MODE_CPU. */
const char *mode_name(enum sp_mode mode);

/*
 * Sets roles_ret[i] to the role (enum event_role) of each event of a recording. The on-CPU event is the one
 * named by `samples`; NULL: the first clock, else the first hardware event with samples. Wake-ups are those
 * of sched_waking, because it happens where the waker runs, else of sched_wakeup.
 */
void mode_roles(const struct sp_reader *reader, const struct sp_analysis_samples *samples,
		uint8_t *roles_ret);

/* A recording, as modes need it. Borrowed. */
struct mode_source {
	const struct sp_reader *reader;
	const struct task_states *states; /* NULL: records have no times */
	const struct sched_samples *sched;
};

/*
 * Initializes the mode of a recording. Fails if the recording lacks records that the mode needs; the message
 * names them, and the command that records them. `wakers`: a key needs wake-ups.
 */
struct sp_error *mode_init(struct mode *mode, const struct mode_source *source,
			   const struct analysis_options *options, bool wakers) SP_MUST_CHECK;
void mode_deinit(struct mode *mode);

/* Returns the error of a recording without switches; `what`: the mode or key that needs them. */
struct sp_error *mode_no_switches(const struct sp_reader *reader, const char *what);

/* Sets how a sample counts in the mode. Returns false if it does not count. Thread-safe. */
bool mode_sample(const struct mode *mode, const struct sp_record *record, struct mode_sample *ret);

/* Sums of the samples of a stratum, or of another key. */
struct mode_weight {
	uint64_t key; /* mode_stratum_key(), if it is a stratum */
	uint64_t weight;
	double waits; /* number of waits that the samples stand for */
	double variance; /* variance of the weight by thinning, in ns² */
};

/* Weights by stratum. A zeroed struct is empty. */
struct mode_weights {
	VEC(struct mode_weight);
	struct u64map index_of; /* key -> index */
};

void mode_weights_deinit(struct mode_weights *weights);

/* Adds to the sums of the stratum with the key `from->key`. Returns false when out of memory. */
bool mode_weights_add(struct mode_weights *weights, const struct mode_weight *from);

/* Class of samples without a known wait, because records lack its switch. */
#define MODE_WAIT_UNMATCHED 257
#define MODE_WAIT_CLASSES (MODE_WAIT_UNMATCHED + 1)

/*
 * Returns the class of a duration, from 1 to MODE_WAIT_UNMATCHED - 1: four for each power of 2. Waits of a
 * thread are scaled by class: switches give the exact time of each class. Snapshots do not find a woken
 * thread that waits for a CPU, which matters most for short waits.
 */
static inline uint32_t mode_wait_class(uint64_t ns)
{
	if (ns < 4)
		return 1 + (uint32_t)ns;
	uint32_t power = 63 - (uint32_t)__builtin_clzll(ns);
	return 1 + power * 4 + ((ns >> (power - 2)) & 3);
}

/* Returns the key of a stratum; of waits, `stratum` is the class. */
static inline uint64_t mode_stratum_key(uint32_t lifetime, bool is_wait, uint32_t stratum)
{
	return (uint64_t)lifetime << 32 | stratum << 1 | is_wait;
}

#endif
