/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Each record is read once, classified by its values, then moved: ring ──▶ struct record_values ──▶
 * enum route ──▶ batch, receiver, or nowhere. Only the first and the last step use the ring; waits
 * read more of a sample.
 */
#include "capture/samples/ring_filter.h"

#include <string.h>
#include "base/cleanup.h"

/* Cached results: consecutive samples are mostly of one task and one event. */
struct cached_decision {
	uint32_t pid, tid;
	uint64_t since_ns, until_ns;
	bool in;
	uint64_t ring_id, file_id; /* an event's id in the ring and in the file */
	struct dither_found period;
};

enum route {
	ROUTE_NONE,     /* drop it */
	ROUTE_BATCH,    /* add it to the batch as it is */
	ROUTE_CHANGED,  /* copy it to the batch with another id or period */
	ROUTE_RECEIVER,
};

struct decision {
	enum route route;
	bool counts; /* the sample counts for its event */
	bool kernel_only; /* its user part is not wanted */
	uint64_t id; /* id of the event in the file; 0: a helper */
};

/* -- Decisions ------------------------------------------------------------------ */

static bool is_followed(const struct membership *membership, struct cached_decision *last,
			const struct record_values *record)
{
	if (record->tid != last->tid || record->pid != last->pid || record->time_ns < last->since_ns ||
	    record->time_ns >= last->until_ns) {
		last->pid = record->pid;
		last->tid = record->tid;
		last->in = membership_find(membership, record->pid, record->tid, record->time_ns,
					   &last->since_ns, &last->until_ns);
	}
	return last->in;
}

/*
 * Returns whether the sample is of a followed task. *repeats_ret: another event has sampled the
 * same run time.
 */
static inline struct sp_error *check_double_sampling(struct double_sampling *double_sampling,
						     const struct record_values *record,
						     uint64_t period, bool *repeats_ret)
{
	bool keep = true;
	if (double_sampling && double_sampling_has(double_sampling, record->tid) &&
	    !double_sampling_sample(double_sampling, record->tid, record->cpu, record->id, period, &keep))
		return error_no_memory();
	*repeats_ret = !keep;
	return NULL;
}

/* Returns the id in the file of a record's event; 0: a helper. */
static inline uint64_t listed_id(const struct alternate_ids *alternates,
				 struct cached_decision *last, uint64_t id)
{
	if (!alternate_ids_any(alternates))
		return id;
	if (id != last->ring_id) {
		last->ring_id = id;
		last->file_id = alternate_ids_find(alternates, id);
	}
	return last->file_id;
}

static void count_filtered(struct filter_counts *counts, const struct record_values *record)
{
	counts->ended += record->pid == UINT32_MAX;
	counts->filtered += record->pid != UINT32_MAX;
}

static void count_sample(struct filter_counts *counts, const struct record_values *record)
{
	counts->samples++;
	counts->weight += record->period;
	if (!counts->first_ns || record->time_ns < counts->first_ns)
		counts->first_ns = record->time_ns;
	if (record->time_ns > counts->last_ns)
		counts->last_ns = record->time_ns;
}

static struct sp_error *decide_on_sample(struct filter *filter, struct cached_decision *last,
					 const struct ring *ring, struct record_values *record,
					 struct decision *ret)
{
	struct sp_error *error = NULL;
	enum waits_verdict wait = WAITS_OTHER;
	bool repeats = false;
	if (filter->own_pid && record->pid == filter->own_pid)
		return NULL;
	ret->id = listed_id(filter->alternates, last, record->id);
	if (filter->planned && ret->id) {
		ret->id = planned_ids_find(filter->planned, ret->id);
		filter->counts.damaged += ret->id ? 0 : record->header.size;
		if (!ret->id)
			return NULL;
	}
	if (filter->membership && !is_followed(filter->membership, last, record)) {
		if (ret->id)
			count_filtered(&filter->counts, record);
		return NULL;
	}
	if (ret->id && filter->dither && filter->dither->count)
		record->new_period = dither_find(filter->dither, ret->id, record->cpu,
						 record->time_ns, &last->period);
	if (record->new_period)
		record->period = last->period.period_ns;
	if (ret->id)
		error = check_double_sampling(filter->double_sampling, record, record->period, &repeats);
	if (!error && !repeats && filter->waits)
		error = waits_on_sample(filter->waits, ring, record, ret->id, &wait,
					&ret->kernel_only);
	filter->counts.filtered += wait == WAITS_FILTERED;
	if (error || repeats || (wait != WAITS_OTHER && wait != WAITS_UNWIND))
		return error;
	/* Samples of waits are counted when they are written. */
	ret->counts = ret->id && wait == WAITS_OTHER;
	if (ret->counts)
		count_sample(&filter->counts, record);
	ret->route = filter->receiver.receive		 ? ROUTE_RECEIVER
		     : (ret->id && ret->id != record->id) || record->new_period ? ROUTE_CHANGED
										 : ROUTE_BATCH;
	return NULL;
}

