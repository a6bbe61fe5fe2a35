/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/samples/filter.h"

#include <string.h>
#include "base/cleanup.h"

/* The last answer of the membership: consecutive samples are mostly of one task. */
struct answer {
	uint64_t tid_word; /* {pid, tid} as in the ring */
	uint64_t since_ns, until_ns;
	bool in;
};

static bool is_followed(const struct filter *filter, struct answer *last, uint64_t tid_word,
			uint64_t time_ns)
{
	if (tid_word != last->tid_word || time_ns < last->since_ns || time_ns >= last->until_ns) {
		last->tid_word = tid_word;
		last->in = membership_find(filter->membership, first_u32(tid_word),
					   second_u32(tid_word), time_ns, &last->since_ns,
					   &last->until_ns);
	}
	return last->in;
}

/* Without a period, samples of an event all stand for the same count. */
static uint64_t period_of(const struct record_fields *fields, const struct ring *ring, uint64_t position)
{
	return fields->sample_period ? ring_u64(ring, position + fields->sample_period) : 1;
}

static struct sp_error *check_double_sampling(struct filter *filter, const struct ring *ring,
					      uint64_t position, uint32_t tid, bool *keep_ret)
{
	const struct record_fields *fields = &filter->fields;
	uint32_t cpu = first_u32(ring_u64(ring, position + fields->sample_cpu));
	uint64_t id = ring_u64(ring, position + fields->sample_id);
	uint64_t period = period_of(fields, ring, position);
	return double_sampling_sample(filter->double_sampling, tid, cpu, id, period, keep_ret) ? NULL
									     : error_no_memory();
}

/* Returns the id in the file of an event with `id` in the ring; 0: a helper. */
static uint64_t file_id(const struct filter *filter, uint64_t id)
{
	return alternate_ids_any(filter->alternates) ? alternate_ids_find(filter->alternates, id) : id;
}

static struct sp_error *count_sample(struct filter *filter, struct answer *last,
				     const struct ring *ring, uint64_t position, bool *keep_ret,
				     uint64_t *id_ret)
{
	const struct record_fields *fields = &filter->fields;
	struct filter_counts *counts = &filter->counts;
	uint64_t tid_word = ring_u64(ring, position + fields->sample_tid);
	uint64_t time_ns = ring_u64(ring, position + fields->sample_time);
	*keep_ret = !filter->membership || is_followed(filter, last, tid_word, time_ns);
	if (filter->own_pid && first_u32(tid_word) == filter->own_pid) {
		*keep_ret = false;
		return NULL;
	}
	*id_ret = file_id(filter, ring_u64(ring, position + fields->sample_id));
	if (!*id_ret)
		return NULL;
	if (!*keep_ret) {
		counts->ended += first_u32(tid_word) == UINT32_MAX;
		counts->filtered += first_u32(tid_word) != UINT32_MAX;
		return NULL;
	}
	uint32_t tid = second_u32(tid_word);
	if (filter->double_sampling && double_sampling_has(filter->double_sampling, tid)) {
		struct sp_error *error = check_double_sampling(filter, ring, position, tid, keep_ret);
		if (error || !*keep_ret)
			return error;
	}
	/* Samples of waits count when they are written. */
	if (filter->waits && waits_has_id(filter->waits, *id_ret))
		return NULL;
	counts->samples++;
	counts->weight += period_of(fields, ring, position);
	if (!counts->first_ns || time_ns < counts->first_ns)
		counts->first_ns = time_ns;
	if (time_ns > counts->last_ns)
		counts->last_ns = time_ns;
	return NULL;
}

/*
 * Returns whether a record's event is not listed in the file: perf would refuse it. *id_ret is the listed
 * event's id, or 0.
 */
static bool is_unlisted(const struct filter *filter, const struct ring *ring, uint64_t position,
			const struct perf_event_header *header, uint64_t *id_ret)
{
	if (!alternate_ids_any(filter->alternates) ||
	    header->size < sizeof(*header) + filter->fields.trailer_tid)
		return false;
	uint64_t id = ring_u64(ring, position + header->size - filter->fields.trailer_id);
	*id_ret = file_id(filter, id);
	return *id_ret != id;
}

static bool is_throttling(uint32_t type)
{
	return type == PERF_RECORD_THROTTLE || type == PERF_RECORD_UNTHROTTLE;
}

