/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "samples/wakers.h"

#include <stdio.h>
#include "samples/sample_task.h"

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

/* Sets the waker that ended the wait of a sample. Returns false when out of memory. */
static bool find_of_wait(struct counted *counted, const struct sp_sample *sample, uint64_t time_ns)
{
	const struct mode_sample *of = &counted->of_mode;
	const struct task_states *states = counted->work->mode->states;
	struct task_wakeup wakeup;
	counted->waker = !of->is_wait ? "-" : of->wait_open ? "[not woken]" : NULL;
	if (counted->waker || !of->wait_end_ns ||
	    !task_states_wakeup(states, sample->tid, of->wait_end_ns, &wakeup))
		return true;
	if (wakeup.waker == TASK_WAKER_THREAD)
		return find_thread(counted, wakeup.pid, wakeup.tid, time_ns, &counted->waker);
	counted->waker = context_text(wakeup.waker);
	return true;
}

/* Numbers the waker of a wake-up, so that samples of different wakers are counted apart. */
static bool set_stratum(struct counted *counted)
{
	bool added;
	const char *text = counted->waker ?: "[unknown]";
	if (!vec_reserve(&counted->wakers, counted->wakers.count + 1))
		return false;
	const uint32_t *index = u64map_put(&counted->waker_of, (uintptr_t)text,
					   (uint32_t)counted->wakers.count, &added);
	if (index && added)
		*vec_push(&counted->wakers) = text;
	if (index)
		counted->of_mode.stratum = *index;
	return index;
}

bool wakers_find(struct counted *counted, const struct sp_record *record)
{
	const struct sp_sample *sample = &record->sample;
	const struct sched_wake *wake = &counted->of_mode.wake;
	uint64_t time_ns = sample_time(counted, record);
	if (!wake->tid)
		return find_of_wait(counted, sample, time_ns) &&
		       find_thread(counted, sample->pid, sample->tid, time_ns, &counted->wakee);
	counted->waker = context_text(wake->waker);
	return (wake->waker != TASK_WAKER_THREAD ||
		find_thread(counted, sample->pid, sample->tid, time_ns, &counted->waker)) &&
	       set_stratum(counted) &&
	       find_thread(counted, counted->of_mode.woken_pid, wake->tid, time_ns, &counted->wakee);
}

bool wakers_interrupted(const struct counted *counted)
{
	enum task_waker waker = counted->of_mode.wake.waker;
	return waker == TASK_WAKER_INTERRUPT || waker == TASK_WAKER_SOFTIRQ;
}
