/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counting from begin to end. A command's events are opened on its process while it waits, and are
 * enabled by its exec. Events of CPUs and running tasks are enabled just before the command starts.
 */
#include "count/stat.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/format.h"
#include "base/sized.h"
#include "base/vec.h"
#include "proc/proc_tasks.h"

DEFINE_CLEANUP(struct sp_stat *, sp_stat_free)

static struct sp_error *add_target(struct sp_stat *stat, int32_t tid, int32_t cpu, uint32_t place)
{
	struct target *target = vec_push(&stat->targets);
	NEED(target);
	*target = (struct target){tid, cpu, place};
	return NULL;
}

/* Adds a thread, on any CPU, or on each of the requested CPUs. */
static struct sp_error *add_thread(struct sp_stat *stat, int32_t tid, uint32_t place)
{
	struct sp_error *error = NULL;
	if (!stat->options.target.cpus)
		return add_target(stat, tid, -1, place);
	for (size_t i = 0; i < stat->cpus.count && !error; i++)
		error = add_target(stat, tid, stat->cpus.items[i], place);
	return error;
}

static struct sp_error *add_task(struct sp_stat *stat, uint32_t pid, uint32_t tid)
{
	/* A task may be given twice. */
	vec_each (target, &stat->targets)
		if (target->tid == (int32_t)tid)
			return NULL;
	if (stat->options.aggregate != SP_STAT_THREAD)
		return add_thread(stat, tid, 0);
	struct task_stat task;
	struct sp_error *error = tasks_stat(stat->ctx, pid, tid, &task);
	if (error && sp_error_code(error) == SP_ERROR_NOT_FOUND) {
		sp_error_free(error);
		return NULL; /* the thread has ended */
	}
	struct sp_stat_place *place = error ? NULL : vec_push(&stat->places);
	if (error || !place)
		return error ? error : error_no_memory();
	*place = place_nowhere();
	place->tid = tid;
	place->comm = arena_strdup(&stat->arena, task.comm);
	return place->comm ? add_thread(stat, tid, (uint32_t)stat->places.count - 1)
			   : error_no_memory();
}

static struct sp_error *add_process(struct sp_stat *stat, uint32_t pid)
{
	struct task_list threads = {0};
	struct sp_error *error = tasks_list(stat->ctx, pid, &threads);
	if (error && sp_error_code(error) == SP_ERROR_NOT_FOUND) {
		sp_error_free(error);
		error = error_new(SP_ERROR_NOT_FOUND, "no process %u", pid);
	}
	for (size_t i = 0; i < threads.count && !error; i++)
		error = add_task(stat, pid, threads.items[i]);
	vec_deinit(&threads);
	return error;
}

/* Adds all threads of the machine. Processes that end meanwhile are skipped. */
static struct sp_error *add_machine_threads(struct sp_stat *stat)
{
	struct task_list processes = {0};
	struct sp_error *error = tasks_list_processes(stat->ctx, &processes);
	for (size_t i = 0; i < processes.count && !error; i++) {
		error = add_process(stat, processes.items[i]);
		if (error && sp_error_code(error) == SP_ERROR_NOT_FOUND)
			sp_error_free(take_ptr(error));
	}
	vec_deinit(&processes);
	return error;
}

static struct sp_error *add_running(struct sp_stat *stat)
{
	const struct stat_options *options = &stat->options;
	struct sp_error *error = NULL;
	for (size_t i = 0; i < options->target.pids.count && !error; i++)
		error = add_process(stat, options->target.pids.items[i]);
	for (size_t i = 0; i < options->target.tids.count && !error; i++) {
		uint32_t tid = options->target.tids.items[i], pid;
		error = tasks_process_of(stat->ctx, tid, &pid);
		if (!error)
			error = add_task(stat, pid, tid);
	}
	return error;
}

/*
 * Notes threads that were created between listing and opening: they may have inherited the events,
 * or not.
 */