/* Counts a record that is no sample; all are kept. */
static void count_other(struct filter *filter, const struct ring *ring, uint64_t position,
			uint32_t type)
{
	if (type == PERF_RECORD_LOST)
		filter->counts.lost += ring_u64(ring, position + 16);
	else if (type == PERF_RECORD_LOST_SAMPLES)
		filter->counts.lost += ring_u64(ring, position + 8);
	else if (type == PERF_RECORD_THROTTLE)
		filter->counts.throttled++;
	else if (type == PERF_RECORD_READ)
		filter->counts.reads++;
}

/* Assumes that lost samples were of the target as often as their neighbours in the ring. */
static void share_losses(struct filter_counts *counts, const struct filter_counts *before)
{
	uint64_t lost = counts->lost - before->lost;
	uint64_t kept = counts->samples - before->samples;
	uint64_t others = counts->filtered - before->filtered;
	if (lost && others)
		counts->lost_own += (double)lost * (double)kept / (double)(kept + others);
	else
		counts->lost_own += (double)lost;
}

static bool is_switch(uint32_t type)
{
	return type == PERF_RECORD_SWITCH || type == PERF_RECORD_SWITCH_CPU_WIDE;
}

/* A thread with two events of one kind has two SWITCH records of each switch. */
static struct sp_error *on_switch(struct filter *filter, const struct ring *ring, uint64_t position,
				  const struct perf_event_header *header, bool *keep_ret)
{
	const struct record_fields *fields = &filter->fields;
	uint64_t end = position + header->size;
	if (header->size < sizeof(*header) + fields->trailer_tid)
		return NULL;
	uint64_t tid_word = ring_u64(ring, end - fields->trailer_tid);
	uint32_t tid = second_u32(tid_word);
	uint64_t time_ns = ring_u64(ring, end - fields->trailer_time);
	if (time_ns > filter->counts.switch_ns)
		filter->counts.switch_ns = time_ns;
	if (filter->double_sampling && double_sampling_has(filter->double_sampling, tid)) {
		uint32_t cpu = first_u32(ring_u64(ring, end - 2 * sizeof(uint64_t)));
		uint64_t id = ring_u64(ring, end - fields->trailer_id);
		if (!double_sampling_sample(filter->double_sampling, tid, cpu, id, 1, keep_ret))
			return error_no_memory();
	}
	if (!*keep_ret || !filter->waits)
		return NULL;
	return waits_add_switch(filter->waits, first_u32(tid_word), tid, time_ns, header->misc);
}

/* SWITCH records are in the ring buffers that lost records. */
static void on_lost(struct filter *filter, const struct ring *ring, uint64_t position,
		    const struct perf_event_header *header)
{
	if (filter->waits && header->size >= sizeof(*header) + filter->fields.trailer_tid)
		waits_add_lost(filter->waits,
			       ring_u64(ring, position + header->size - filter->fields.trailer_time));
}

/* Adds a sample of a wait, which is copied there, and here before if it wraps in the ring. */
static struct sp_error *on_wait(struct filter *filter, const struct ring *ring, uint64_t position,
				const struct perf_event_header *header)
{
	struct iovec spans[2];
	if (ring_spans(ring, position, position + header->size, spans) == 1)
		return waits_add_sample(filter->waits, spans[0].iov_base);
	CLEANUP_FREE uint8_t *copy = malloc(header->size);
	if (!copy)
		return error_no_memory();
	ring_copy(ring, position, header->size, copy);
	return waits_add_sample(filter->waits, copy);
}

/* Counts a malformed sample as damaged. */
static struct sp_error *deliver_sample(struct filter *filter, struct ring *ring, uint64_t position,
				       const struct perf_event_header *header, uint64_t id)
{
	struct sp_error *error = filter->receiver.receive(filter->receiver.arg, ring, position, header, id);
	if (error && sp_error_code(error) == SP_ERROR_FORMAT) {
		sp_error_free(error);
		filter->counts.damaged += header->size;
		filter->counts.samples -= id != 0;
		error = NULL;
	}
	return error;
}

/* A ring that is being read. */
struct reading {
	struct filter *filter;
	struct ring *ring;
	struct batch *batch;
	uint64_t run; /* from here on, all is to be kept and not yet added */
	struct answer last;
};

/* The largest LOST, LOST_SAMPLES or THROTTLE with all that may be behind it. */
#define ADOPTED_MAX 96

