/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/tasks/attach_tasks.h"

#include "base/cleanup.h"
#include "capture/tasks/descendants.h"
#include "capture/tasks/find.h"
#include "capture/tasks/event_places.h"

/*
 * Limit of passes: in a process with threads that create the next one and end, no pass may be the
 * last. A note reports that.
 */
#define PASSES_MAX 100

void task_attachment_deinit(struct task_attachment *attachment)
{
	coverage_deinit(&attachment->coverage);
}

/* Finds where the threads of all processes last ran: opening their events there is cheaper. */
static struct sp_error *find_last_cpus(struct recorded_tasks *tasks, struct u64map *last_cpus)
{
	TRY(tasks_read_stats(tasks));
	vec_each (process, &tasks->processes) {
		for (size_t j = 0; j < process->stat_count; j++) {
			const struct task_stat *stat = &process->stats[j];
			NEED(u64map_put(last_cpus, stat->tid, stat->last_cpu, NULL));
		}
	}
	return NULL;
}

/* -- One pass -------------------------------------------------------------- */

struct attach_pass {
	struct u64map last_cpus;
	struct event_places sideband, samples;
};

static void pass_deinit(struct attach_pass *pass)
{
	u64map_deinit(&pass->last_cpus);
	event_places_deinit(&pass->sideband);
	event_places_deinit(&pass->samples);
}

static struct sp_error *plan_pass(const struct task_attachment *attachment,
				  struct attach_pass *pass)
{
	const struct capture_config *config = attachment->tasks->parts.config;
	vec_each (cover, &attachment->coverage.covers) {
		if (cover->state != COVER_NONE)
			continue;
		uint32_t *cpu = u64map_find(&pass->last_cpus, cover->tid);
		int32_t tid = cover->tid, last_cpu = cpu ? (int32_t)*cpu : -1;
		TRY(event_places_add(&pass->sideband, config, tid, last_cpu));
		if (cover->samples)
			TRY(event_places_add(&pass->samples, config, tid, last_cpu));
	}
	return NULL;
}

static void mark_ended(struct task_attachment *attachment, const struct event_places *places)
{
	vec_each (place, places) {
		if (place->status != EVENT_PLACE_GONE)
			continue;
		uint32_t tid = place->tid;
		coverage_find(&attachment->coverage, tid)->state = COVER_ENDED;
		membership_exit(&attachment->tasks->membership, tid);
	}
}

/* Tasks opened in later passes may have inherited events as well. */
static struct sp_error *mark_opened(struct task_attachment *attachment, const struct event_places *places,
				    bool first)
{
	struct recorded_tasks *tasks = attachment->tasks;
	uint64_t end_ns = tasks_now_ns(tasks);
	vec_each (place, places) {
		struct cover *cover = coverage_find(&attachment->coverage, place->tid);
		if (cover->state != COVER_NONE)
			continue;
		cover->state = COVER_OPENED;
		cover->end_ns = end_ns;
		if (!first && tasks->parts.config->inherit &&
		    !double_sampling_add_task(&tasks->double_sampling, cover->tid))
			return error_no_memory();
	}
	return NULL;
}

/* more_ret: events were opened. */
static struct sp_error *attach_pass(struct task_attachment *attachment, bool first, bool *more_ret)
{
	CLEANUP(pass_deinit) struct attach_pass pass = {0};
	struct sp_error *error = first ? find_last_cpus(attachment->tasks, &pass.last_cpus) : NULL;
	if (!error)
		error = plan_pass(attachment, &pass);
	*more_ret = pass.sideband.count;
	if (error || !*more_ret)
		return error;
	struct event_set *set = attachment->set;
	const struct tasks_parts *parts = &attachment->tasks->parts;
	size_t tasks = pass.sideband.count / parts->config->cpus.count;
	TRY(event_places_reserve(parts->ctx, parts->config, tasks));
	TRY(event_set_open(set, EVENT_ROLE_SIDEBAND, pass.sideband.items, pass.sideband.count));
	TRY(event_set_open(set, EVENT_ROLE_SAMPLES, pass.samples.items, pass.samples.count));
	mark_ended(attachment, &pass.sideband);
	mark_ended(attachment, &pass.samples);
	return mark_opened(attachment, &pass.sideband, first);
}

