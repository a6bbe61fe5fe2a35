/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Moves samples from the rings to a batch: walks the records, counts them, and selects those of the
 * followed tasks. Consecutive selected records stay one span of the ring.
 */
#pragma once

#include "capture/event_control/alternate_ids.h"
#include "capture/event_control/dither.h"
#include "capture/tasks/double_sampling.h"
#include "capture/tasks/membership.h"
#include "capture/tasks/schedstat.h"
#include "capture/ring_bank/record_offsets.h"
#include "capture/output/batch.h"
#include "capture/samples/planned_ids.h"
#include "capture/waits/waits.h"

/* Counts of records; all only grow. */
struct filter_counts {
	uint64_t samples;   /* kept */
	uint64_t weight;    /* the sum of their periods; without fields.sample_period: their count */
	uint64_t filtered;  /* samples of tasks that are not followed, or wake-ups of such tasks */
	uint64_t ended;     /* samples without pid: their tasks had ended */
	uint64_t lost;      /* by LOST and LOST_SAMPLES records, of all processes */
	double lost_own;    /* estimate of the target's part, by its share of the neighbours */
	uint64_t throttled; /* THROTTLE records */
	uint64_t reads;     /* READ records: counts of tasks that ended */
	uint64_t damaged;   /* bytes of records with an impossible size, or of an unknown event */
	uint64_t first_ns, last_ns; /* times of kept samples; 0: none */
	uint64_t switches;    /* SWITCH records of threads that leave a CPU */
	uint64_t switch_ns;   /* latest time of SWITCH records; 0: none */
};

/* Receives the samples from the ring, in place of the batch. */
struct sample_receiver {
	/*
	 * `id`: of the event that counts it; 0: a helper, not counted. The record may be released
	 * when the function returns. SP_ERROR_FORMAT: the sample is damaged, and dropped.
	 */
	struct sp_error *(*receive)(void *arg, const struct ring *ring, const struct record_values *record,
				    uint64_t id);
	void *arg;
};

struct filter {
	const struct membership *membership; /* NULL: all are followed */
	struct double_sampling *double_sampling;               /* NULL: none */
	uint32_t own_pid;                    /* process to leave out; 0: none */
	struct sample_receiver receiver;     /* NULL: all samples go to the batch; needs
					      * batch.copy_all */
	/*
	 * Helpers report losses of the ring; they are counted for its first planned event. NULL:
	 * none.
	 */
	const struct alternate_ids *alternates;
	const struct planned_ids *planned; /* NULL: samples have the ids of their events */
	const struct dither *dither; /* periods of samples that state another one. NULL: none */
	struct waits *waits; /* NULL: none */
	struct schedstat *schedstat; /* gets the threads of SWITCH records. NULL: none */
	struct record_fields fields;
	struct filter_counts counts;
	uint64_t read_ns; /* time of the last record that filter_ring() read */
};

/*
 * Adds the ring's records before `end` to the batch, which releases them when it is flushed. With a
 * receiver, they are copied and released at once. The membership must know all side-band up to
 * then.
 */
struct sp_error *filter_ring(struct filter *filter, struct ring *ring, uint64_t end,
			     struct batch *batch) SP_MUST_CHECK;
