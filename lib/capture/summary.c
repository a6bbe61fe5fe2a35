/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Totals of a recording, its losses, and their causes. */
#include <stdio.h>
#include "base/cleanup.h"
#include "capture/config/plan_facts.h"
#include "capture/recorder.h"
#include "capture/samples/sample_estimate.h"
#include "capture/samples/unwind_notes.h"
#include "record/note.h"

/* A smaller share of the CPU time in samples gets a note. */
#define COVERED_ENOUGH 0.93
#define MISSING_NS 30000000

static uint64_t to_ns(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_usec * 1000;
}

static uint64_t command_ns(const struct sp_capture *capture)
{
	const struct rusage *usage = &capture->tasks.workload.usage;
	return to_ns(&usage->ru_utime) + to_ns(&usage->ru_stime);
}

/* Whether one event is sampled; another may have the context switches. */
static bool is_alone(const struct sp_capture *capture)
{
	const struct event_plan *plan = capture->config.plan;
	return plan->sample_count == 1 ||
	       (plan->sample_count == 2 && config_switch_event(&capture->config, plan) == 1);
}

/* Whether a single clock has sampled the whole command: CPU time without samples was lost. */
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
	return command_ns(capture);
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

/* Samples that are in files or on their way there; once all are closed, those in the files. */
static uint64_t written_samples(const struct sp_capture *capture, const struct write_queue_counts *written)
{
	struct file_maker *maker = capture->out.rotation.maker;
	if (!capture->out.closed || !maker)
		return capture->samples.filter.counts.samples - written->unwritten - written->dropped;
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
		.used_ns = used,
		.cpu_ns = capture->tasks.workload.ended && capture->config.target == CAPTURE_COMMAND
				  ? command_ns(capture)
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

static bool was_online(const struct sp_capture *capture, uint32_t cpu)
{
	for (size_t i = 0; i < capture->config.online.count; i++)
		if (capture->config.online.items[i] == cpu)
			return true;
	return false;
}

static struct sp_error *note_new_cpus(struct sp_capture *capture)
{
	struct cpu_list online = {0};
	struct sp_error *error = sysfs_cpus_online(capture->ctx, &online);
	for (size_t i = 0; i < online.count && !error; i++)
		if (!was_online(capture, online.items[i]))
			error = notes_add(&capture->out.notes, NOTE_CPU_NEW, NULL, online.items[i]);
	vec_deinit(&online);
	return error;
}

/*
 * An inherited event begins with a whole period, so of each task that was made
 * meanwhile up to a period is not in the samples; and no more than what the events have
 * counted in all beyond it. A clock counts the kernel's time, too, where only the user's is sampled.
 */
static uint64_t unsampled_most_ns(const struct sp_capture *capture)
{
	uint64_t period_ns = capture->config.plan->freq_hz ? 1000000000 / capture->config.plan->freq_hz : 0;
	uint64_t most_ns = capture->tasks.tracker.counts.followed_forks * period_ns;
	uint64_t sampled_ns = capture->samples.filter.counts.weight;
	struct event_total total;
	if (capture->config.plan->cpu_wide || !most_ns ||
	    !attr_is_clock(&capture->config.plan->samples[0].attr))
		return capture->config.plan->cpu_wide ? 0 : most_ns;
	CLEANUP(cleanup_sp_error_free) struct sp_error *error = event_set_read(capture->control.set,
									       0, &total);
	if (error)
		return most_ns;
	/* The weight is no time if an event's samples have no period. */
	if (!capture->samples.filter.fields.sample_period)
		return 0;
	uint64_t counted_ns = total.value + alternate_counted(&capture->control.alternate);
	uint64_t missing_ns = counted_ns > sampled_ns ? counted_ns - sampled_ns : 0;
	return missing_ns < most_ns ? missing_ns : most_ns;
}

/* Other processes ran with the command, for more than a tenth of its time. */
static bool shared_cpus(const struct filter_counts *counts)
{
	return counts->filtered > counts->samples / 10;
}

static enum note_uncovered why_uncovered(const struct sp_capture *capture,
					 const struct sp_capture_stats *stats)
{
	if (stats->lost_sideband)
		return UNCOVERED_LOST_METADATA;
	if (stats->shed)
		return UNCOVERED_DROPPED;
	if (stats->lost_own)
		return UNCOVERED_LOST;
	if (stats->throttled)
		return UNCOVERED_RATE;
	if (stats->cpu_wide)
		return shared_cpus(&capture->samples.filter.counts) ? UNCOVERED_SHARED_CPUS
								    : UNCOVERED_PAUSED;
	return capture->tasks.tracker.counts.followed_forks ? UNCOVERED_SHORT_TASKS : UNCOVERED_RATE;
}

/* Samples that never were, where they matter. */
static struct sp_error *note_uncovered(struct sp_capture *capture,
				       const struct sp_capture_stats *stats)
{
	uint64_t most_ns = unsampled_most_ns(capture), sampled_ns = capture->samples.filter.counts.weight;
	/* Switches give the CPU time of tasks without samples. */
	if (capture->overwrite.on || capture->config.switches)
		return NULL;
	if (!stats->used_ns && attr_is_clock(&capture->config.plan->samples[0].attr) &&
	    most_ns > MISSING_NS &&
	    (double)most_ns > (1 - COVERED_ENOUGH) * (double)(most_ns + sampled_ns))
		return notes_add(&capture->out.notes, NOTE_UNCOVERED_TASKS, NULL, most_ns,
			    capture->tasks.tracker.counts.followed_forks,
			    rights_cpu_wide(&capture->config.rights));
	double share = stats->used_ns ? (double)stats->sampled_ns / (double)stats->used_ns : 1;
	if (share >= COVERED_ENOUGH || stats->used_ns - stats->sampled_ns < MISSING_NS)
		return NULL;
	return notes_add(&capture->out.notes, NOTE_UNCOVERED, NULL, (uint64_t)(1000 * share), stats->used_ns,
			    why_uncovered(capture, stats), rights_cpu_wide(&capture->config.rights));
}

static struct sp_error *note_unwound(struct sp_capture *capture)
{
	uint32_t planned = capture->config.plan->samples[0].attr.sample_stack_user;
	uint32_t larger = capture->control.alternate.large.stack_bytes;
	return unwind_notes_add(&capture->samples.unwound, &capture->config.graph,
				larger > planned ? larger : planned, &capture->out.notes);
}

static struct sp_error *note_dropped(struct sp_capture *capture)
{
	const struct write_queue_counts counts = write_queue_counts(capture->out.write_queue);
	struct sp_error *error = NULL;
	if (counts.dropped)
		error = notes_add(&capture->out.notes, NOTE_DROPPED, NULL, counts.dropped,
				     capture->samples.filter.counts.samples, RECORDING_QUEUE_BYTES >> 20);
	if (!error && counts.waits)
		error = notes_add(&capture->out.notes, NOTE_STALLED, NULL, counts.waits,
				     RECORDING_QUEUE_BYTES >> 19);
	return error;
}

static struct sp_error *note_modules(struct sp_capture *capture)
{
	return !capture->out.dsos.full ? NULL
	       : notes_add(&capture->out.notes, NOTE_BUILD_IDS_LIMITED, NULL,
			   capture->out.dsos.index.count);
}

static struct sp_error *note_held(struct sp_capture *capture)
{
	metadata_hold_finish(&capture->hold);
	const struct hold_counts *counts = &capture->hold.counts;
	struct sp_error *error = NULL;
	if (counts->dropped)
		error = notes_add(&capture->out.notes, NOTE_RECORDS_DROPPED, NULL, counts->dropped,
				  capture->hold.rate);
	if (!error && counts->deferred > counts->read)
		error = notes_add(&capture->out.notes, NOTE_MAPS_DEFERRED, NULL,
				  counts->deferred - counts->read);
	return error;
}

/*
 * From Linux 5.13 until 6.19 (and the stable kernels that took its mend), the kernel forgets who
 * ends before it writes what that one counted.
 */
static struct sp_error *note_uncounted(struct sp_capture *capture)
{
	if (!capture->config.plan->samples[0].attr.inherit_stat || !capture->tasks.workload.ended ||
	    capture->samples.filter.counts.reads || !capture->tasks.tracker.counts.followed_forks)
		return NULL;
	return notes_add(&capture->out.notes, NOTE_THREAD_COUNTS_MISSING, NULL,
			    capture->tasks.tracker.counts.followed_forks);
}

/* Reads of processes and files that took too long. */
static struct sp_error *note_left(struct sp_capture *capture)
{
	const struct proxies_counts counts = proxies_counts(ctx_proxies(capture->ctx));
	uint64_t pid = counts.first_key <= UINT32_MAX ? counts.first_key : 0;
	return counts.left ? notes_add(&capture->out.notes, NOTE_READS_LEFT, NULL, counts.left,
				       counts.refused, pid) : NULL;
}

/*
 * CPU time of the command and its descendants for which it waited. Events of tasks and their
 * switches show less, because the kernel ends them before the task's memory is freed.
 */
static struct sp_error *note_command_time(struct sp_capture *capture)
{
	const struct capture_config *config = &capture->config;
	if (config->target != CAPTURE_COMMAND || !capture->tasks.workload.ended ||
	    !config->switches || config->plan->cpu_wide || !config->inherit ||
	    capture->overwrite.on || capture->out.rotation.full || capture->control.schedule.turned)
		return NULL;
	return notes_add(&capture->out.notes, NOTE_COMMAND_TIME, NULL, command_ns(capture));
}

static struct sp_error *note_command_lines(struct sp_capture *capture)
{
	const struct command_lines *lines = &capture->command_lines;
	return !lines->on ? NULL
	       : notes_add(&capture->out.notes, NOTE_COMMAND_LINES, NULL, lines->read, lines->gone,
			   lines->truncated, lines->left_out);
}

static struct sp_error *note_loss_phases(struct sp_capture *capture)
{
	const struct loss_phases *phases = &capture->loss_phases;
	uint64_t all = capture_lost_now(capture);
	uint64_t stopped = phases->stopped > phases->attached ? phases->stopped : phases->attached;
	return notes_add(&capture->out.notes, NOTE_LOST_PHASES, NULL, phases->attached,
			 stopped - phases->attached, all > stopped ? all - stopped : 0);
}

/* Adds the notes that are known only at the end. */
struct sp_error *capture_note_end(struct sp_capture *capture)
{
	struct notes *notes = &capture->out.notes;
	uint64_t helpers = capture->losses.alternate;
	TRY(note_new_cpus(capture));
	const struct sp_capture_stats *stats = sp_capture_stats(capture);
	TRY(note_left(capture));
	TRY(note_unwound(capture));
	TRY(note_dropped(capture));
	TRY(waits_note_losses(capture->samples.waits));
	TRY(note_modules(capture));
	TRY(note_held(capture));
	TRY(note_uncounted(capture));
	TRY(note_command_time(capture));
	TRY(note_command_lines(capture));
	if (helpers && capture->control.alternate.ids.map.count)
		TRY(notes_add(notes, NOTE_LOST_HELPERS, NULL, capture->samples.filter.counts.lost,
			      helpers));
	if (capture->samples.filter.membership && stats->lost)
		TRY(notes_add(notes, NOTE_LOST_OWN, NULL, stats->lost, stats->lost_own));
	if (stats->lost || stats->lost_sideband)
		TRY(notes_add(notes, NOTE_RING_SIZE, NULL, stats->ring_bytes));
	if (stats->lost)
		TRY(note_loss_phases(capture));
	return note_uncovered(capture, stats);
}
