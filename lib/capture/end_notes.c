/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Notes that are known only when a recording ends: losses and their causes, CPU time without
 * samples, and limits of what was read about processes.
 */
#include <math.h>
#include "base/cleanup.h"
#include "capture/config/plan_facts.h"
#include "capture/recorder.h"
#include "capture/samples/unwind_notes.h"
#include "record/note.h"

/* Least share of CPU time in samples without a note. */
#define COVERED_ENOUGH 0.93
#define MISSING_NS 30000000

/* Error of a process's CPU time since a begin: user and system time in ticks of 10 ms. */
#define TICKS_ERROR_NS 20000000

static bool was_online(const struct sp_capture *capture, uint32_t cpu)
{
	vec_each (item, &capture->config.online)
		if (*item == cpu)
			return true;
	return false;
}

/*
 * An inherited event begins with a whole period. So up to a period of each new task is not sampled;
 * and in all no more than the events' counts exceed the samples. A clock counts kernel time, too,
 * even if only user time is sampled.
 */
static uint64_t unsampled_most_ns(const struct sp_capture *capture)
{
	uint64_t rate_hz = plan_rate_hz(capture->config.plan);
	uint64_t period_ns = rate_hz ? 1000000000 / rate_hz : 0;
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

/* Returns whether the CPUs gave over a tenth as many samples of other tasks as of the target. */
static bool has_others_samples(const struct filter_counts *counts)
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
		return has_others_samples(&capture->samples.filter.counts) ? UNCOVERED_SHARED_CPUS
									   : UNCOVERED_PAUSED;
	return capture->tasks.tracker.counts.followed_forks ? UNCOVERED_SHORT_TASKS
							    : UNCOVERED_RATE;
}

/* Notes CPU time without samples if it is large. */
static struct sp_error *note_uncovered(struct sp_capture *capture,
				       const struct sp_capture_stats *stats)
{
	uint64_t most_ns = unsampled_most_ns(capture);
	uint64_t sampled_ns = capture->samples.filter.counts.weight;
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
	return notes_add(&capture->out.notes, NOTE_UNCOVERED, NULL, 1000 * share, stats->used_ns,
			 why_uncovered(capture, stats), rights_cpu_wide(&capture->config.rights));
}

