/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <poll.h>
#include <sprof/capture.h>
#include <sprof/private/command.h>
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/ctx.h"
#include "capture/recorder.h"
#include "capture/tasks/attach.h"
#include "capture/tasks/descendants.h"
#include "capture/tasks/describe_tasks.h"
#include "capture/tasks/find.h"
#include "capture/tasks/rescan.h"
#include "proc/kernel_cache.h"

/*
 * Limit of events of one epoll_wait(). It does not matter which descriptors are ready: a round
 * examines all.
 */
#define EVENTS_AT_ONCE 64

DEFINE_CLEANUP(struct sp_capture *, sp_capture_free)

/* Live unwinding needs mappings at once. */
static bool describes_at_end(const struct sp_capture *capture)
{
	return capture->config.tail_synthesize && !capture->samples.live_unwind;
}

static struct sp_error *attach(struct sp_capture *capture)
{
	const struct attach_parts parts = {
		.set = capture->control.set,
		.rings = capture->bank.metadata,
		.describes_at_end = describes_at_end(capture),
	};
	return tasks_attach(&capture->tasks, &parts);
}

static struct sp_error *record_waits(struct sp_capture *capture)
{
	const struct waits_options options = {
		.ctx = capture->ctx, .config = &capture->config, .control = &capture->control,
		.tasks = &capture->tasks, .notes = &capture->out.notes,
		.own_pid = capture->samples.filter.own_pid,
	};
	TRY(waits_open(&options, &capture->samples.waits));
	capture->samples.filter.waits = capture->samples.waits;
	return NULL;
}

static struct sp_error *set_up(struct sp_capture *capture, struct capture_options *options)
{
	TRY(schedule_init(&capture->control.schedule, &options->schedule));
	TRY(rotation_init(&capture->out.rotation, options));
	/* If there are several files, each begins with the state of live tasks. */
	options->schedule.tail_synthesize &= !capture->out.rotation.tracks;
	TRY(config_choose_target(options, &capture->config));
	TRY(tasks_find(&capture->tasks, &options->target));
	/* Limits are raised afterwards: the command must have the caller's. */
	if (options->target.command)
		TRY(workload_fork(&capture->tasks.workload, options->target.command,
				  options->output.path && !strcmp(options->output.path, "-")));
	TRY(capture_plan(capture, options));
	TRY(held_maps_new(capture->ctx, &capture->maps));
	/* Arguments may have secrets: only those of the caller's command are read by default. */
	bool by_default = capture->config.target == CAPTURE_COMMAND;
	capture->command_lines = (struct command_lines){
		.on = options->fields.command_lines == SP_ON ||
		      (options->fields.command_lines == SP_DEFAULT && by_default),
		.keeps_live = capture->out.rotation.tracks,
		.tasks = &capture->tasks,
	};
	struct filter *filter = &capture->samples.filter;
	bool filters_tasks =
		capture->config.plan->cpu_wide && capture->config.target != CAPTURE_SYSTEM_WIDE;
	tasks_connect(&capture->tasks);
	filter->double_sampling = &capture->tasks.double_sampling;
	filter->membership = filters_tasks ? &capture->tasks.membership : NULL;
	if (filters_tasks)
		TRY(notes_add(&capture->out.notes, NOTE_LOST_OWN, NULL, 0, 0));
	capture->out.rotation.live_state.fields = capture->samples.filter.fields;
	/* Samples are read when the state has been written. */
	capture->out.rotation.live_state.keeps_newest = capture->overwrite.on;
	/* Threads that unwind, too: rounds wait for them. The command is there already. */
	if (capture->config.off_cpu.on && !capture->config.realtime)
		TRY(thread_priority_begin(&capture->bank.thread_priority, 0));
	TRY(record_waits(capture));
	TRY(capture_start_live_unwind(capture));
	TRY(recording_init(&capture->out, capture->samples.filter.fields.sample_id,
			   capture->samples.filter.fields.sample_cpu));
	/* The recorder's own threads and the command exist already, and are left out. */
	if (capture->config.realtime)
		TRY(thread_priority_begin(&capture->bank.thread_priority,
					  capture->config.realtime));
	TRY(capture_map_rings(capture));
	TRY(capture_start_overwrite(capture));
	TRY(attach(capture));
	TRY(tasks_begin_descent(&capture->tasks));
	TRY(capture_map_aux_areas(capture));
	TRY(capture_open_alternates(capture, options));
	TRY(capture_connect_events(capture));
	TRY(waits_begin(capture->samples.waits));
	TRY(event_control_watch_cpus(&capture->control));
	TRY(capture_open_file(capture, options));
	TRY(capture_write_synthesised(capture));
	TRY(capture_start_drain_threads(capture, options));
	return capture_watch(capture);
}

