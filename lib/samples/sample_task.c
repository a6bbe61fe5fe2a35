/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "samples/sample_task.h"

#include "profile/filter.h"

uint64_t sample_time(const struct counted *counted, const struct sp_record *record)
{
	return counted->work->sideband->by_offset ? record->file_offset : record->sample.time_ns;
}

/*
 * Updates a task's name and mappings, because `time_ns` is outside of the span for which they are
 * valid.
 */
static void task_refresh(struct counted *counted, struct task *task, uint64_t time_ns)
{
	const struct sp_filter *filter = &counted->work->options->filter;
	task->span = machine_span(counted->work->machine, task->pid, task->tid, time_ns);
	task->shown = filter_name(filter->comms.items, filter->comms.count, task->span.name) &&
		      filter_task(filter, task->pid, task->tid);
	task->last_event = SP_EVENT_NONE;
	task->text = NULL;
}

struct task *sample_task(struct counted *counted, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	bool added = false;
	struct task *task = counted->tasks.count ? &counted->tasks.items[counted->last_task] : NULL;
	if (!task || task->pid != pid || task->tid != tid) {
		uint64_t key = (uint64_t)pid << 32 | tid;
		if (!vec_reserve(&counted->tasks, counted->tasks.count + 1))
			return NULL;
		const uint32_t *index = u64map_put(&counted->task_of, key,
						   (uint32_t)counted->tasks.count, &added);
		if (!index)
			return NULL;
		if (added)
			*vec_push(&counted->tasks) = (struct task){.pid = pid, .tid = tid};
		counted->last_task = *index;
		task = &counted->tasks.items[*index];
	}
	if (added || time_ns < task->span.from_ns || time_ns >= task->span.until_ns)
		task_refresh(counted, task, time_ns);
	return task;
}
