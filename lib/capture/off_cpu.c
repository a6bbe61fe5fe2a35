/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Recording of waits: creates the part that matches samples and switches, and calls it in each round.
 *
 * Snapshots are the only stacks if the kernel refuses samples of context switches. Otherwise they find the
 * threads that were blocked when the recording began, and they replace the samples while threads switch
 * so often that a sample of each switch would cost too much.
 */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/ctx.h"
#include "base/format.h"
#include "base/io.h"
#include "capture/config/plan_facts.h"
#include "capture/recorder.h"

/* Memory of the samples that are held, one for each thread that waits. */
#define HELD_BYTES ((size_t)64 << 20)
#define THREADS_MAX ((size_t)1 << 18)

/*
 * Open files of snapshots, if RLIMIT_NOFILE permits; and the number of snapshots in a round: 15 us each, and
 * SNAPSHOT_STACK_MAX bytes at most until the next round.
 */
#define FILES_MAX 1024
#define FILES_LIMIT_PART 4
#define SNAPSHOTS_MAX 1000

/* Switches per second above which they are not sampled, and below which they are again. */
#define SWITCHES_HIGH 5000
#define SWITCHES_LOW 2500
#define RATE_NS UINT64_C(100000000)
#define SWITCHES_BURST (SWITCHES_HIGH / 10) /* in one interval */

/* Least interval of schedstat notes. */
#define SCHEDSTAT_NS WAITS_DUE_FIRST_NS

static uint64_t now_ns_of(void *arg)
{
	return capture_record_time_ns(arg);
}

static void on_end_of_thread(void *arg, uint32_t tid)
{
	const struct sp_capture *capture = arg;
	if (capture->off_cpu.snapshots)
		snapshots_close(capture->off_cpu.snapshots, tid);
}

static size_t files_max(void)
{
	struct rlimit limit;
	bool low = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur / FILES_LIMIT_PART < FILES_MAX;
	return low ? (size_t)limit.rlim_cur / FILES_LIMIT_PART + 1 : FILES_MAX;
}

static struct sp_error *start_snapshots(struct sp_capture *capture, const struct event_planned *event)
{
	struct utsname host;
	const uint32_t wanted = config_stack_bytes(&capture->config, capture->config.off_cpu.event);
	if (!plan_is_unwound(capture->config.plan, capture->config.graph.live) || uname(&host) < 0)
		return NULL;
	const struct snapshots_options options = {
		.ctx = capture->ctx, .attr = &event->attr, .machine = host.machine,
		.stack_bytes = wanted < SNAPSHOT_STACK_MAX ? wanted : SNAPSHOT_STACK_MAX,
		.files_max = files_max(), .now = now_ns_of, .arg = capture,
	};
	return snapshots_new(&options, &capture->off_cpu.snapshots);
}

struct sp_error *capture_record_waits(struct sp_capture *capture)
{
	const struct off_cpu *off_cpu = &capture->config.off_cpu;
	struct matcher_options options = {
		.thin_ns = off_cpu->thin_ns,
		.snapshot_ns = OFF_CPU_SNAPSHOT_NS,
		.threads_max = THREADS_MAX,
		.bytes_max = HELD_BYTES,
		.on_end = on_end_of_thread,
		.arg = capture,
	};
	if (!off_cpu->on)
		return NULL;
	/* The fields of all events have no period if one of them has none. */
	const struct event_planned *event = &capture->config.plan->samples[off_cpu->event];
	if (!record_fields_make(event->attr.sample_type, &options.fields))
		return error_new(SP_ERROR_INVALID, "no event to sample");
	struct matcher *waits = matcher_new(&options);
	NEED(waits);
	sample_path_record_waits(&capture->samples, waits);
	capture->off_cpu.always = off_cpu_is_refused(off_cpu, capture->config.plan);
	return start_snapshots(capture, event);
}

static struct sp_error *add_threads_of(struct sp_capture *capture, uint32_t pid, uint64_t now_ns)
{
	CLEANUP(task_list_deinit) struct task_list threads = {0};
	struct sp_error *error = tasks_list(capture->ctx, pid, &threads);
	for (size_t i = 0; i < threads.count && !error; i++)
		error = matcher_add_thread(capture->samples.waits, pid, threads.items[i], now_ns);
	if (error && sp_error_code(error) == SP_ERROR_NOT_FOUND)
		sp_error_free(take_ptr(error)); /* it has ended */
	return error;
}