/* -- All passes ------------------------------------------------------------ */

static struct sp_error *add_fresh(struct task_attachment *attachment, struct recorded_process *process,
				  const struct task_list *fresh)
{
	struct recorded_tasks *tasks = attachment->tasks;
	vec_each (item, fresh) {
		uint32_t tid = *item, *later = vec_push(&process->later);
		bool samples = tasks_wants_thread(tasks, tid);
		NEED(later && coverage_add(&attachment->coverage, process->pid, tid, samples));
		*later = tid;
		TRY(tasks_follow_wanted(tasks, process->pid, tid));
	}
	return NULL;
}

/* Adds the threads that processes have created since they were listed. */
static struct sp_error *relist(struct task_attachment *attachment)
{
	struct recorded_tasks *tasks = attachment->tasks;
	CLEANUP(task_list_deinit) struct task_list fresh = {0};
	vec_each (process, &tasks->processes) {
		struct sp_error *error = tasks_relist(tasks->parts.ctx, process->pid,
						      &process->threads, &fresh);
		if (error && sp_error_code(error) == SP_ERROR_NOT_FOUND) {
			sp_error_free(error); /* it has ended */
			continue;
		}
		if (!error)
			error = add_fresh(attachment, process, &fresh);
		if (error)
			return error;
	}
	return NULL;
}

static struct sp_error *add_births(struct task_attachment *attachment)
{
	struct tracker *tracker = &attachment->tasks->tracker;
	bool threads_only = attachment->tasks->parts.config->threads_only;
	struct sp_error *error = tasks_drain(attachment->tasks, attachment->rings);
	for (size_t i = 0; i < tracker->births.count && !error; i++) {
		const struct task_change *birth = &tracker->births.items[i];
		/* With threads only, a child process inherits no events, and must have none. */
		if (threads_only && birth->is_process)
			continue;
		if (!coverage_fork(&attachment->coverage, birth))
			error = error_no_memory();
	}
	tracker->births.count = 0;
	return error;
}

/* Adds tasks created meanwhile: first those in /proc, then those of FORK records, in that order. */
static struct sp_error *add_created(struct task_attachment *attachment, bool descendants)
{
	if (descendants)
		TRY(tasks_find_descendants(attachment->tasks));
	if (attachment->coverage.follow)
		TRY(relist(attachment));
	return add_births(attachment);
}

static struct sp_error *attach_passes(struct task_attachment *attachment, bool first)
{
	struct recorded_tasks *tasks = attachment->tasks;
	const struct capture_config *config = tasks->parts.config;
	bool descendants = first && config->inherit && !config->threads_only;
	bool more = true;
	for (int pass = 0; pass < PASSES_MAX && more; pass++) {
		if (pass || !first)
			TRY(add_created(attachment, descendants));
		TRY(attach_pass(attachment, first && !pass, &more));
	}
	ctx_log(tasks->parts.ctx, SP_LOG_DEBUG, "%zu tasks found, %zu may be sampled twice",
		attachment->coverage.covers.count, tasks->double_sampling.tasks.count);
	return more ? notes_add(tasks->parts.notes, NOTE_ATTACH_INCOMPLETE, NULL) : NULL;
}

struct sp_error *attach_tasks(struct task_attachment *attachment)
{
	struct recorded_tasks *tasks = attachment->tasks;
	TRY(tasks_find_threads(tasks));
	vec_each (process, &tasks->processes) {
		vec_each (thread, &process->threads) {
			uint32_t tid = *thread;
			bool samples = tasks_wants_thread(tasks, tid);
			NEED(coverage_add(&attachment->coverage, process->pid, tid, samples));
		}
	}
	tasks->tracker.collect_births = true;
	return attach_passes(attachment, true);
}

struct sp_error *attach_tasks_again(struct task_attachment *attachment)
{
	struct sp_error *error = attach_passes(attachment, false);
	attachment->tasks->tracker.collect_births = false;
	return error;
}
