/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A thread that is preempted still could run, so only waits make steps. Preempted threads count because a
 * number of running threads would be wrong on a busy machine: 25 % for a serial part of 42 % of the time.
 *
 * The number is exact up to 2^24 - 2 threads; more are counted as that.
 */
#include "states/task_latency.h"

enum latency_step {
	STEP_UP,
	STEP_DOWN,
};

void task_latency_deinit(struct task_latency *latency)
{
	task_events_deinit(&latency->steps);
	vec_deinit(&latency->integrals);
}

static bool could_run(const struct task_piece *piece)
{
	return piece->end_ns > piece->begin_ns &&
	       (piece->state == TASK_RUNNING || piece->state == TASK_RUNNABLE);
}

static bool add_step(struct task_latency *latency, uint32_t pid, enum latency_step step,
		     uint64_t time_ns)
{
	struct task_thread *process = task_events_thread(&latency->steps, pid, pid);
	return process && task_events_add(&latency->steps, process, step, time_ns, 0);
}

/* Adds a step where a life's thread begins or ceases to be able to run. Returns false when out of memory. */
static bool add_life(struct task_latency *latency, const struct task_lives *lives,
		     const struct task_life *life)
{
	bool can = false;
	uint64_t until_ns = life->totals.begin_ns;
	for (size_t i = 0; i <= life->count; i++) {
		struct task_piece pieces[TASK_SPLIT_PIECES];
		size_t count = task_life_split_pieces(lives, life, i, pieces);
		for (size_t j = 0; j < count; j++) {
			if (pieces[j].end_ns == pieces[j].begin_ns)
				continue;
			bool next = could_run(&pieces[j]);
			if (next != can && !add_step(latency, life->totals.pid, next ? STEP_UP : STEP_DOWN,
						     pieces[j].begin_ns))
				return false;
			can = next;
			until_ns = pieces[j].end_ns;
		}
	}
	return !can || add_step(latency, life->totals.pid, STEP_DOWN, until_ns);
}

static double share_of(uint64_t length_ns, uint32_t number)
{
	return number ? (double)length_ns / number : 0;
}

/* Replaces the steps of a process by numbers, and sums. */
static void sum_process(struct task_latency *latency, const struct task_thread *process)
{
	struct task_event *steps = latency->steps.items.items;
	uint32_t number = 0;
	double integral = 0;
	for (size_t i = process->first; i < process->first + process->count; i++) {
		if (i > process->first)
			integral += share_of(steps[i].time_ns - steps[i - 1].time_ns, number);
		if (i % TASK_LATENCY_EACH == 0)
			latency->integrals.items[i / TASK_LATENCY_EACH] = integral;
		if (steps[i].kind == STEP_DOWN)
			number -= number > 0;
		else
			number += number < TASK_CPU_UNKNOWN - 1;
		steps[i].cpu = number & TASK_CPU_UNKNOWN;
	}
}

bool task_latency_make(struct task_latency *latency, const struct task_lives *lives)
{
	for (size_t i = 0; i < lives->items.count; i++)
		if (!add_life(latency, lives, &lives->items.items[i]))
			return false;
	size_t count = latency->steps.items.count / TASK_LATENCY_EACH + 1;
	if (!task_events_sort(&latency->steps) || !vec_reserve(&latency->integrals, count))
		return false;
	latency->integrals.count = count;
	for (size_t i = 0; i < latency->steps.threads.count; i++)
		sum_process(latency, &latency->steps.threads.items[i]);
	return true;
}

/* Returns a process; NULL: unknown. */
static const struct task_thread *find_process(const struct task_latency *latency, uint32_t pid)
{
	const uint32_t *index = u64map_find(&latency->steps.thread_of, pid);
	return index ? &latency->steps.threads.items[*index] : NULL;
}

double task_latency_between(const struct task_latency *latency, uint32_t pid, uint64_t from_ns,
			    uint64_t until_ns)
{
	const struct task_thread *process = find_process(latency, pid);
	if (!process)
		return 0;
	const struct task_event *steps = latency->steps.items.items;
	const double *integrals = latency->integrals.items;
	size_t end = process->first + process->count;
	size_t next = process->first +
		      sorted_up_to(steps + process->first, process->count, .time_ns, from_ns);
	uint32_t number = next > process->first ? steps[next - 1].cpu : 0;
	double sum = 0;
	while (next < end && steps[next].time_ns < until_ns) {
		size_t at = next++;
		sum += share_of(steps[at].time_ns - from_ns, number);
		for (; at % TASK_LATENCY_EACH == 0 && at + TASK_LATENCY_EACH < end &&
		       steps[at + TASK_LATENCY_EACH].time_ns < until_ns; next = at + 1) {
			size_t block = at / TASK_LATENCY_EACH;
			sum += integrals[block + 1] - integrals[block];
			at += TASK_LATENCY_EACH;
		}
		from_ns = steps[at].time_ns;
		number = steps[at].cpu;
	}
	return sum + share_of(until_ns - from_ns, number);
}

uint32_t task_latency_number(const struct task_latency *latency, uint32_t pid, uint64_t time_ns)
{
	const struct task_thread *process = find_process(latency, pid);
	if (!process)
		return 0;
	const struct task_event *steps = latency->steps.items.items + process->first;
	size_t count = sorted_up_to(steps, process->count, .time_ns, time_ns);
	return count ? steps[count - 1].cpu : 0;
}