/* On some CPUs only, a thread may wake without a SWITCH record. */
static struct sp_error *add_all_threads(struct sp_capture *capture)
{
	CLEANUP(task_list_deinit) struct task_list processes = {0};
	uint64_t now_ns = capture_record_time_ns(capture);
	if (!capture->off_cpu.snapshots || capture->config.cpus.count < capture->config.online.count)
		return NULL;
	struct sp_error *error = tasks_list_processes(capture->ctx, &processes);
	for (size_t i = 0; i < processes.count && !error; i++)
		if (processes.items[i] != capture->samples.filter.own_pid)
			error = add_threads_of(capture, processes.items[i], now_ns);
	return error;
}

/* Threads of processes that are attached to. */
static struct sp_error *add_threads(struct sp_capture *capture)
{
	if (capture->config.target == CAPTURE_SYSTEM_WIDE)
		return add_all_threads(capture);
	const struct recorded_tasks *tasks = &capture->tasks;
	uint64_t now_ns = capture_record_time_ns(capture);
	struct sp_error *error = NULL;
	for (size_t i = 0; i < tasks->processes.count; i++) {
		const struct recorded_process *process = &tasks->processes.items[i];
		for (size_t j = 0; j < process->threads.count && !error; j++)
			if (tasks_wants_thread(tasks, process->threads.items[j]))
				error = matcher_add_thread(capture->samples.waits, process->pid,
							 process->threads.items[j], now_ns);
	}
	return error;
}

struct sp_error *capture_find_waits(struct sp_capture *capture)
{
	const struct sp_event *events;
	size_t count;
	if (!capture->samples.waits)
		return NULL;
	struct sp_error *error = event_set_events(capture->control.set, &events, &count);
	if (error)
		return error;
	const struct sp_event *event = &events[capture->config.off_cpu.event];
	for (size_t i = 0; i < event->id_count && !error; i++)
		error = matcher_add_id(capture->samples.waits, event->ids[i]);
	capture->off_cpu.id = event->id_count ? event->ids[0] : 0;
	return error ? error : add_threads(capture);
}

/* -- Notes of schedstat ----------------------------------------------------------- */

/* Threads that have ended have no file, and get no note. */
static struct sp_error *note_schedstat(struct sp_capture *capture, const struct matcher_thread *thread)
{
	unsigned long long run_ns, wait_ns, slices;
	CLEANUP_FREE char *text = NULL;
	size_t size;
	CLEANUP_FREE char *path = format_text("%s/proc/%u/task/%u/schedstat", ctx_root(capture->ctx),
					      thread->pid, thread->tid);
	NEED(path);
	if (io_read_file(path, &text, &size) ||
	    sscanf(text, "%llu %llu %llu", &run_ns, &wait_ns, &slices) != 3)
		return NULL;
	const struct note_records to = capture_note_records(capture);
	return notes_write_once(&to, NOTE_OF(NOTE_SCHEDSTAT, NULL, thread->pid, thread->tid, run_ns, wait_ns,
					     slices));
}

/* Notes the threads that are due. */
static struct sp_error *note_due_threads(struct sp_capture *capture, uint64_t now_ns)
{
	struct matcher_thread thread;
	struct sp_error *error = NULL;
	for (size_t at = 0; !error && matcher_next_due(capture->samples.waits, &at, now_ns, &thread);)
		error = note_schedstat(capture, &thread);
	return error;
}

static struct sp_error *note_threads(struct sp_capture *capture)
{
	struct matcher_thread thread;
	struct sp_error *error = NULL;
	for (size_t at = 0; !error && matcher_next_thread(capture->samples.waits, &at, &thread);)
		error = note_schedstat(capture, &thread);
	return error;
}

struct sp_error *capture_note_threads(struct sp_capture *capture)
{
	return capture->samples.waits ? note_threads(capture) : NULL;
}

/* -- Snapshots -------------------------------------------------------------------- */

