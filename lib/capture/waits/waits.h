/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Recording of waits (`--off-cpu`), of their wake-ups (`--wakers`), and of blocked threads' stacks.
 * matcher.h has the definition of a wait.
 *
 * The calls of a session:
 *
 *	waits_open()       events are planned
 *	waits_begin()      events are open
 *	waits_add_threads()  when they are enabled
 *	waits_on_...()     records in the order of their ring buffers
 *	waits_round()      after each round; the last time before the last records are read
 *	waits_write()      when all records up to a time have come, and where a file ends
 *	waits_close()
 *
 * All functions belong to one thread. Those for the session accept NULL, a recording without waits,
 * and do nothing then: begin, add_threads, round, on_schedule, note_losses, close. Times are those
 * of the recording's clock, in ns. Functions fail only when out of memory, unless their description
 * has more.
 */
#pragma once

#include "capture/event_control/event_control.h"
#include "capture/tasks/tasks.h"

/* All pointers are borrowed until waits_close(). */
struct waits_options {
	struct sp_ctx *ctx;
	const struct capture_config *config; /* with the plan */
	struct event_control *control;       /* windows suspend its event of waits */
	const struct recorded_tasks *tasks;
	struct notes *notes;
	uint32_t own_pid;                    /* process to leave out; 0: none */
};

struct waits;

/*
 * *ret stays NULL if the configuration has no waits. Fails with SP_ERROR_INVALID if the event's
 * samples lack a field.
 */
struct sp_error *waits_open(const struct waits_options *options, struct waits **ret) SP_MUST_CHECK;
void waits_close(struct waits *waits);

/* Adds the events' ids. Fails as event_set_events(). */
struct sp_error *waits_begin(struct waits *waits) SP_MUST_CHECK;

/* Adds the threads that run already. Fails as tasks_list(). */
struct sp_error *waits_add_threads(struct waits *waits) SP_MUST_CHECK;

/* -- Records -------------------------------------------------------------------- */

enum waits_verdict {
	WAITS_OTHER,    /* not of a wait: record the sample */
	WAITS_UNWIND,   /* a thread leaves its CPU: unwind the stack, and pass it to waits_take() */
	WAITS_TAKEN,    /* a thread leaves its CPU: its stack was copied */
	WAITS_FILTERED, /* drop the sample: its wake-up is of a thread that is not recorded */
	WAITS_REPEATED, /* drop the sample: its wake-up has another one */
};

/*
 * Decides on a sample. `id`: its event's in the file; 0: none. *kernel_only_ret: its user registers
 * and stack are not wanted.
 */
struct sp_error *waits_on_sample(struct waits *waits, const struct ring *ring,
				 const struct record_values *record, uint64_t id,
				 enum waits_verdict *ret, bool *kernel_only_ret) SP_MUST_CHECK;

/* Moves unwound samples of waits out of a buffer of whole records: others stay in it. */
struct sp_error *waits_take(struct waits *waits, struct record_buffer *unwound) SP_MUST_CHECK;

/* Adds a SWITCH or SWITCH_CPU_WIDE record; or LOST: the kernel lost such records of any thread. */
struct sp_error *waits_on_switch(struct waits *waits,
				 const struct record_values *record) SP_MUST_CHECK;

/* Adds the begin or end of a thread. */
struct sp_error *waits_on_change(struct waits *waits,
				 const struct task_change *change) SP_MUST_CHECK;

/* Notes that events were enabled or disabled. */
struct sp_error *waits_on_schedule(struct waits *waits) SP_MUST_CHECK;

/* -- Output --------------------------------------------------------------------- */

/* Records that the caller moves to their next place, and empties. */
struct waits_made {
	struct record_buffer snapshots; /* samples with stack copies: as WAITS_UNWIND */
	struct record_buffer *names;    /* COMM records of wakers, for their samples' file */
	uint64_t round_ns;              /* time of the next round; 0: as usual */
};

/* Valid until waits_close(). */
struct waits_made *waits_made(struct waits *waits);

/*
 * Takes the snapshots that are due, adjusts the part of switches that is sampled, and sets the time
 * of the next round. `last`: takes snapshots of all waiting threads; later records prove these
 * waits.
 */
struct sp_error *waits_round(struct waits *waits, bool last) SP_MUST_CHECK;

/* Samples of waits. */
struct waits_ended {
	const uint8_t *bytes;       /* valid until the next waits_write() */
	size_t size;
	uint64_t samples;           /* their number */
	uint64_t first_ns, last_ns; /* their times; 0: none */
};

/*
 * Returns the waits that ended before `safe_ns`: all records before that time have come, or are
 * lost. `split_ns`, unless it is 0: a file ends then. It gets its part of the waits that are not
 * over, marked SP_MISC_UNFINISHED; the next file has the rest of each.
 */
struct sp_error *waits_write(struct waits *waits, uint64_t safe_ns, uint64_t split_ns,
			     struct waits_ended *ret) SP_MUST_CHECK;

/* Returns the time of the oldest sample that may still be written; UINT64_MAX: there is none. */
uint64_t waits_oldest_ns(const struct waits *waits);

/* Notes waits without stacks, and stacks that may not be read. */
struct sp_error *waits_note_losses(struct waits *waits) SP_MUST_CHECK;
