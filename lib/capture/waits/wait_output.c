/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/waits/wait_output.h"

#include "base/bytes.h"
#include "base/error.h"

/*
 * Limit of a snapshot's weight, in intervals. Larger weights, of waits hardly longer than the
 * reading, would add more variance than they remove bias. 4 had the least error for waits of 15 to
 * 50 us that are read in 7 to 16 us.
 */
#define SNAPSHOT_WEIGHT_MAX 4

uint32_t sampled_part_at(const struct sampled_parts *parts, uint64_t time_ns)
{
	size_t count = parts->count < SAMPLED_PARTS ? parts->count : SAMPLED_PARTS;
	for (size_t i = 1; i <= count; i++) {
		const struct sampled_part *part = &parts->items[(parts->count - i) % SAMPLED_PARTS];
		if (part->from_ns <= time_ns || (i == count && parts->count > count))
			return part->each;
	}
	return 1;
}

/* Returns whether a wait shorter than `thin_ns` is written: by chance. */
static bool is_selected(const struct waiting_thread *thread, uint64_t duration_ns, uint64_t thin_ns)
{
	uint64_t hash = hash_pair(thread->tid, thread->off_ns) >> 32;
	return hash * thin_ns < duration_ns << 32;
}

/*
 * Returns the period of a wait found by a snapshot, which took `read_ns` to read. The thread was
 * off the CPU all that time: the probability to find such a wait is the rest of its duration /
 * interval.
 */
static uint64_t snapshot_period(uint64_t duration_ns, uint64_t read_ns, uint64_t interval_ns)
{
	double duration = (double)duration_ns, interval = (double)interval_ns;
	double rest = duration_ns > read_ns ? duration - (double)read_ns : 0;
	double least = duration / SNAPSHOT_WEIGHT_MAX;
	if (rest >= interval)
		return duration_ns;
	double factor = interval / (rest > least ? rest : least);
	return factor > 1 ? (uint64_t)(duration * factor + 0.5) : duration_ns;
}

/*
 * Returns the period of a wait if one of `each` switches is sampled: divided by the probability
 * that the wait is found, by its sample or by a snapshot.
 */
static uint64_t part_period(const struct matcher_options *options, uint32_t each,
			    uint64_t duration_ns, uint64_t period_ns)
{
	double sampled = 1.0 / each, late = (double)duration_ns - (double)options->snapshot_age_ns;
	double found = late / (double)MATCHER_PART_SNAPSHOT_NS(options->snapshot_age_ns);
	found = found < 0 ? 0 : found > 1 ? 1 : found;
	return (uint64_t)((double)period_ns / (sampled + (1 - sampled) * found) + 0.5);
}

bool wait_output_is_early(const struct matcher_options *options,
			  const struct waiting_thread *thread)
{
	if (!thread->held || !record_is_snapshot(thread->held) || thread->each <= 1)
		return false;
	uint64_t begin_ns = bytes_u64(thread->held + options->fields.sample_time) -
			    bytes_u64(thread->held + options->fields.sample_period);
	return begin_ns < thread->off_ns + options->snapshot_age_ns;
}

/*
 * Returns the number of marks in a preempted time, which is `part` < 1 of the threshold. A thread's
 * preempted time has one mark at random in each threshold: if functions take turns, all get their
 * part sooner than by a choice for each time.
 */
static unsigned int preempted_marks(struct waiting_thread *thread, double part)
{
	double begin = thread->preempted_part, end = begin + part;
	unsigned int marks = begin <= thread->mark && thread->mark < end;
	if (end >= 1) {
		end -= 1;
		thread->mark = (double)(hash_pair(thread->tid, thread->off_ns) >> 32) / 0x1p32;
		marks += thread->mark < end;
	}
	thread->preempted_part = end;
	return marks;
}

struct sp_error *wait_output_write(const struct wait_output *output, struct waiting_thread *thread,
				   uint64_t end_ns, uint16_t misc)
{
	const struct record_fields *fields = &output->options->fields;
	struct matcher_counts *counts = output->counts;
	struct record_buffer *to = output->to;
	uint64_t duration_ns = end_ns > thread->off_ns ? end_ns - thread->off_ns : 0;
	bool preempted = thread->state == THREAD_PREEMPTED;
	if (!duration_ns)
		return NULL;
	if (preempted)
		counts->preempted_ns += duration_ns;
	counts->waits += !preempted;
	counts->bare += !preempted && !thread->held;
	if (!thread->held || (preempted && !output->preempted->id))
		return NULL;
	bool snapshot = record_is_snapshot(thread->held), open = misc & SP_MISC_UNFINISHED;
	uint64_t thin_ns = preempted ? output->preempted->thin_ns : output->options->thin_ns;
	uint64_t period_ns = duration_ns, marks = 1;
	if (!open && wait_output_is_early(output->options, thread))
		return NULL;
	if (!snapshot && duration_ns < thin_ns) {
		marks = preempted ? preempted_marks(thread, (double)duration_ns / (double)thin_ns)
				  : is_selected(thread, duration_ns, thin_ns);
		period_ns = marks * thin_ns;
	}
	if (!marks)
		return NULL;
	if (thread->each > 1 && preempted)
		period_ns *= thread->each;
	else if (thread->each > 1 && !open)
		period_ns = part_period(output->options, thread->each, duration_ns, period_ns);
	else if (snapshot && !open)
		period_ns = snapshot_period(duration_ns,
					    bytes_u64(thread->held + fields->sample_period),
					    output->options->snapshot_ns);
	struct perf_event_header header = record_header_of(thread->held);
	NEED(vec_reserve(to, to->count + header.size));
	uint8_t *record = to->items + to->count;
	memcpy(record, thread->held, header.size);
	header.misc |= misc;
	memcpy(record, &header, sizeof(header));
	bytes_set_u64(record + fields->sample_period, period_ns);
	if (snapshot)
		bytes_set_u64(record + fields->sample_time, thread->off_ns);
	if (snapshot && thread->cpu != UINT32_MAX)
		bytes_set_u32(record + fields->sample_cpu, thread->cpu);
	if (preempted) {
		bytes_set_u64(record + fields->sample_id, output->preempted->id);
		if (fields->sample_id_again)
			bytes_set_u64(record + fields->sample_id_again, output->preempted->id);
	}
	uint64_t time_ns = bytes_u64(record + fields->sample_time);
	to->count += header.size;
	counts->written++;
	if (!counts->first_ns || time_ns < counts->first_ns)
		counts->first_ns = time_ns;
	if (time_ns > counts->last_ns)
		counts->last_ns = time_ns;
	return NULL;
}