static struct sp_error *note_dropped(struct sp_capture *capture)
{
	const struct write_queue_counts counts = write_queue_counts(capture->out.write_queue);
	struct sp_error *error = NULL;
	if (counts.dropped)
		error = notes_add(&capture->out.notes, NOTE_DROPPED, NULL, counts.dropped,
				     capture->samples.filter.counts.samples,
				     RECORDING_QUEUE_BYTES >> 20);
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
 * Linux 5.13 to 6.19, without the fix in stable kernels, drops an ended task before it writes the
 * task's count.
 */
static struct sp_error *note_uncounted(struct sp_capture *capture)
{
	if (!capture->config.plan->samples[0].attr.inherit_stat || !capture->tasks.workload.ended ||
	    capture->samples.filter.counts.reads || !capture->tasks.tracker.counts.followed_forks)
		return NULL;
	return notes_add(&capture->out.notes, NOTE_THREAD_COUNTS_MISSING, NULL,
			    capture->tasks.tracker.counts.followed_forks);
}

/*
 * Returns at least the CPU time that processes given by pid used while they were recorded; 0:
 * unknown. It was read by ticks, from before the begin until after the end.
 */
static uint64_t processes_ns(const struct sp_capture *capture)
{
	const struct recorded_tasks *tasks = &capture->tasks;
	double part = (double)(capture->end_ns - capture->begin_ns) / (double)tasks->during_ns;
	double ns = (double)tasks->used_ns * fmin(part, 1) -
		    (double)(tasks->roots.count * TICKS_ERROR_NS);
	return tasks->during_ns && ns > 0 ? ns : 0;
}

/*
 * CPU time of the command and its descendants for which it waited, or of processes given by pid.
 * Events of tasks and their switches show less of a command, because the kernel ends them before
 * the task's memory is freed. Samples of CPUs show less if their timers are late: while interrupts
 * are disabled, and another thread may run then.
 */
static struct sp_error *note_command_time(struct sp_capture *capture)
{
	const struct capture_config *config = &capture->config;
	bool some_cpus = config->plan->cpu_wide && config->cpus.count < config->online.count;
	uint64_t ns = 0;
	if (!config->inherit || some_cpus || capture->overwrite.on || capture->out.rotation.full ||
	    capture->control.schedule.turned)
		return NULL;
	if (config->target == CAPTURE_COMMAND && capture->tasks.workload.ended)
		ns = capture_command_ns(capture);
	else if (config->target == CAPTURE_PROCESSES && config->plan->cpu_wide &&
		 !config->threads_only)
		ns = processes_ns(capture);
	return ns ? notes_add(&capture->out.notes, NOTE_COMMAND_TIME, NULL, ns) : NULL;
}

/* Notes descendants that change the answer: they used at least a tenth of the target's time. */
static struct sp_error *note_unrecorded(struct sp_capture *capture)
{
	const struct recorded_tasks *tasks = &capture->tasks;
	uint64_t count = 0, ns = 0;
	if (capture->config.target != CAPTURE_PROCESSES || !capture->config.inherit ||
	    capture->config.threads_only)
		return NULL;
	vec_each (process, &tasks->unrecorded) {
		count += process->cpu_ns > 0;
		ns += process->cpu_ns;
	}
	if (!ns || ns < tasks->used_ns / 10)
		return NULL;
	return notes_add(&capture->out.notes, NOTE_UNRECORDED, NULL, count, ns, tasks->used_ns);
}

static struct sp_error *note_loss_phases(struct sp_capture *capture)
{
	const struct loss_phases *phases = &capture->loss_phases;
	uint64_t all = phases->ended;
	uint64_t stopped = phases->stopped > phases->attached ? phases->stopped : phases->attached;
	return notes_add(&capture->out.notes, NOTE_LOST_PHASES, NULL, phases->attached,
			 stopped - phases->attached, all > stopped ? all - stopped : 0);
}

/* Notes how long context switches were recorded: threads that never ran have no record. */
static struct sp_error *note_recorded(struct sp_capture *capture)
{
	uint64_t now_ns = capture_now_ns(), record_ns = capture_record_time_ns(capture);
	bool is_command = capture->config.target == CAPTURE_COMMAND;
	if (!capture->config.switches || capture->overwrite.on || !capture->end_ns)
		return NULL;
	return notes_add(&capture->out.notes, NOTE_RECORDED, NULL,
			 is_command ? 0 : record_ns - (now_ns - capture->begin_ns),
			 record_ns - (now_ns - capture->end_ns));
}

struct sp_error *capture_note_end(struct sp_capture *capture)
{
	struct notes *notes = &capture->out.notes;
	uint64_t helpers = capture->losses.not_counting;
	struct cpu_list online = {0};
	TRY(sample_path_finish(&capture->samples));
	struct sp_error *error = sysfs_cpus_online(capture->ctx, &online);
	for (size_t i = 0; i < online.count && !error; i++)
		if (!was_online(capture, online.items[i]))
			error = notes_add(&capture->out.notes, NOTE_CPU_NEW, NULL, online.items[i]);
	vec_deinit(&online);
	TRY(error);
	const struct sp_capture_stats *stats = sp_capture_stats(capture);
	/* Notes reads of processes and files that took too long. */
	const struct proxies_counts counts = proxies_counts(ctx_proxies(capture->ctx));
	uint64_t pid = counts.first_key <= UINT32_MAX ? counts.first_key : 0;
	TRY(counts.left ? notes_add(&capture->out.notes, NOTE_READS_LEFT, NULL, counts.left,
				    counts.refused, pid)
			: NULL);
	uint32_t planned = capture->config.plan->samples[0].attr.sample_stack_user;
	uint32_t larger = capture->control.alternate.large.stack_bytes;
	TRY(unwind_notes_add(&capture->samples.unwound, &capture->config.graph,
			     larger > planned ? larger : planned, &capture->out.notes));
	TRY(note_dropped(capture));
	TRY(waits_note_losses(capture->samples.waits));
	TRY(note_modules(capture));
	TRY(note_held(capture));
	TRY(note_uncounted(capture));
	TRY(note_command_time(capture));
	const struct command_lines *lines = &capture->command_lines;
	TRY(!lines->on ? NULL
		       : notes_add(&capture->out.notes, NOTE_COMMAND_LINES, NULL, lines->read,
				   lines->gone, lines->truncated, lines->left_out));
	TRY(note_recorded(capture));
	TRY(note_unrecorded(capture));
	if (helpers && capture->control.alternate.ids.map.count)
		TRY(notes_add(notes, NOTE_LOST_HELPERS, NULL, capture->samples.filter.counts.lost,
			      helpers));
	TRY(capture_note_lost_own(capture, 0, true));
	if (stats->lost || stats->lost_sideband)
		TRY(notes_add(notes, NOTE_RING_SIZE, NULL, stats->ring_bytes));
	if (stats->lost)
		TRY(note_loss_phases(capture));
	return note_uncovered(capture, stats);
}
