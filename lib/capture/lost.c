/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * LOST records tell of losses as soon as there is room again: not of the last ones, and of
 * all that share a ring together, be they samples that count or copies that only help. Since
 * Linux 6.0 each event knows how many samples of its own were lost, all in all. That is written at
 * the end, as perf does: LOST_SAMPLES without a time, in place of what LOST records add up to.
 */
#include "base/cleanup.h"
#include "capture/recorder.h"

static struct sp_error *add_record(struct sp_capture *capture, const struct sp_event *event,
				   uint64_t time_ns, uint64_t lost)
{
	const struct sp_record record = {
		.type = PERF_RECORD_LOST_SAMPLES,
		.id = {.time_ns = time_ns, .id = event->id_count ? event->ids[0] : 0},
		.lost = {.lost = lost},
	};
	return record_encode(&capture->out.extra, &record, &event->attr);
}

/* Reads each planned event's losses; *known_ret: the kernel counts them. */
static struct sp_error *read_events(const struct sp_capture *capture, uint64_t *lost,
				    bool *known_ret)
{
	struct sp_error *error = NULL;
	*known_ret = true;
	for (size_t i = 0; i < capture->config.plan->sample_count && !error; i++) {
		struct event_total total;
		error = event_set_read(capture->control.set, i, &total);
		if (error)
			break;
		lost[i] = total.lost;
		*known_ret &= total.lost_known;
	}
	if (!error)
		lost[0] += alternate_lost(&capture->control.alternate);
	return error;
}

/* Sums the events' losses, except lost SWITCH records: these are not samples. */
static uint64_t sum_samples(const struct event_plan *plan, const uint64_t *lost)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < plan->sample_count; i++)
		sum += plan->samples[i].attr.context_switch ? 0 : lost[i];
	return sum;
}

/* Subtracts what earlier files have reported. */
static struct sp_error *less_earlier(struct sp_capture *capture, uint64_t *lost, size_t count)
{
	struct rotation *rotation = &capture->out.rotation;
	if (!rotation->tracks)
		return NULL;
	if (!rotation->lost_before)
		rotation->lost_before = calloc(count, sizeof(*rotation->lost_before));
	if (!rotation->lost_before)
		return error_no_memory();
	for (size_t i = 0; i < count; i++) {
		uint64_t all = lost[i];
		lost[i] -= rotation->lost_before[i];
		rotation->lost_before[i] = all;
	}
	return NULL;
}

struct sp_error *capture_count_lost(struct sp_capture *capture)
{
	size_t planned = capture->config.plan->sample_count, count;
	struct rotation *rotation = &capture->out.rotation;
	uint64_t reported = capture->samples.filter.counts.lost - rotation->reported_before, lost;
	const struct sp_event *events;
	bool known;
	if (!capture->bank.was_full && !reported)
		return NULL; /* asking thousands of events takes milliseconds */
	CLEANUP_FREE uint64_t *of_event = calloc(planned, sizeof(*of_event));
	if (!of_event)
		return error_no_memory();
	struct sp_error *error = read_events(capture, of_event, &known);
	if (!error)
		error = event_set_events(capture->control.set, &events, &count);
	if (error)
		return error;
	error = less_earlier(capture, of_event, planned);
	if (error)
		return error;
	lost = known ? sum_samples(capture->config.plan, of_event) : 0;
	uint64_t at_end = lost > reported ? lost - reported : 0;
	capture->lost_at_end += at_end;
	capture->lost_alternate += known && lost < reported ? reported - lost : 0;
	rotation->reported_before = capture->samples.filter.counts.lost;
	if (!known)
		return at_end ? add_record(capture, &events[0], capture_record_time_ns(capture), at_end)
			      : NULL;
	/* Zeros, too, if LOST records report losses: they correct these. */
	for (size_t i = 0; i < planned && !error; i++)
		if (of_event[i] || reported)
			error = add_record(capture, &events[i], 0, of_event[i]);
	return error;
}