static struct sp_error *note_newcomers(struct sp_stat *stat)
{
	size_t listed = stat->targets.count, count = 0;
	vec_each (pid, &stat->options.target.pids) {
		struct task_list threads = {0};
		struct sp_error *error = tasks_list(stat->ctx, (uint32_t)*pid, &threads);
		vec_each (thread, &threads) {
			bool known = false;
			for (size_t k = 0; k < listed && !known; k++)
				known = stat->targets.items[k].tid == (int32_t)*thread;
			count += !known;
		}
		vec_deinit(&threads);
		sp_error_free(error); /* the thread has ended */
	}
	if (!count)
		return NULL;
	CLEANUP_FREE char *asked = format_text("%zu threads", count);
	NEED(asked);
	return event_notes_add(&stat->notes, asked,
			       "some may be missing",
			       "they started while events were opened", "count all CPUs: -a");
}

static struct sp_error *choose_cpus(struct sp_stat *stat)
{
	const char *text = stat->options.target.cpus;
	struct cpu_list online = {0};
	struct sp_error *error = sysfs_cpus_online(stat->ctx, &online);
	if (error || !text) {
		stat->cpus = online;
		return error;
	}
	error = cpu_list_parse(&stat->cpus, text);
	for (size_t i = 0; i < stat->cpus.count && !error; i++) {
		bool found = false;
		for (size_t j = 0; j < online.count && !found; j++)
			found = online.items[j] == stat->cpus.items[i];
		if (!found)
			error = error_set_remedy(error_new(SP_ERROR_NOT_FOUND, "CPU %u does not exist or is "
							   "offline", stat->cpus.items[i]),
						 "see /sys/devices/system/cpu/online");
	}
	vec_deinit(&online);
	return error;
}

static struct sp_error *target_cpus(struct sp_stat *stat)
{
	CLEANUP_FREE uint32_t *place_of = calloc(stat->cpus.count + 1, sizeof(*place_of));
	NEED(place_of);
	struct sp_error *error =
		stat_places_of_cpus(&stat->places, stat->ctx, stat->options.aggregate,
			       stat->options.cache_level, stat->cpus.items, stat->cpus.count, place_of);
	for (size_t i = 0; i < stat->cpus.count && !error; i++)
		error = add_target(stat, -1, stat->cpus.items[i], place_of[i]);
	return error;
}

static struct sp_error *choose_targets(struct sp_stat *stat)
{
	const struct stat_options *options = &stat->options;
	bool by_thread = options->aggregate == SP_STAT_THREAD;
	bool tasks = options->target.pids.count || options->target.tids.count;
	struct sp_error *error = NULL;
	if (stat->cpu_wide || options->target.cpus)
		error = choose_cpus(stat);
	if (!error && stat->cpu_wide)
		return target_cpus(stat);
	if (!error && !by_thread)
		NEED(vec_append(&stat->places, place_nowhere()));
	if (error)
		return error;
	if (tasks)
		return add_running(stat);
	if (by_thread)
		return add_machine_threads(stat);
	return add_thread(stat, stat->workload.pid, 0);
}

static struct sp_error *check_options(const struct sp_stat *stat)
{
	const struct stat_options *options = &stat->options;
	bool by_cpu = options->aggregate != SP_STAT_GLOBAL && options->aggregate != SP_STAT_THREAD;
	if (by_cpu && !stat->cpu_wide)
		return error_set_remedy(error_new(SP_ERROR_INVALID, "counts per CPU, core, die, socket or "
						  "node need whole CPUs"), "add -a or -C CPUS");
	if (options->target.cgroups.count && !stat->cpu_wide)
		return error_set_remedy(error_new(SP_ERROR_INVALID, "control groups need whole "
						  "CPUs"), "add -a or -C CPUS");
	if (options->aggregate == SP_STAT_THREAD && stat->has_command && !stat->only_says_how_long)
		return error_set_remedy(error_new(SP_ERROR_INVALID, "--per-thread cannot count "
				"a command's future threads"),
					"use -a --per-thread, or count a running "
					"process (-p PID)");
	return NULL;
}