/* A thread with two events of one kind has two SWITCH records of each switch. */
static struct sp_error *decide_on_switch(struct filter *filter, const struct record_values *record,
					 struct decision *ret)
{
	bool repeats = false;
	filter->counts.switches += (record->header.misc & PERF_RECORD_MISC_SWITCH_OUT) != 0;
	if (record->time_ns > filter->counts.switch_ns)
		filter->counts.switch_ns = record->time_ns;
	struct sp_error *error = check_double_sampling(filter->double_sampling, record, 1, &repeats);
	if (error || repeats)
		return error;
	ret->route = ROUTE_BATCH;
	if (filter->schedstat && record->header.misc & PERF_RECORD_MISC_SWITCH_OUT)
		TRY(schedstat_on_switch(filter->schedstat, record->pid, record->tid));
	return filter->waits ? waits_on_switch(filter->waits, record) : NULL;
}

static void count_other(struct filter_counts *counts, const struct record_values *record)
{
	counts->lost += record->lost;
	counts->throttled += record->header.type == PERF_RECORD_THROTTLE;
	counts->reads += record->header.type == PERF_RECORD_READ;
}

static bool is_throttling(uint32_t type)
{
	return type == PERF_RECORD_THROTTLE || type == PERF_RECORD_UNTHROTTLE;
}

/* A record of an event that is not listed in the file: perf would reject it. */
static void decide_on_unlisted(struct filter *filter, const struct record_values *record,
			       struct decision *ret)
{
	uint32_t type = record->header.type;
	bool loss = type == PERF_RECORD_LOST || type == PERF_RECORD_LOST_SAMPLES;
	/* A LOST record is of the ring, whichever event found room first. */
	if (loss && !ret->id)
		ret->id = filter->alternates->first_listed;
	if (!ret->id || !(loss || is_throttling(type)))
		return;
	count_other(&filter->counts, record);
	ret->route = ROUTE_CHANGED;
}

static struct sp_error *decide(struct filter *filter, struct cached_decision *last,
			       const struct ring *ring, struct record_values *record,
			       struct decision *ret)
{
	uint32_t type = record->header.type;
	*ret = (struct decision){.route = ROUTE_NONE};
	if (type == PERF_RECORD_SAMPLE)
		return decide_on_sample(filter, last, ring, record, ret);
	/* SWITCH records are in the ring buffers that lost records. */
	if (type == PERF_RECORD_LOST && filter->waits)
		TRY(waits_on_switch(filter->waits, record));
	ret->id = listed_id(filter->alternates, last, record->id);
	if (ret->id != record->id) {
		decide_on_unlisted(filter, record, ret);
		return NULL;
	}
	if (type == PERF_RECORD_SWITCH || type == PERF_RECORD_SWITCH_CPU_WIDE)
		return decide_on_switch(filter, record, ret);
	count_other(&filter->counts, record);
	ret->route = ROUTE_BATCH;
	return NULL;
}

/* -- Routes --------------------------------------------------------------------- */

/*
 * State of a ring on its way to a batch: all records from `run` on go there, and are not added yet.
 */
struct ring_pass {
	struct ring *ring;
	struct batch *batch;
	uint64_t run;
};

/* Adds the run that ends with the record before this one. */
static struct sp_error *end_run(struct ring_pass *pass, const struct record_values *record)
{
	struct sp_error *error = batch_add_ring(pass->batch, pass->ring, pass->run, record->position);
	pass->run = record->position + record->header.size;
	return error;
}

/*
 * Copies the record and changes the copy: the ring must not be written to. It is copied as a whole, because
 * the batch may be flushed before the next span, and its sink receives whole records. A sample's ids are near
 * its beginning; in all other records the id is last.
 */