/* Told as of an event that the file lists. The ring itself is not to be written to. */
static struct sp_error *adopt(struct filter *filter, struct ring *ring, uint64_t position,
			      const struct perf_event_header *header, uint64_t id,
			      struct batch *batch)
{
	uint8_t copy[ADOPTED_MAX];
	if (header->size > sizeof(copy)) {
		filter->counts.damaged += header->size;
		return NULL;
	}
	ring_copy(ring, position, header->size, copy);
	memcpy(copy + header->size - filter->fields.trailer_id, &id, sizeof(id));
	if (filter->fields.trailer_id_again)
		memcpy(copy + header->size - filter->fields.trailer_id_again, &id, sizeof(id));
	if (header->type == PERF_RECORD_LOST)
		memcpy(copy + sizeof(*header), &id, sizeof(id));
	for (size_t i = 0; i < 2 && is_throttling(header->type); i++)
		memcpy(copy + sizeof(*header) + 8 + 8 * i, &id, sizeof(id)); /* after the time */
	return batch_add_copy(batch, copy, header->size);
}

/* Whether a sample is of another event in the file than it is in the ring. */
static bool is_renamed(const struct filter *filter, const struct ring *ring, uint64_t position,
		       uint64_t id)
{
	return alternate_ids_any(filter->alternates) &&
	       ring_u64(ring, position + filter->fields.sample_id) != id;
}

/* The header and the id, which is first, are copied; the rest stays where it is. */
static struct sp_error *rename_sample(struct reading *reading, uint64_t position,
				      const struct perf_event_header *header, uint64_t id)
{
	uint8_t begin[sizeof(*header) + sizeof(id)];
	struct sp_error *error = batch_add_ring(reading->batch, reading->ring, reading->run, position);
	memcpy(begin, header, sizeof(*header));
	memcpy(begin + sizeof(*header), &id, sizeof(id));
	reading->run = position + sizeof(begin);
	return error ? error : batch_add_copy(reading->batch, begin, sizeof(begin));
}

static struct sp_error *read_record(struct reading *reading, uint64_t position,
				    const struct perf_event_header *header)
{
	struct filter *filter = reading->filter;
	bool keep = true, take = false, wait = false, change = false, rename = false;
	uint64_t id = 0;
	struct sp_error *error = NULL;
	if (header->type == PERF_RECORD_SAMPLE) {
		error = count_sample(filter, &reading->last, reading->ring, position, &keep, &id);
		take = filter->receiver.receive && keep;
		wait = keep && !take && filter->waits && waits_has_id(filter->waits, id);
		rename = keep && !take && !wait && id && is_renamed(filter, reading->ring, position, id);
	} else {
		bool loss = header->type == PERF_RECORD_LOST ||
			    header->type == PERF_RECORD_LOST_SAMPLES;
		keep = !is_unlisted(filter, reading->ring, position, header, &id);
		/* Losses are the ring's, whoever is the first to find room again. */
		if (!keep && !id && loss)
			id = filter->alternates->first_listed;
		change = !keep && id && (loss || is_throttling(header->type));
		if (keep || change)
			count_other(filter, reading->ring, position, header->type);
		if (header->type == PERF_RECORD_LOST)
			on_lost(filter, reading->ring, position, header);
	}
	if (!error && keep && is_switch(header->type))
		error = on_switch(filter, reading->ring, position, header, &keep);
	if (!error && (!keep || take || wait)) {
		error = batch_add_ring(reading->batch, reading->ring, reading->run, position);
		reading->run = position + header->size;
	}
	if (!error && rename)
		error = rename_sample(reading, position, header, id);
	if (!error && change)
		error = adopt(filter, reading->ring, position, header, id, reading->batch);
	if (!error && take)
		error = deliver_sample(filter, reading->ring, position, header, id);
	if (!error && wait)
		error = on_wait(filter, reading->ring, position, header);
	/* Room for the next, as soon as can be. */
	if (!error && filter->receiver.receive)
		ring_release(reading->ring, reading->run);
	return error;
}

struct sp_error *filter_ring(struct filter *filter, struct ring *ring, uint64_t end,
			     struct batch *batch)
{
	const struct filter_counts before = filter->counts;
	struct reading reading = {.filter = filter, .ring = ring, .batch = batch, .run = ring->tail,
				  .last = {.since_ns = UINT64_MAX}};
	uint64_t position = ring->tail;
	struct sp_error *error = NULL;
	if (position == end)
		return NULL;
	/* A pass of its own: recordings that change nothing have no branch for it on a sample's way. */
	if (rewrite_is_needed(filter->rewrite))
		rewrite_ring(filter->rewrite, &filter->fields, ring, end);
	while (position < end && !error) {
		struct perf_event_header header;
		if (!ring_record(ring, position, end, &header)) {
			filter->counts.damaged += end - position;
			break;
		}
		error = read_record(&reading, position, &header);
		position += header.size;
	}
	if (!error)
		error = batch_add_ring(batch, ring, reading.run, position);
	share_losses(&filter->counts, &before);
	return error_first(error, batch_release(batch, ring, end));
}
