/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <signal.h>
#include <string.h>
#include <sprof/private/command.h>
#include "base/ctx.h"
#include "calls.h"
#include "capture/recorder.h"
#include "scenario.h"

struct sim_result sim_result;

static void note_error(struct sp_error *error)
{
	if (error && !sim_result.failed)
		snprintf(sim_result.message, sizeof(sim_result.message), "%s", sp_error_message(error));
	sim_result.failed |= error != NULL;
	sp_error_free(error);
}

/* Processes that exist before the recording: those in `pids` are attached to. */
static size_t choose_pids(int32_t *pids, size_t most)
{
	size_t count = 0;
	for (size_t i = 0; i < sim_machine.task_count && count < most; i++) {
		const struct sim_task *task = sim_machine.tasks[i];
		if (task->process != sim_machine.recorder && task->tid == task->process->pid &&
		    !task->ended && task->process->ppid == 1 && task->process->uid == sim.user.uid)
			pids[count++] = (int32_t)task->tid;
	}
	return count;
}

static void follow(const int32_t *pids, size_t count)
{
	for (size_t i = 0; i < sim_machine.task_count; i++) {
		struct sim_task *task = sim_machine.tasks[i];
		for (size_t k = 0; k < count; k++)
			task->followed |= task->process->pid == (uint32_t)pids[k];
	}
}

/* A step may come late: the caller has other things to do. */
static void hesitate(const struct sim_scenario *scenario)
{
	if (scenario->hesitation_ms && sim_chance(SIM_SCHEDULE, 20))
		sim_sleep(sim_random(SIM_SCHEDULE, scenario->hesitation_ms * SIM_MS));
}

static void read_names(struct sp_capture *capture)
{
	struct sp_capture_file file;
	while (sp_capture_next_file(capture, &file)) {
		int fd = sp_capture_take_file(capture);
		if (fd >= 0)
			__wrap_close(fd);
	}
}

static struct sp_error *toggle(struct sp_capture *capture)
{
	return sp_capture_event_enabled(capture, 0) ? sp_capture_disable(capture, NULL)
						    : sp_capture_enable(capture, NULL);
}

/* While recording is switched off, also alternate events are. */
static void check_off(const struct sp_capture *capture)
{
	for (size_t i = 0; i < sim_perf.event_count && !sp_capture_event_enabled(capture, 0); i++) {
		const struct sim_event *event = sim_perf.events[i];
		if (event->enabled && !event->closed && event->attr.config != PERF_COUNT_SW_DUMMY)
			sim_violation("event %llu samples, but recording is off",
				      (unsigned long long)event->id);
	}
}

static struct sp_error *record(struct sp_capture *capture, const struct sim_scenario *scenario)
{
	uint64_t end_ns = UINT64_MAX, demand_ns = UINT64_MAX;
	struct sp_error *error = NULL;
	bool running = true;
	if (scenario->stop_ms)
		end_ns = sim.now_ns + sim_random(SIM_SCHEDULE, scenario->stop_ms * SIM_MS);
	while (running && !error && sim.now_ns < end_ns) {
		if (scenario->demand_ms && demand_ns == UINT64_MAX)
			demand_ns = sim.now_ns + sim_random(SIM_SCHEDULE, scenario->demand_ms * SIM_MS);
		sim_wait_for(sp_capture_fd(capture), end_ns < demand_ns ? end_ns : demand_ns);
		hesitate(scenario);
		if (sim.now_ns >= demand_ns) {
			error = scenario->toggles ? toggle(capture)
				: scenario->buffers.overwrite ? sp_capture_snapshot(capture)
				: sp_capture_switch(capture);
			demand_ns = UINT64_MAX;
		}
		if (!error)
			error = sp_capture_step(capture, &running);
		if (scenario->toggles && !error && !sim.fault_name)
			check_off(capture);
		read_names(capture);
		sim_result.commit_ns = sim.now_ns;
	}
	return error;
}

static void end_command(struct sp_capture *capture)
{
	bool ended = false;
	int status;
	if (sp_capture_pid(capture)) {
		__wrap_kill(sp_capture_pid(capture), SIGTERM);
		sp_error_free(sp_capture_wait(capture, true, &ended, &status));
		if (sp_capture_pid(capture) && !sim.fault_name)
			sim_violation("sp_capture_wait() did not wait");
	}
}

/* Else records would wait for the timer, in rings that are small. What is overwritten need not be read. */
static void check_watched(void)
{
	for (size_t i = 0; i < sim_perf.event_count; i++) {
		const struct sim_event *event = sim_perf.events[i];
		if (event->ring && !event->closed && !event->ring->overwrite && !sim_is_watched(event->open))
			sim_violation("a ring of CPU %d is not watched", event->cpu);
	}
}

/* Tasks that come and go leave no descriptor, and no event. */
static void check_growth(const struct sim_scenario *scenario, size_t fds, size_t events)
{
	if (!scenario->limit_s)
		return;
	if (sim_fd_count() > fds || sim_perf.event_count > events)
		sim_violation("%zu descriptors and %zu events became %zu and %zu", fds, events,
			      sim_fd_count(), sim_perf.event_count);
	printf("# %zu tasks, %zu descriptors, %zu events\n", sim_machine.task_count, sim_fd_count(),
	       sim_perf.event_count);
}