static struct sp_error *set_up(struct sp_stat *stat)
{
	const struct stat_options *options = &stat->options;
	bool by_thread = options->aggregate == SP_STAT_THREAD;
	bool tasks = options->target.pids.count || options->target.tids.count;
	stat->has_command = options->target.command != NULL;
	stat->only_says_how_long = tasks || options->target.system_wide || options->target.cpus;
	stat->cpu_wide = !tasks && !by_thread && (options->target.system_wide || options->target.cpus);
	struct sp_error *error = check_options(stat);
	if (!error && stat->has_command)
		error = workload_fork(&stat->workload, options->target.command, false);
	if (!error && stat->has_command) {
		stat->command_name = arena_strdup(&stat->arena, options->target.command[0]);
		error = stat->command_name ? NULL : error_no_memory();
	}
	error = error ? error : choose_targets(stat);
	error = error ? error : stat_make_counters(stat);
	error = error ? error : stat_open(stat);
	if (!error && options->target.pids.count && options->aggregate != SP_STAT_THREAD)
		error = note_newcomers(stat);
	return error;
}

/* Copies the lists of tasks, and drops other borrowed pointers of the options. */
static struct sp_error *copy_targets(struct sp_stat *stat)
{
	struct stat_options *options = &stat->options;
	size_t count = options->target.pids.count + options->target.tids.count;
	int32_t *kept = arena_alloc(&stat->arena, (count + 1) * sizeof(int32_t));
	NEED(kept);
	if (options->target.pids.count)
		memcpy(kept, options->target.pids.items, options->target.pids.count * sizeof(*kept));
	if (options->target.tids.count)
		memcpy(kept + options->target.pids.count, options->target.tids.items,
		       options->target.tids.count * sizeof(*kept));
	options->target.pids.items = kept;
	options->target.tids.items = kept + options->target.pids.count;
	options->target.command = NULL;
	options->events.text = NULL;
	options->events.lists = NULL;
	options->target.cgroups = (struct sp_string_list){0};
	return NULL;
}

struct sp_error *sp_stat_new(struct sp_ctx *ctx, const struct sp_stat_options *options,
			     struct sp_stat **ret)
{
	CLEANUP(cleanup_sp_stat_free) struct sp_stat *stat = calloc(1, sizeof(*stat));
	NEED(stat);
	stat->ctx = ctx;
	stat->kernel = event_kernel_real();
	workload_init(&stat->workload);
	struct sp_stat_options given;
	TRY(sized_copy(&given, sizeof(given), options));
	const struct sized_group groups[] = {
		{&stat->options.target, sizeof(stat->options.target), given.target, "target"},
		{&stat->options.events, sizeof(stat->options.events), given.events, "events"},
	};
	stat->options.disabled = given.disabled;
	stat->options.aggregate = given.aggregate;
	stat->options.cache_level = given.cache_level;
	TRY(sized_copy_groups(groups, 2));
	TRY(set_up(stat));
	TRY(copy_targets(stat));
	*ret = take_ptr(stat);
	return NULL;
}

void sp_stat_free(struct sp_stat *stat)
{
	if (!stat)
		return;
	for (size_t i = 0; i < stat->counter_count; i++) {
		for (size_t u = 0; u < stat->counters[i].unit_count; u++)
			if (stat->counters[i].units[u].fd >= 0)
				stat->kernel->close(stat->kernel->arg, stat->counters[i].units[u].fd);
		free(stat->counters[i].units);
	}
	vec_each (cgroup, &stat->cgroups)
		close(*cgroup);
	vec_deinit(&stat->cgroups);
	vec_deinit(&stat->targets);
	vec_deinit(&stat->cpus);
	vec_deinit(&stat->places);
	workload_deinit(&stat->workload);
	event_specs_deinit(&stat->specs);
	event_notes_deinit(&stat->notes);
	arena_deinit(&stat->arena);
	free(stat->filters);
	free(stat->counters);
	free(stat->events);
	free(stat->rows);
	free(stat->cpu_states);
	free(stat->buffer);
	free(stat);
}

/* A task that ended is no error. */
static struct sp_error *switch_all(struct sp_stat *stat, unsigned long request)
{
	for (size_t i = 0; i < stat->counter_count; i++) {
		const struct counter *counter = &stat->counters[i];
		for (size_t u = 0; u < counter->unit_count && counter_is_leader(stat, i); u++)
			if (counter->units[u].fd >= 0 && ioctl(counter->units[u].fd, request, 0) < 0 &&
			    errno != ESRCH)
				return error_os(errno, "cannot enable or disable %s", stat->events[i].name);
	}
	return NULL;
}