/* Returns the right to read a process's stacks that the recorder lacks. */
static enum note_denied missing_right(const struct sp_ctx *ctx, uint32_t pid)
{
	CLEANUP_FREE char *process = format_text("%s/proc/%u", ctx_root(ctx), pid);
	CLEANUP_FREE char *yama = format_text("%s/proc/sys/kernel/yama/ptrace_scope", ctx_root(ctx));
	CLEANUP_FREE char *scope = NULL;
	struct stat of;
	size_t size;
	if (geteuid() == 0)
		return DENIED_CAPABILITY;
	/* Processes that others may not trace belong to root there. */
	bool is_own = process && stat(process, &of) == 0 && of.st_uid == geteuid();
	bool is_limited = is_own && yama && !io_read_file(yama, &scope, &size) && *scope == '1';
	return is_limited ? DENIED_YAMA : DENIED_USER;
}

/* Reads a thread's stack. It is unwound in the next round. */
static struct sp_error *take_snapshot(struct sp_capture *capture, const struct matcher_thread *thread)
{
	struct off_cpu_state *state = &capture->off_cpu;
	const struct snapshot_thread blocked = {.pid = thread->pid, .tid = thread->tid, .id = state->id,
						.cpu = capture->config.cpus.items[0]};
	enum snapshot_result result;
	struct sp_error *error = snapshots_read(state->snapshots, &blocked, &state->taken, &result);
	if (!error && result == SNAPSHOT_DENIED && !state->denied_pid) {
		state->denied_pid = thread->pid;
		state->denied = missing_right(capture->ctx, thread->pid);
	}
	return error;
}

struct sp_error *capture_unwind_snapshots(struct sp_capture *capture)
{
	struct off_cpu_state *state = &capture->off_cpu;
	struct record_values sample;
	struct sp_error *error = NULL;
	for (size_t at = 0; at < state->taken.count && !error; at += sample.header.size) {
		const struct ring ring = {.data = state->taken.items + at, .size = 1U << 16};
		if (!record_values_read(&ring, 0, state->taken.count - at, &capture->samples.filter.fields,
					&sample))
			break;
		error = live_unwind_add(capture->samples.live_unwind, &ring, &sample, state->id);
	}
	state->taken.count = 0;
	return error;
}

/*
 * `all`: read the stack of each thread that waits without one; else only of those without a sample
 * of their switch.
 */
static struct sp_error *take_snapshots(struct sp_capture *capture, bool all)
{
	struct matcher_thread thread;
	struct sp_error *error = NULL;
	size_t count = 0;
	for (size_t at = 0; !error && count < SNAPSHOTS_MAX &&
			    matcher_next_bare(capture->samples.waits, &at, &thread);) {
		if (!all && !thread.unsampled)
			continue;
		error = take_snapshot(capture, &thread);
		count++;
	}
	return error;
}

/* Samples switches as long as they are few. Without snapshots, no stack would replace theirs. */
static struct sp_error *fit_rate(struct sp_capture *capture, uint64_t now_ns)
{
	struct off_cpu_state *state = &capture->off_cpu;
	uint64_t count = matcher_counts(capture->samples.waits)->switches - state->switches;
	/* A burst fills the ring buffers before the interval is over. */
	bool burst = !state->fast && count > SWITCHES_BURST;
	if (state->always || !state->snapshots || (now_ns - state->rate_ns < RATE_NS && !burst))
		return NULL;
	double rate = burst ? SWITCHES_HIGH + 1 : (double)count * 1e9 / (double)(now_ns - state->rate_ns);
	state->switches += count;
	state->rate_ns = now_ns;
	if (state->fast ? rate > SWITCHES_LOW : rate <= SWITCHES_HIGH)
		return NULL;
	state->fast = !state->fast;
	return event_control_suspend_waits(&capture->control, state->fast);
}

struct sp_error *capture_enable_waits(struct sp_capture *capture)
{
	struct matcher *waits = capture->samples.waits;
	bool was_disabled = capture->off_cpu.disabled;
	uint64_t now_ns = capture_record_time_ns(capture);
	capture->off_cpu.disabled = schedule_all_are(&capture->control.schedule, false);
	if (!waits || capture->off_cpu.disabled == was_disabled)
		return NULL;
	if (!was_disabled)
		return matcher_disable(waits, now_ns);
	matcher_add_lost(waits, now_ns);
	/* A command's first thread has no FORK record. */
	uint32_t pid = (uint32_t)capture->tasks.workload.pid;
	return pid ? matcher_add_thread(waits, pid, pid, now_ns) : NULL;
}