struct sp_error *sp_capture_new(struct sp_ctx *ctx, const struct sp_capture_options *asked,
				struct sp_capture **ret)
{
	struct capture_options copy, *options = &copy;
	TRY(capture_options_copy(options, asked));
	/* No function may fail before the descriptors are initialised. */
	CLEANUP(cleanup_sp_capture_free) struct sp_capture *capture = calloc(1, sizeof(*capture));
	NEED(capture);
	const struct tasks_parts parts = {
		.ctx = ctx, .kernel = event_kernel_real(), .config = &capture->config,
		.rewrite = &capture->bank.rewrite, .notes = &capture->out.notes,
		.synthesised = &capture->out.synthesised,
	};
	capture->ctx = ctx;
	capture->begin_ns = capture_now_ns();
	tasks_init(&capture->tasks, &parts);
	capture->tasks.descendants = options->target.descendants;
	capture->samples.filter.own_pid = options->target.exclude_self ? (uint32_t)getpid() : 0;
	capture->overwrite.on = capture->out.holds_metadata = options->buffers.overwrite;
	capture->overwrite.window_ns = options->buffers.overwrite_ns;
	event_control_init(&capture->control);
	capture->epoll_fd = capture->timer_fd = -1;
	/* Forked early, because the proxies keep a copy of the memory. */
	TRY(proxies_begin(ctx_proxies(ctx)));
	capture->has_proxies = true;
	TRY(config_find_unit(capture->ctx, options, &capture->config));
	TRY(set_up(capture, options));
	*ret = take_ptr(capture);
	return NULL;
}

/* Events are enabled after that: running processes would fill the rings while files are read. */
static struct sp_error *begin_sampling(struct sp_capture *capture)
{
	TRY(schedule_restart(&capture->control.schedule, capture_now_ns()));
	bool round;
	TRY(event_control_begin(&capture->control, capture_starts_by_exec(capture)));
	capture->begin_ns = capture_now_ns();
	TRY(capture_on_timer(capture, &round));
	TRY(event_control_begin_alternates(&capture->control, !capture->config.plan->cpu_wide,
					   capture->begin_ns));
	/* All switches after the times that this sets are recorded. */
	TRY(waits_add_threads(capture->samples.waits));

	/* Without SWITCH records, the kernel's counts have no use. */
	capture->schedstat = (struct schedstat){.tasks = &capture->tasks,
						.notes = &capture->out.extra};
	if (!capture->config.switches)
		return NULL;
	capture->samples.filter.schedstat = &capture->schedstat;
	return schedstat_begin(&capture->schedstat);
}

struct sp_error *sp_capture_start(struct sp_capture *capture)
{
	struct sp_error *error = begin_sampling(capture);
	capture->started = true;
	if (!error && capture->tasks.workload.pid)
		error = workload_start(&capture->tasks.workload, capture->config.command_name);
	if (error) {
		/* Reaping would wait for a command that has not begun. */
		workload_forgo(&capture->tasks.workload);
		/* An empty recording must not replace the last one. */
		recording_abandon(&capture->out);
		return error;
	}
	write_queue_publish(capture->out.write_queue);
	return NULL;
}