static struct sp_error *change_record(struct ring_pass *pass, const struct record_fields *fields,
				      const struct record_values *record, uint64_t id)
{
	const uint32_t type = record->header.type, size = record->header.size;
	const bool is_sample = type == PERF_RECORD_SAMPLE;
	const size_t id_at = is_sample ? fields->sample_id : size - fields->trailer_id;
	const size_t trailer_again_at = fields->trailer_id_again ? size - fields->trailer_id_again : 0;
	const size_t again_at = is_sample ? fields->sample_id_again : trailer_again_at;
	const size_t body = sizeof(record->header);
	uint8_t *copy;
	TRY(batch_copy_ring(pass->batch, pass->ring, record->position, size, &copy));
	pass->run = record->position + size;
	memcpy(copy + id_at, &id, sizeof(id));
	if (again_at)
		memcpy(copy + again_at, &id, sizeof(id));
	if (is_sample && record->new_period)
		memcpy(copy + fields->sample_period, &record->period, sizeof(record->period));
	if (type == PERF_RECORD_LOST)
		memcpy(copy + body, &id, sizeof(id));
	for (size_t i = 0; i < 2 && is_throttling(type); i++)
		memcpy(copy + body + 8 + 8 * i, &id, sizeof(id)); /* after the time */
	return NULL;
}

/* Counts a malformed sample as damaged. */
static struct sp_error *deliver_sample(struct filter *filter, const struct ring *ring,
				       const struct record_values *record, const struct decision *decision)
{
	struct sp_error *error = filter->receiver.receive(filter->receiver.arg, ring, record, decision->id);
	if (error && sp_error_code(error) == SP_ERROR_FORMAT) {
		sp_error_free(error);
		filter->counts.damaged += record->header.size;
		filter->counts.samples -= decision->counts;
		error = NULL;
	}
	return error;
}

static struct sp_error *move(struct filter *filter, struct ring_pass *pass,
			     const struct record_values *record, const struct decision *decision)
{
	struct sp_error *error = decision->route == ROUTE_BATCH ? NULL : end_run(pass, record);
	if (error)
		return error;
	switch (decision->route) {
	case ROUTE_NONE:
	case ROUTE_BATCH:
		break;
	case ROUTE_CHANGED:
		error = change_record(pass, &filter->fields, record, decision->id);
		break;
	case ROUTE_RECEIVER:
		error = deliver_sample(filter, pass->ring, record, decision);
		break;
	}
	/* Releases records early, to make room in the ring. */
	if (!error && filter->receiver.receive)
		ring_release(pass->ring, pass->run);
	return error;
}

struct sp_error *filter_ring(struct filter *filter, struct ring *ring, uint64_t end,
			     struct batch *batch)
{
	const struct filter_counts before = filter->counts;
	struct ring_pass pass = {.ring = ring, .batch = batch, .run = ring->tail};
	struct cached_decision last = {.since_ns = UINT64_MAX};
	uint64_t position = ring->tail;
	struct sp_error *error = NULL;
	if (position == end)
		return NULL;
	while (position < end && !error) {
		struct record_values record;
		struct decision decision;
		if (!record_values_read(ring, position, end, &filter->fields, &record)) {
			filter->counts.damaged += end - position;
			break;
		}
		error = decide(filter, &last, ring, &record, &decision);
		record.kernel_only = decision.kernel_only;
		if (!error)
			error = move(filter, &pass, &record, &decision);
		filter->read_ns = record.time_ns;
		position += record.header.size;
	}
	if (!error)
		error = batch_add_ring(batch, ring, pass.run, position);
	/*
	 * Estimates lost samples of the target, by its share of the neighbours in the ring; without
	 * neighbours, of all samples.
	 */
	struct filter_counts *counts = &filter->counts;
	uint64_t lost = counts->lost - before.lost;
	uint64_t kept = counts->samples - before.samples;
	uint64_t others = counts->filtered - before.filtered;
	if (lost && !kept && !others) {
		kept = counts->samples;
		others = counts->filtered;
	}
	counts->lost_own += (double)lost * (others ? (double)kept / (double)(kept + others) : 1);
	return error_first(error, batch_release(batch, ring, end));
}