bool capture_takes_snapshots(const struct sp_capture *capture)
{
	const struct off_cpu_state *state = &capture->off_cpu;
	return state->snapshots && (state->always || state->fast);
}

struct sp_error *capture_look_at_waits(struct sp_capture *capture)
{
	struct off_cpu_state *state = &capture->off_cpu;
	uint64_t now_ns = capture_now_ns();
	if (!capture->samples.waits)
		return NULL;
	struct sp_error *error = fit_rate(capture, now_ns);
	if (!error && state->snapshots && !state->disabled && now_ns >= state->snapshot_ns) {
		/* Rounds may come earlier or later: the mean interval is the weight of a snapshot. */
		state->snapshot_ns += OFF_CPU_SNAPSHOT_NS;
		if (state->snapshot_ns < now_ns)
			state->snapshot_ns = now_ns + OFF_CPU_SNAPSHOT_NS;
		error = take_snapshots(capture, capture_takes_snapshots(capture));
	}
	if (error || now_ns - state->schedstat_ns < SCHEDSTAT_NS)
		return error;
	state->schedstat_ns = now_ns;
	return note_due_threads(capture, now_ns);
}

/* -- Rounds and files --------------------------------------------------------------- */

struct sp_error *capture_write_waits(struct sp_capture *capture, bool last)
{
	struct recording *out = &capture->out;
	uint64_t safe_ns = last ? UINT64_MAX : capture->round_ns;
	struct sp_error *error = sample_path_write_waits(&capture->samples, safe_ns, &out->batch,
							 &out->dirty);
	if (error || !last)
		return error;
	/* The samples of the round before the last were all that was read. */
	return sample_path_split_waits(&capture->samples, capture->round_ns, &out->batch, &out->dirty);
}

struct sp_error *capture_end_waits(struct sp_capture *capture)
{
	bool wanted = capture->off_cpu.snapshots && !capture->off_cpu.disabled;
	return wanted ? take_snapshots(capture, true) : NULL;
}

struct sp_error *capture_split_waits(struct sp_capture *capture)
{
	struct recording *out = &capture->out;
	uint64_t end_ns = capture_split_ns(capture);
	if (!capture->samples.waits)
		return NULL;
	TRY(capture_note_threads(capture));
	/* All records until then have come, and stacks of that time must not be on their way. */
	TRY(sample_path_flush(&capture->samples, &out->batch, &out->dirty));
	TRY(sample_path_write_waits(&capture->samples, end_ns, &out->batch, &out->dirty));
	return sample_path_split_waits(&capture->samples, end_ns, &out->batch, &out->dirty);
}

static struct sp_error *note_denied(struct sp_capture *capture)
{
	const struct off_cpu_state *state = &capture->off_cpu;
	if (!state->denied_pid)
		return NULL;
	const uint64_t *results = snapshots_counts(state->snapshots)->results;
	uint64_t denied = results[SNAPSHOT_DENIED];
	return notes_add(&capture->out.notes, NOTE_SNAPSHOTS_DENIED, NULL, denied,
			 denied + results[SNAPSHOT_TAKEN], state->denied_pid, state->denied);
}

struct sp_error *capture_note_waits(struct sp_capture *capture)
{
	if (!capture->samples.waits)
		return NULL;
	const struct matcher_counts *counts = matcher_counts(capture->samples.waits);
	struct sp_error *error = note_denied(capture);
	if (error || (!counts->unmatched && !counts->dropped))
		return error;
	return notes_add(&capture->out.notes, NOTE_WAITS_LOST, NULL, counts->unmatched,
			 counts->waits + counts->unmatched, counts->dropped, HELD_BYTES >> 20);
}

void capture_free_waits(struct sp_capture *capture)
{
	snapshots_free(capture->off_cpu.snapshots);
	vec_deinit(&capture->off_cpu.taken);
}