int sp_capture_fd(const struct sp_capture *capture)
{
	return capture->epoll_fd;
}

static bool is_over(const struct sp_capture *capture)
{
	return tasks_is_over(&capture->tasks) || capture->out.rotation.full;
}

struct sp_error *sp_capture_step(struct sp_capture *capture, bool *running_ret)
{
	struct epoll_event events[EVENTS_AT_ONCE];
	int count = epoll_wait(capture->epoll_fd, events, EVENTS_AT_ONCE, 0);
	bool round;
	TRY(capture_on_timer(capture, &round));
	/* A change of periods needs no round. */
	if (count == 1 && events[0].data.fd == capture->timer_fd && !round) {
		*running_ret = !is_over(capture);
		return NULL;
	}
	for (int i = 0; i < count; i++) {
		int fd = events[i].data.fd;
		/* It is an offline CPU's ring buffer. The timer drains the rest of it. */
		if (fd != capture->tasks.workload.pidfd && events[i].events & (EPOLLHUP | EPOLLERR))
			epoll_ctl(capture->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
	}
	struct sp_error *error = capture_run_schedule(capture);
	if (!error)
		error = schedstat_note_command(&capture->schedstat);
	/* Reaps before the round, so that the round has the command's last records. */
	if (!error)
		error = workload_reap(&capture->tasks.workload, false);
	if (!error)
		error = capture_check_cpus(capture, false);
	if (!error)
		error = wall_clock_check(&capture->bank.wall, &capture->out.notes);
	if (!error)
		error = capture_round(capture, false);
	if (!error && !capture->loss_phases.has_attached) {
		capture->loss_phases.has_attached = true;
		capture->loss_phases.attached = capture_lost_now(capture);
	}
	if (!error && trigger_occurred(&capture->control.trigger))
		error = sp_capture_switch(capture);
	if (!error)
		error = tasks_look_for_ended(&capture->tasks, capture_now_ns());
	if (!error)
		error = waits_round(capture->samples.waits, false);
	if (!error)
		error = schedstat_round(&capture->schedstat, capture_now_ns());
	if (!error)
		error = capture_adapt_timer(capture);
	if (!error)
		*running_ret = !is_over(capture);
	return error;
}

static struct sp_error *close_file(struct sp_capture *capture)
{
	const struct recording_end end = capture_end_of_file(capture);
	return recording_close(&capture->out, &end);
}

/* Saves the kernel's symbols for reports after a reboot. A failure is only logged. */
static void save_kernel_names(struct sp_capture *capture)
{
	bool wanted = event_plan_samples_kernel(capture->config.plan) &&
		      capture->samples.filter.counts.samples;
	struct sp_error *error = wanted ? kernel_cache_save(capture->ctx) : NULL;
	if (error)
		ctx_log(capture->ctx, SP_LOG_WARNING, "cannot save kernel symbols: %s",
			sp_error_message(error));
	sp_error_free(error);
}

static void log_drain_threads(const struct sp_capture *capture)
{
	if (!capture->bank.drain_threads)
		return;
	const struct drain_threads_counts counts = drain_threads_counts(capture->bank.drain_threads);
	ctx_log(capture->ctx, SP_LOG_DEBUG, "%zu threads drained: %llu wake-ups, %.1f ms of CPU time",
		counts.threads, (unsigned long long)counts.wakeups, (double)counts.cpu_ns / 1e6);
}

static void log_proxies(const struct sp_capture *capture)
{
	const struct proxies_counts counts = proxies_counts(ctx_proxies(capture->ctx));
	if (counts.calls)
		ctx_log(capture->ctx, SP_LOG_DEBUG,
			"%llu calls by proxies, %llu took too long; %.1f ms of CPU time",
			(unsigned long long)counts.calls, (unsigned long long)counts.left,
			(double)counts.cpu_ns / 1e6);
}

static struct sp_error *write_last_samples(struct sp_capture *capture)
{
	struct sp_error *error = capture_round(capture, false);
	if (error || !capture->bank.leaves_samples)
		return error;
	/* The first round made room for all that the kernel's rings hold. */
	return capture_round(capture, false);
}

struct sp_error *sp_capture_stop(struct sp_capture *capture)
{
	capture->end_ns = capture_now_ns();
	if (!capture->out.rotation.maker || capture->out.closed)
		return NULL; /* the command never began */
	capture->loss_phases.stopped = capture_lost_now(capture);
	/* Reads processes before the last rounds, which have the samples of that time. */
	struct sp_error *error = tasks_end_descent(&capture->tasks);
	capture->end_ns = capture_now_ns();
	if (!error)
		error = capture_check_cpus(capture, true);
	if (!error)
		error = wall_clock_check(&capture->bank.wall, &capture->out.notes);
	if (!error)
		error = waits_round(capture->samples.waits, true);
	/* The last rounds have all switches until then. */
	if (!error)
		error = schedstat_note_all(&capture->schedstat);
	if (!error)
		error = write_last_samples(capture);
	if (!error && capture->overwrite.on)
		error = capture_dump(capture, true);
	/* Events stay enabled: the rings may overflow from now on, which is no loss. */
	if (!error)
		error = capture_count_lost(capture);
	capture->loss_phases.ended = capture_lost_now(capture);
	if (!error && describes_at_end(capture)) {
		error = tasks_describe_tail(&capture->tasks);
		if (!error)
			error = capture_write_synthesised(capture);
	}
	error = error_first(error, sample_path_finish(&capture->samples));
	const struct live_unwind_counts *unwound = &capture->samples.unwound;
	const struct python_counts *python = &unwound->python;
	if (python->samples)
		ctx_log(capture->ctx, SP_LOG_DEBUG,
			"Python frames: %llu samples, %llu unreadable; %llu calls of the "
			"interpreter, %llu with frames, %llu dropped",
			(unsigned long long)python->samples, (unsigned long long)python->unreadable,
			(unsigned long long)python->groups, (unsigned long long)python->inserted,
			(unsigned long long)python->dropped);
	if (unwound->files_forgotten)
		ctx_log(capture->ctx, SP_LOG_DEBUG,
			"%llu module files were dropped from the cache: too many",
			(unsigned long long)unwound->files_forgotten);
	log_drain_threads(capture);
	log_proxies(capture);
	if (!error)
		error = capture_round(capture, true);
	/* A failed last round counted stacks, too. */
	error = error_first(error, sample_path_finish(&capture->samples));
	error = error_first(error, close_file(capture));
	thread_priority_end(&capture->bank.thread_priority);
	save_kernel_names(capture);
	return error;
}

struct held_files *capture_held_files(const struct sp_capture *capture)
{
	return capture->samples.live_unwind ? live_unwind_held_files(capture->samples.live_unwind) : NULL;
}

void sp_capture_after_fork(const struct sp_capture *capture, const int *fds, size_t count)
{
	size_t kept = count;
	CLEANUP_FREE int *all = malloc((count + held_maps_fds(capture->maps, NULL) + 1) *
				       sizeof(*all));
	if (all && count)
		memcpy(all, fds, count * sizeof(*all));
	if (all)
		kept += held_maps_fds(capture->maps, all + count);
	held_files_after_fork(capture_held_files(capture), all ?: fds, kept);
	proxies_after_fork(ctx_proxies(capture->ctx));
}

void sp_capture_free(struct sp_capture *capture)
{
	if (!capture)
		return;
	tasks_deinit(&capture->tasks);
	metadata_hold_deinit(&capture->hold);
	aux_areas_deinit(&capture->out.aux_areas);
	ring_bank_deinit(&capture->bank);
	event_control_deinit(&capture->control);
	losses_deinit(&capture->losses);
	cleanup_close(&capture->epoll_fd);
	cleanup_close(&capture->timer_fd);
	sample_path_deinit(&capture->samples);
	schedstat_deinit(&capture->schedstat);
	command_lines_deinit(&capture->command_lines);
	recording_deinit(&capture->out);
	overwrite_deinit(&capture->overwrite);
	config_deinit(&capture->config);
	held_maps_free(capture->maps);
	if (capture->has_proxies)
		proxies_end(ctx_proxies(capture->ctx));
	free(capture);
}

pid_t sp_capture_pid(const struct sp_capture *capture)
{
	return capture->tasks.workload.pid;
}

struct sp_error *sp_capture_wait(struct sp_capture *capture, bool wait, bool *ended_ret,
				 int *status_ret)
{
	TRY(workload_reap(&capture->tasks.workload, wait));
	*ended_ret = capture->tasks.workload.ended;
	*status_ret = capture->tasks.workload.status;
	return NULL;
}

size_t sp_capture_note_count(const struct sp_capture *capture)
{
	return capture->out.notes.count;
}

const char *sp_capture_note(const struct sp_capture *capture, size_t index)
{
	return capture->out.notes.items[index].line;
}

bool sp_capture_note_is_silent(const struct sp_capture *capture, size_t index)
{
	return note_is_silent(capture->out.notes.items[index].note.kind);
}

uint64_t sp_capture_proxy_ns(const struct sp_capture *capture)
{
	return proxies_counts(ctx_proxies(capture->ctx)).cpu_ns;
}

size_t sp_capture_unrecorded(const struct sp_capture *capture, const struct sp_capture_process **ret)
{
	*ret = capture->tasks.unrecorded.items;
	return capture->tasks.unrecorded.count;
}

/* A whole recording in one call, on top of the public functions. */

/* Milliseconds until `end_ns` (0: never), rounded up, as poll(2) expects them. */
static int timeout_until(uint64_t end_ns)
{
	uint64_t now_ns = capture_now_ns();
	if (!end_ns)
		return -1;
	if (now_ns >= end_ns)
		return 0;
	uint64_t left_ms = (end_ns - now_ns + 999999) / 1000000;
	return left_ms < INT32_MAX ? (int)left_ms : INT32_MAX;
}

/* Waits for work. *stopped_ret is set if `stop_fd` is readable or `end_ns` has passed. */
static struct sp_error *wait_for_work(const struct sp_capture *capture, int stop_fd,
				      uint64_t end_ns, bool *stopped_ret)
{
	struct pollfd fds[] = {
		{.fd = sp_capture_fd(capture), .events = POLLIN},
		{.fd = stop_fd, .events = POLLIN},
	};
	int timeout = timeout_until(end_ns);
	if (poll(fds, 2, timeout) < 0 && errno != EINTR)
		return error_os(errno, "cannot wait for samples");
	*stopped_ret = fds[1].revents || timeout == 0;
	return NULL;
}

static struct sp_error *run(struct sp_capture *capture, int stop_fd)
{
	struct sp_error *error = capture->started ? NULL : sp_capture_start(capture);
	uint64_t duration_ns = capture->config.duration_ns;
	uint64_t end_ns = duration_ns ? capture_now_ns() + duration_ns : 0;
	bool running = true, stopped = false;
	while (!error && running) {
		error = wait_for_work(capture, stop_fd, end_ns, &stopped);
		if (stopped)
			break;
		if (!error)
			error = sp_capture_step(capture, &running);
	}
	return error;
}

struct sp_error *sp_capture_run(struct sp_capture *capture, int stop_fd)
{
	struct sp_error *error = run(capture, stop_fd);
	return error_first(error, sp_capture_stop(capture));
}
