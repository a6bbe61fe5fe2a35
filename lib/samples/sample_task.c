/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "samples/sample_task.h"

#include <stdio.h>
#include "base/cleanup.h"
#include "machine/pools.h"
#include "profile/filter.h"

uint64_t sample_machine_ns(const struct counted *counted, const struct sp_record *record)
{
	return counted->work->read->sideband.by_offset ? record->file_offset
						       : record->sample.time_ns;
}

/* Returns whether a thread's name passes the filter by comm, which may name its pool. */
static bool comm_is_shown(const struct sp_string_list *wanted, const char *comm)
{
	if (filter_pattern(wanted->items, wanted->count, comm))
		return true;
	vec_each (item, wanted)
		if (pool_is(*item, comm))
			return true;
	return false;
}

/*
 * Updates a task's name and mappings, because `time_ns` is outside of the span for which they are
 * valid.
 */
static void task_refresh(struct counted *counted, struct task *task, uint64_t time_ns)
{
	const struct sp_filter *filter = &counted->work->options->filter;
	task->span = machine_span(counted->work->read->machine, task->pid, task->tid, time_ns);
	task->shown = comm_is_shown(&filter->comms, task->span.name) &&
		      filter_task(filter, task->pid, task->tid);
	task->last.event = SP_EVENT_NONE;
	task->text = task->process = NULL;
}

struct task *sample_task(struct counted *counted, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	bool added = false;
	struct task *task =
		counted->tasks.count ? &counted->tasks.items[counted->tasks.last] : NULL;
	if (!task || task->pid != pid || task->tid != tid) {
		uint64_t key = key_of_pair(pid, tid);
		size_t before = counted->tasks.count;
		task = u64map_item(&counted->tasks.index_of, key, &counted->tasks);
		if (!task)
			return NULL;
		added = counted->tasks.count > before;
		task->pid = pid;
		task->tid = tid;
		counted->tasks.last = task - counted->tasks.items;
	}
	if (added || time_ns < task->span.from_ns || time_ns >= task->span.until_ns)
		task_refresh(counted, task, time_ns);
	return task;
}

bool sample_command_is_shown(const struct counted *counted, struct task *task, uint64_t time_ns)
{
	const struct sp_filter *filter = &counted->work->options->filter;
	const struct machine_command *command =
		machine_command(counted->work->read->machine, task->pid, time_ns);
	if (!task->command_known || task->command != command) {
		task->command_known = true;
		task->command = command;
		task->command_shown = filter_command(filter, command ? command->argument : NULL,
						     command ? command->line : NULL);
	}
	return task->command_shown;
}

const char *sample_process(struct counted *counted, struct task *task)
{
	if (!task->process) {
		CLEANUP_FREE char *text = machine_process_text(
			counted->work->read->machine, task->pid, task->span.from_ns, false);
		task->process = text ? strtab_add(&counted->texts, text) : NULL;
	}
	return task->process;
}

/* Returns the text of a context that is no thread; NULL: unknown. */
static const char *context_text(enum task_waker waker)
{
	static const char *const texts[] = {
		[TASK_WAKER_IDLE] = "[idle]",
		[TASK_WAKER_INTERRUPT] = "[interrupt]",
		[TASK_WAKER_SOFTIRQ] = "[softirq]",
	};
	return texts[waker];
}

/* Sets a thread's text. Returns false when out of memory. */
static bool find_thread(struct counted *counted, uint32_t pid, uint32_t tid, uint64_t time_ns,
			const char **ret)
{
	struct task *task = sample_task(counted, pid ?: tid, tid, time_ns);
	if (task && !task->text) {
		char text[64];
		snprintf(text, sizeof(text), "%.40s[%u]", task->span.name, tid);
		task->text = strtab_add(&counted->texts, text);
	}
	*ret = task ? task->text : NULL;
	return *ret;
}

/*
 * Returns whether the thread itself ran the softirq: its system call sent to a socket of this
 * machine, for instance. The innermost function that runs softirqs decides. False without symbols
 * or a stack.
 */
static bool is_softirq_of_thread(struct counted *counted, const uint64_t *ips,
				 size_t count)
{
	uint16_t cpumode = PERF_RECORD_MISC_CPUMODE_UNKNOWN;
	for (size_t i = 0; i < count; i++) {
		uint64_t ip = ips[i];
		if (chain_is_mark(ip)) {
			cpumode = chain_mark_cpumode(ip);
			continue;
		}
		if (cpumode != PERF_RECORD_MISC_KERNEL)
			return false;
		uint32_t answer = address_cache_find(&counted->answers, (struct code_address){
					ip, 0, cpumode, true});
		if (answer == ANSWER_FAILED)
			return false;
		if (answer & (ANSWER_THREAD_SOFTIRQ | ANSWER_OTHER_SOFTIRQ))
			return answer & ANSWER_THREAD_SOFTIRQ;
	}
	return false;
}

/* Sets the waker that ended the wait of a sample. Returns false when out of memory. */
static bool find_of_wait(struct counted *counted, const struct sp_sample *sample, uint64_t time_ns)
{
	const struct sample_time *of = &counted->sample.time;
	const struct task_states *states = counted->work->times->states;
	struct task_wakeup wakeup;
	counted->sample.waker = !of->is_wait ? "-" : of->wait_open ? "[not woken]" : NULL;
	if (counted->sample.waker || !of->wait_end_ns ||
	    !task_states_wakeup(states, sample->tid, of->wait_end_ns, &wakeup))
		return true;
	if (wakeup.waker == TASK_WAKER_THREAD ||
	    (wakeup.waker == TASK_WAKER_SOFTIRQ && wakeup.tid &&
	     is_softirq_of_thread(counted, wakeup.ips, wakeup.ip_count)))
		return find_thread(counted, wakeup.pid, wakeup.tid, time_ns,
				   &counted->sample.waker);
	counted->sample.waker = context_text(wakeup.waker);
	return true;
}

bool sample_find_wakers(struct counted *counted, const struct sp_record *record)
{
	const struct sp_sample *sample = &record->sample;
	struct sched_wake *wake = &counted->sample.time.wake;
	uint64_t time_ns = sample_machine_ns(counted, record);
	if (!wake->tid)
		return find_of_wait(counted, sample, time_ns) &&
		       find_thread(counted, sample->pid, sample->tid, time_ns,
				   &counted->sample.wakee);
	if (wake->waker == TASK_WAKER_SOFTIRQ && sample->tid &&
	    is_softirq_of_thread(counted, sample->ips, sample->ip_count))
		wake->waker = TASK_WAKER_THREAD;
	counted->sample.waker = context_text(wake->waker);
	if (wake->waker == TASK_WAKER_THREAD &&
	    !find_thread(counted, sample->pid, sample->tid, time_ns, &counted->sample.waker))
		return false;
	counted->sample.time.waker = counted->sample.waker ?: "[unknown]";
	return find_thread(counted, counted->sample.time.woken_pid, wake->tid, time_ns,
			   &counted->sample.wakee);
}