static void run_step_by_step(struct sp_capture *capture, const struct sim_scenario *scenario)
{
	struct sp_error *error = sp_capture_start(capture);
	sim_result.published = !error;
	if (!error) {
		check_watched();
		sim_result.begin_ns = sim.now_ns;
		size_t fds = sim_fd_count(), events = sim_perf.event_count;
		error = record(capture, scenario);
		check_growth(scenario, fds, events);
	}
	note_error(error);
	sim_result.stop_ns = sim.now_ns;
	note_error(sp_capture_stop(capture));
}

static void run_in_one_call(struct sp_capture *capture, const struct sim_scenario *scenario)
{
	/* Samples after that time may be missing, unless the command ends before. */
	uint64_t end_ns = sim.now_ns + scenario->schedule.duration_ns;
	struct sp_error *error = sp_capture_run(capture, -1);
	sim_result.published = !error;
	sim_result.stop_ns = sim.now_ns < end_ns ? sim.now_ns : end_ns;
	note_error(error);
}

static void run(struct sp_capture *capture, const struct sim_scenario *scenario)
{
	sim_result.created = true;
	if (scenario->holds_metadata) {
		capture->hold.rate = capture->hold.time_ns = 1;
		capture->hold.room = -HOLD_BURST / 2;
		capture->tasks.mappings_max = 100;
	}
	for (size_t i = 0; i < sim_machine.task_count; i++) {
		struct sim_task *task = sim_machine.tasks[i];
		task->uncertain = scenario->target == SIM_ATTACH && task->start_ns >= sim_result.open_ns;
	}
	sim_result.begin_ns = sim.now_ns;
	if (scenario->in_one_call)
		run_in_one_call(capture, scenario);
	else
		run_step_by_step(capture, scenario);
	read_names(capture);
	sim_result.stats = *sp_capture_stats(capture);
	for (size_t i = 0; sim.verbose && i < sp_capture_note_count(capture); i++)
		printf("# note: %s\n", sp_capture_note(capture, i));
	end_command(capture);
}

/* A target may end before it is attached to. */
static bool has_lost_target(const int32_t *pids, size_t count)
{
	bool ended = false;
	for (size_t i = 0; i < count; i++) {
		const struct sim_task *task = sim_task_find((uint32_t)pids[i]);
		ended |= task && task->ended;
	}
	return ended && strstr(sim_result.message, "does not exist");
}

static void print_log(void *arg, enum sp_log_level level, const char *line)
{
	(void)arg;
	printf("# log %d: %s\n", (int)level, line);
}

static void check_leaks(void)
{
	if (sim_fd_count())
		sim_violation("%zu descriptors are still open, the first is %d", sim_fd_count(),
			      sim_fd_next(-1));
	if (sim.mappings)
		sim_violation("%zu mappings are left", sim.mappings);
	if (sim_threads_alive() != 1)
		sim_violation("%zu threads are left", sim_threads_alive() - 1);
	for (size_t i = 0; i < sim_machine.task_count; i++) {
		const struct sim_process *process = sim_machine.tasks[i]->process;
		if (process->ppid == SIM_PID && sim_machine.tasks[i]->tid == process->pid &&
		    (!process->ended || !process->reaped))
			sim_violation("child %u is left", process->pid);
	}
}

void sim_session(const struct sim_scenario *scenario)
{
	static const char *const command[] = {"worker", NULL};
	int32_t pids[64];
	struct sp_ctx *ctx = NULL;
	struct sp_capture *capture = NULL;
	size_t count = scenario->target == SIM_ATTACH ? choose_pids(pids, 64) : 0;
	const struct sp_capture_target target = {
		.size = sizeof(target), .scope = scenario->scope,
		.command = scenario->target == SIM_COMMAND ? command : NULL,
		.pids = {pids, count}, .system_wide = scenario->target == SIM_SYSTEM,
	};
	const struct sp_capture_options options = {
		.size = sizeof(options), .target = &target, .sampling = &scenario->sampling,
		.chains = &scenario->chains, .buffers = &scenario->buffers,
		.output = &scenario->output, .schedule = &scenario->schedule,
	};
	follow(pids, count);
	sim_result.open_ns = sim.now_ns;
	sim.inside = true;
	struct sp_error *error = sp_ctx_new(&ctx);
	if (!error)
		error = sp_ctx_set_cache_path(ctx, NULL);
	if (!error)
		proxies_simulate(ctx_proxies(ctx), NULL, NULL);
	if (!error && sim.verbose)
		sp_ctx_set_log(ctx, print_log, NULL, SP_LOG_DEBUG);
	if (!error)
		error = sp_capture_new(ctx, &options, &capture);
	note_error(error);
	if (capture)
		run(capture, scenario);
	sp_capture_free(capture);
	sp_ctx_free(ctx);
	sim.inside = false;
	check_leaks();
	if (sim_result.failed && !scenario->may_fail && !sim.fault_name && !has_lost_target(pids, count))
		sim_violation("the recording failed: %s", sim_result.message);
}
