/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Totals of a recording for sp_capture_stats(): samples, losses, CPU time. */
#include "capture/config/plan_facts.h"
#include "capture/recorder.h"
#include "capture/samples/sample_estimate.h"
#include "record/note.h"

static uint64_t to_ns(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_usec * 1000;
}

uint64_t capture_command_ns(const struct sp_capture *capture)
{
	const struct rusage *usage = &capture->tasks.workload.usage;
	return to_ns(&usage->ru_utime) + to_ns(&usage->ru_stime);
}

/* Returns whether one event samples. Context switches may have another event. */
static bool is_alone(const struct sp_capture *capture)
{
	const struct event_plan *plan = capture->config.plan;
	return plan->sample_count == 1 ||
	       (plan->sample_count == 2 && config_switch_event(&capture->config, plan) == 1);
}

/*
 * Returns whether a single clock has sampled the whole command, so that CPU time without samples
 * was lost.
 */
static bool clock_covers_command(const struct sp_capture *capture)
{
	/* Overwritten samples, and those after a full file, are not missing. */
	return !capture->overwrite.on && !capture->out.rotation.full &&
	       capture->config.target == CAPTURE_COMMAND && capture->tasks.workload.ended &&
	       !capture->control.schedule.turned && capture->config.inherit && is_alone(capture) &&
	       attr_is_clock(&capture->config.plan->samples[0].attr);
}

/*
 * Returns the whole command's CPU time, if a single clock has sampled it; 0: not comparable. User
 * time alone is not: the kernel estimates it by ticks, and counts short processes as user time.
 */
static uint64_t used_ns(const struct sp_capture *capture)
{
	const struct perf_event_attr *attr = &capture->config.plan->samples[0].attr;
	if (!clock_covers_command(capture) || attr->exclude_user || attr->exclude_kernel)
		return 0;
	return capture_command_ns(capture);
}

/*
 * Returns the number of lost samples that were the target's. User time in ticks is better here than
 * neighbours in the buffers: a gap can be much longer than what they hold.
 */
static uint64_t lost_own(const struct sp_capture *capture, uint64_t lost, uint64_t used)
{
	const struct filter *filter = &capture->samples.filter;
	if (!filter->membership)
		return lost;
	if (!used && capture->config.plan->samples[0].attr.exclude_kernel &&
	    clock_covers_command(capture))
		used = to_ns(&capture->tasks.workload.usage.ru_utime);
	return sample_estimate_lost_own(&filter->counts, &capture->losses, used);
}

/* Counts samples in files and in the write queue; after the end, those in files. */
static uint64_t written_samples(const struct sp_capture *capture,
				const struct write_queue_counts *written)
{
	struct file_maker *maker = capture->out.rotation.maker;
	if (!capture->out.closed || !maker)
		return capture->samples.filter.counts.samples - written->unwritten -
		       written->dropped;
	pthread_mutex_lock(&maker->lock);
	uint64_t samples = maker->samples;
	pthread_mutex_unlock(&maker->lock);
	return samples;
}

const struct sp_capture_stats *sp_capture_stats(struct sp_capture *capture)
{
	const struct filter_counts *counts = &capture->samples.filter.counts;
	uint64_t end_ns = capture->end_ns ? capture->end_ns : capture_now_ns();
	uint64_t lost = sample_estimate_lost(counts, &capture->losses);
	uint64_t used = used_ns(capture);
	const struct write_queue_counts written = write_queue_counts(capture->out.write_queue);
	uint64_t samples = written_samples(capture, &written);
	const struct file_maker *maker = capture->out.rotation.maker;
	const struct durability syncs =
		maker ? durability_read(&maker->durability) : (struct durability){0};
	capture->stats = (struct sp_capture_stats){
		.samples = samples,
		.unwritten = counts->samples - written.dropped - samples,
		.shed = written.dropped,
		.lost = lost,
		.lost_own = lost_own(capture, lost, used),
		.lost_sideband = capture->tasks.tracker.counts.lost,
		.throttled = counts->throttled,
		.unattributed = counts->ended,
		.file_bytes = written.file_bytes,
		.all_file_bytes = written.all_bytes,
		.full = capture->out.rotation.full,
		.ring_bytes = ring_bank_sample_bytes(&capture->bank),
		.dump_bytes = capture->bank.overwrites ?
			capture->bank.count * ring_bank_sample_bytes(&capture->bank) : 0,
		.duration_ns = end_ns - capture->begin_ns,
		.rate_hz = plan_rate_hz(capture->config.plan),
		.used_ns = used,
		.cpu_ns = capture->tasks.workload.ended && capture->config.target == CAPTURE_COMMAND
				  ? capture_command_ns(capture)
				  : capture->tasks.used_ns,
		.sampled_ns = used ? sample_estimate_written_weight(counts, written.dropped) : 0,
		.cpu_wide = capture->config.plan->cpu_wide,
		.stacks = capture->samples.unwound.stacks,
		.syncs = syncs.syncs,
		.sync_ns = syncs.spent_ns,
		.sync_longest_ns = syncs.longest_ns,
	};
	return &capture->stats;
}

struct sp_error *capture_note_lost_own(struct sp_capture *capture, uint64_t least, bool ends)
{
	const struct note_records to = {&capture->out.extra, capture_record_time_ns(capture)};
	if (!capture->samples.filter.membership)
		return NULL;
	const struct sp_capture_stats *stats = sp_capture_stats(capture);
	uint64_t lost = stats->lost - capture->lost_before;
	/* The estimate of all may shrink. */
	uint64_t own = stats->lost_own > capture->lost_own_before
			       ? stats->lost_own - capture->lost_own_before : 0;
	if (!ends && (!lost || stats->lost < least))
		return NULL;
	capture->noted_lost = stats->lost;
	if (ends) {
		capture->lost_before = stats->lost;
		capture->lost_own_before = stats->lost_own;
	}
	return notes_write_once(&to, NOTE_OF(NOTE_LOST_OWN, NULL, lost, own < lost ? own : lost,
					     ends));
}