struct sp_error *sp_stat_enable(struct sp_stat *stat)
{
	/* Times count from here on. */
	if (!stat->enabled_once)
		stat->start_ns = stat_now_ns();
	stat->enabled_once = true;
	struct sp_error *error = switch_all(stat, PERF_EVENT_IOC_ENABLE);
	stat_watch_cpus(stat, true);
	return error;
}

struct sp_error *sp_stat_disable(struct sp_stat *stat)
{
	stat_watch_cpus(stat, false);
	return switch_all(stat, PERF_EVENT_IOC_DISABLE);
}

/* Enables the events. A command's exec enables its own events, except those that follow no task. */
static struct sp_error *begin(struct sp_stat *stat)
{
	bool own = stat->has_command && !stat->only_says_how_long;
	if (stat->options.disabled)
		return NULL;
	if (!own)
		return sp_stat_enable(stat);
	stat->enabled_once = true;
	for (size_t i = 0; i < stat->counter_count; i++) {
		const struct counter *counter = &stat->counters[i];
		bool of_cpus = counter->spec->cpus_only && counter_is_leader(stat, i);
		for (size_t u = 0; u < counter->unit_count && of_cpus; u++)
			if (counter->units[u].fd >= 0 &&
			    ioctl(counter->units[u].fd, PERF_EVENT_IOC_ENABLE, 0) < 0)
				return error_os(errno, "cannot enable %s", stat->events[i].name);
	}
	return NULL;
}

struct sp_error *sp_stat_start(struct sp_stat *stat)
{
	stat->start_ns = stat_now_ns();
	TRY(begin(stat));
	if (stat->has_command)
		TRY(workload_start(&stat->workload, stat->command_name));
	return NULL;
}

int sp_stat_fd(const struct sp_stat *stat)
{
	return stat->workload.pidfd;
}

pid_t sp_stat_pid(const struct sp_stat *stat)
{
	return stat->workload.pid;
}

bool sp_stat_targets_gone(const struct sp_stat *stat)
{
	const struct sp_number_list *pids = &stat->options.target.pids, *tids = &stat->options.target.tids;
	if (!pids->count && !tids->count)
		return false;
	vec_each (pid, pids)
		if (kill(*pid, 0) == 0 || errno != ESRCH)
			return false;
	vec_each (tid, tids)
		if (kill(*tid, 0) == 0 || errno != ESRCH)
			return false;
	return true;
}

static void set_end(struct sp_stat *stat)
{
	if (!stat->end_ns)
		stat->end_ns = stat_now_ns();
}

struct sp_error *sp_stat_stop(struct sp_stat *stat)
{
	if (stat->stopped)
		return NULL;
	stat->stopped = true;
	set_end(stat);
	/* An ended command has no event to disable. */
	struct sp_error *error = stat->workload.ended && !stat->only_says_how_long
					 ? NULL : switch_all(stat, PERF_EVENT_IOC_DISABLE);
	return error_first(sp_stat_read(stat), error);
}

struct sp_error *sp_stat_wait(struct sp_stat *stat, bool wait, bool *ended_ret, int *status_ret)
{
	TRY(workload_reap(&stat->workload, wait));
	if (stat->workload.ended)
		set_end(stat);
	*ended_ret = stat->workload.ended;
	*status_ret = stat->workload.status;
	return NULL;
}

size_t sp_stat_event_count(const struct sp_stat *stat)
{
	return stat->counter_count;
}

DEFINE_GETTER(sp_stat_event, sp_stat_event, sp_stat, events, counter_count)

size_t sp_stat_place_count(const struct sp_stat *stat)
{
	return stat->places.count;
}

DEFINE_GETTER(sp_stat_place, sp_stat_place, sp_stat, places.items, places.count)

size_t sp_stat_note_count(const struct sp_stat *stat)
{
	return stat->notes.count;
}

const char *sp_stat_note(const struct sp_stat *stat, size_t index)
{
	return stat->notes.items[index].line;
}
