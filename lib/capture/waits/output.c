/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/waits/output.h"

#include "base/bytes.h"
#include "base/error.h"

/*
 * Limit of a snapshot's weight, in intervals. Larger weights, of waits hardly longer than the reading, would
 * add more variance than they remove bias. 4 had the least error for waits of 15 to 50 us that are read in
 * 7 to 16 us.
 */
#define SNAPSHOT_WEIGHT_MAX 4

/* Whether a wait that long is written, if only `thin_ns` or longer ones always are. */
static bool is_selected(const struct waiting_thread *thread, uint64_t duration_ns, uint64_t thin_ns)
{
	uint64_t hash = hash_pair(thread->tid, thread->off_ns) >> 32;
	return duration_ns >= thin_ns || hash * thin_ns < duration_ns << 32;
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

struct sp_error *wait_output_write(const struct wait_output *output, const struct waiting_thread *thread,
				   uint64_t end_ns, uint16_t misc)
{
	const struct record_fields *fields = &output->options->fields;
	struct matcher_counts *counts = output->counts;
	struct record_buffer *to = output->to;
	uint64_t duration_ns = end_ns > thread->off_ns ? end_ns - thread->off_ns : 0;
	if (!duration_ns)
		return NULL;
	counts->waits++;
	counts->bare += !thread->held;
	if (!thread->held)
		return NULL;
	bool snapshot = record_is_snapshot(thread->held);
	uint64_t thin_ns = output->options->thin_ns, period_ns = duration_ns;
	if (!snapshot && !is_selected(thread, duration_ns, thin_ns))
		return NULL;
	if (!snapshot && duration_ns < thin_ns)
		period_ns = thin_ns;
	if (snapshot && !(misc & SP_MISC_UNFINISHED))
		period_ns = snapshot_period(duration_ns, bytes_u64(thread->held + fields->sample_period),
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
	uint64_t time_ns = bytes_u64(record + fields->sample_time);
	to->count += header.size;
	counts->written++;
	if (!counts->first_ns || time_ns < counts->first_ns)
		counts->first_ns = time_ns;
	if (time_ns > counts->last_ns)
		counts->last_ns = time_ns;
	return NULL;
}
