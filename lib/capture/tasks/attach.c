/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/tasks/attach.h"

#include "base/cleanup.h"
#include "capture/tasks/attach_tasks.h"
#include "capture/tasks/descendants.h"
#include "capture/tasks/describe_tasks.h"
#include "capture/tasks/find.h"
#include "capture/tasks/event_places.h"

static struct sp_error *open_places(const struct recorded_tasks *tasks, struct event_set *set,
				    enum event_role role, int32_t tid)
{
	CLEANUP(event_places_deinit) struct event_places places = {0};
	TRY(event_places_add(&places, tasks->parts.config, tid, -1));
	return event_set_open(set, role, places.items, places.count);
}

/*
 * Opens the command's own ring, if the kernel permits. The command waits for its start: it has made
 * no record yet.
 */
static struct sp_error *open_command_ring(struct recorded_tasks *tasks, struct event_set *set)
{
	const struct capture_config *config = tasks->parts.config;
	const struct sp_event *events;
	size_t count;
	TRY(event_set_events(set, &events, &count));
	/* The last event is that of the metadata. */
	const struct command_ring_options options = {
		.kernel = tasks->parts.kernel, .plan = config->plan,
		.tid = tasks->tracker.command_pid, .listed_id = events[count - 1].ids[0],
		.ring_bytes = config->ring_pages.sideband * config->rights.page_size,
	};
	command_ring_open(&tasks->tracker.own, &options);
	return NULL;
}

static struct sp_error *attach_cpus(struct recorded_tasks *tasks, struct event_set *set)
{
	struct sp_error *error = event_places_reserve(tasks->parts.ctx, tasks->parts.config, 1);
	if (!error)
		error = open_places(tasks, set, EVENT_ROLE_SIDEBAND, -1);
	if (!error && tasks->tracker.command_pid)
		error = open_command_ring(tasks, set);
	if (!error)
		error = tasks_find_threads(tasks);
	/* FORK records of listed tasks are older; names that change after the next call are newer. */
	tasks->open_ns = tasks_now_ns(tasks);
	if (!error)
		error = tasks_read_stats(tasks);
	if (error)
		return error;
	return open_places(tasks, set, EVENT_ROLE_SAMPLES, -1);
}

static struct sp_error *attach_command(struct recorded_tasks *tasks, struct event_set *set)
{
	int32_t pid = tasks->workload.pid;
	TRY(event_places_reserve(tasks->parts.ctx, tasks->parts.config, 1));
	TRY(open_places(tasks, set, EVENT_ROLE_SIDEBAND, pid));
	return open_places(tasks, set, EVENT_ROLE_SAMPLES, pid);
}

static struct sp_error *describe(struct recorded_tasks *tasks, const struct attach_parts *parts)
{
	struct sp_error *error = tasks_describe_system(tasks, parts->set);
	if (error || parts->describes_at_end)
		return error;
	return tasks_describe_processes(tasks);
}

static struct sp_error *attach_by_task(struct recorded_tasks *tasks,
				       const struct attach_parts *parts)
{
	CLEANUP(task_attachment_deinit) struct task_attachment attachment = {
		.tasks = tasks, .set = parts->set, .rings = parts->rings,
		.coverage.follow = tasks->parts.config->inherit,
	};
	TRY(attach_tasks(&attachment));
	TRY(describe(tasks, parts));
	/* Forks that began before the events were opened have ended by now. */
	TRY(attach_tasks_again(&attachment));
	if (!parts->describes_at_end)
		TRY(tasks_describe_later(tasks));
	TRY(tasks_note_refused(tasks));
	/* Detection of double sampling needs the index of each event by its ids. */
	const struct sp_event *events;
	size_t count;
	if (!tasks->double_sampling.tasks.count)
		return NULL;
	TRY(event_set_events(parts->set, &events, &count));
	for (size_t i = 0; i + 1 < count; i++)
		for (size_t j = 0; j < events[i].id_count; j++)
			NEED(double_sampling_add_id(&tasks->double_sampling, events[i].ids[j], i));
	return NULL;
}

struct sp_error *tasks_attach(struct recorded_tasks *tasks, const struct attach_parts *parts)
{
	const struct capture_config *config = tasks->parts.config;
	if (!config->plan->cpu_wide && config->target != CAPTURE_COMMAND)
		return attach_by_task(tasks, parts);
	TRY(config->plan->cpu_wide ? attach_cpus(tasks, parts->set)
				   : attach_command(tasks, parts->set));
	return describe(tasks, parts);
}
