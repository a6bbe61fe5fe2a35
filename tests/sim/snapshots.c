/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares stack snapshots in the files with the true stacks of waiting tasks. */
#include <sprof/record.h>
#include <stdlib.h>
#include "blocked.h"
#include "found.h"
#include "capture/config/off_cpu.h"

/* Records of one moment have different times: of each event that gets one. */
#define SWITCH_NS 32

/* Largest period of a wait that is shorter, in intervals. */
#define WEIGHT_MAX 4

/* Waits that overlap the recording by more must have a stack: some intervals of snapshots, and of rounds. */
#define LONG_NS (100 * SIM_MS)
/* Snapshots of younger waits are dropped if a part of the switches is sampled: at a high rate. */
#define YOUNG_NS (50 * SIM_MS)
#define HIGH_RATE 2500 /* switches a second */

static bool is_switch(const struct sim_truth *truth)
{
	return truth->type == PERF_RECORD_SWITCH || truth->type == PERF_RECORD_SWITCH_CPU_WIDE;
}

/* -- Index of switches ------------------------------------------------------- */

static const struct sim_truth **switches; /* by thread, then by time */
static size_t switch_count;

static int compare_switches(const void *a, const void *b)
{
	const struct sim_truth *x = *(const struct sim_truth *const *)a;
	const struct sim_truth *y = *(const struct sim_truth *const *)b;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

static void index_switches(void)
{
	switches = calloc(sim_perf.truth_count + 1, sizeof(*switches));
	if (!switches)
		abort();
	for (size_t i = 0; i < sim_perf.truth_count; i++)
		if (is_switch(&sim_perf.truth[i]))
			switches[switch_count++] = &sim_perf.truth[i];
	qsort(switches, switch_count, sizeof(*switches), compare_switches);
}

/* The thread's first switch at that time or later; NULL: none. */
static const struct sim_truth *switch_from(uint32_t tid, uint64_t time_ns)
{
	size_t low = 0, high = switch_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct sim_truth *at = switches[middle];
		if (at->tid < tid || (at->tid == tid && at->time_ns < time_ns))
			low = middle + 1;
		else
			high = middle;
	}
	return low < switch_count && switches[low]->tid == tid ? switches[low] : NULL;
}

/* The switch that began the wait; NULL: it has no record. */
static const struct sim_truth *out_of(const struct sim_task *task, const struct sim_wait *wait)
{
	uint64_t early_ns = wait->begin_ns > SWITCH_NS ? wait->begin_ns - SWITCH_NS : 0;
	const struct sim_truth *out = switch_from(task->tid, early_ns);
	return out && out->time_ns <= wait->begin_ns && out->misc & PERF_RECORD_MISC_SWITCH_OUT ? out : NULL;
}

/* The switch after the wait; NULL: it has no record. */
static const struct sim_truth *in_of(const struct sim_task *task, const struct sim_wait *wait)
{
	return wait->end_ns ? switch_from(task->tid, wait->end_ns) : NULL;
}

/* -- Samples ------------------------------------------------------------------- */

/* The wait that a thread was in at that time, or it had not run since; NULL: none. */
static struct sim_wait *wait_at(const struct sim_task *task, uint64_t time_ns)
{
	size_t low = 0, high = task->wait_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (task->waits[middle].begin_ns <= time_ns + SWITCH_NS)
			low = middle + 1;
		else
			high = middle;
	}
	struct sim_wait *wait = low ? &task->waits[low - 1] : NULL;
	const struct sim_truth *in = wait ? in_of(task, wait) : NULL;
	return wait && (in ? time_ns < in->time_ns : !wait->end_ns || time_ns < wait->end_ns) ? wait : NULL;
}

/* The first attempt that found the thread off the CPU from begin to end. */
static const struct sim_look *look_at(const struct sim_task *task, const struct sim_wait *wait,
				      uint64_t from_ns)
{
	const struct sim_truth *in = in_of(task, wait);
	for (size_t i = 0; i < sim_looks.count; i++) {
		const struct sim_look *look = &sim_looks.items[i];
		if (look->tid == task->tid && look->end_ns && look->wait == wait->begin_ns &&
		    look->begin_ns >= from_ns && (!in || look->end_ns < in->time_ns))
			return look;
	}
	return NULL;
}

static void compare_stack(const struct sim_task *task, struct sim_wait *wait,
			  const struct sim_found *found)
{
	static struct sim_stack stack;
	int call = sim_wait_stack(task, wait, &stack);
	unsigned int end = (found->misc & SP_MISC_END_MASK) >> SP_MISC_END_SHIFT;
	bool whole = !found->has_stack && end == SP_MISC_END_COMPLETE;
	uint16_t changes = SP_MISC_SHORTENED | SP_MISC_REPAIRED | (sim.fault_name ? SP_MISC_GUESSED : 0);
	if (!stack.depth || found->ip != stack.chain[0] || found->addr != (uint64_t)(call + 1))
		sim_violation("the snapshot of thread %u at %llu is another wait's", task->tid,
			      (unsigned long long)found->time_ns);
	else if (whole && !(found->misc & changes) && found->chain_hash != sim_stack_hash(&stack))
		sim_violation("the stack of thread %u at %llu is another wait's", task->tid,
			      (unsigned long long)found->time_ns);
	else if (!whole && !sim.fault_name && end != SP_MISC_END_SKIPPED)
		sim_violation("the stack of thread %u at %llu is incomplete (end %u)", task->tid,
			      (unsigned long long)found->time_ns, end);
}

/*
 * A reading that takes `read_ns` finds a wait with the probability (duration_ns - read_ns) / interval. The
 * period is the duration divided by it, and at most WEIGHT_MAX intervals.
 */
static double period_of(uint64_t duration_ns, uint64_t read_ns)
{
	double duration = (double)duration_ns, period = WEIGHT_MAX * (double)OFF_CPU_SNAPSHOT_NS;
	double rest = duration - (double)read_ns;
	if (rest * WEIGHT_MAX > duration)
		period = duration * (double)OFF_CPU_SNAPSHOT_NS / rest;
	return period > duration ? period : duration;
}

struct checking {
	const struct sim_scenario *scenario;
	const struct sim_read_back *read_back;
	bool exact;         /* the file has all that the recorder wrote */
	uint64_t snapshots, waits, compared;
	/* Time of waits that began and ended meanwhile; time by snapshots. */
	double blocked_ns, written_ns;
};

static void check_period(struct checking *checking, const struct sim_task *task,
			 const struct sim_wait *wait, const struct sim_found *found)
{
	const struct sim_truth *in = in_of(task, wait);
	if (found->misc & SP_MISC_UNFINISHED) {
		if (in && found->time_ns + found->period > in->time_ns)
			sim_violation("the wait of thread %u at %llu ended before the period of %llu",
				      task->tid, (unsigned long long)found->time_ns,
				      (unsigned long long)found->period);
		return;
	}
	if (!in) {
		sim_violation("the wait of thread %u at %llu is not over", task->tid,
			      (unsigned long long)found->time_ns);
		return;
	}
	/* Another switch of the thread is taken for a lost one. */
	if (in->fate == SIM_LOST)
		return;
	uint64_t duration_ns = in->time_ns - found->time_ns;
	const struct sim_look *look = look_at(task, wait, found->time_ns);
	/* The rest of a wait with a stack that was read in an earlier file. */
	const struct sim_truth *out = out_of(task, wait);
	look = look ?: look_at(task, wait, out ? out->time_ns : 0);
	if (!look) {
		sim_violation("the stack of thread %u at %llu was never read", task->tid,
			      (unsigned long long)found->time_ns);
		return;
	}
	double period = period_of(duration_ns, look->end_ns - look->begin_ns);
	if (out && in->time_ns <= sim_result.stop_ns)
		checking->written_ns += (double)found->period;
	bool is_alone = (double)found->period > period - 1 && (double)found->period < period + 1;
	if (!is_alone && !sim_is_of_part(duration_ns, duration_ns, found->period))
		sim_violation("the wait of %llu ns of thread %u at %llu has a period of %llu",
			      (unsigned long long)duration_ns, task->tid,
			      (unsigned long long)found->time_ns, (unsigned long long)found->period);
}

static void check_snapshot(struct checking *checking, const struct sim_found *found)
{
	const struct sim_task *task = sim_task_find(found->tid);
	struct sim_wait *wait = task ? wait_at(task, found->time_ns) : NULL;
	checking->snapshots++;
	if (!found->is_wait || !wait || task->process->pid != found->pid) {
		sim_violation("the snapshot of thread %u at %llu is of no wait", found->tid,
			      (unsigned long long)found->time_ns);
		return;
	}
	compare_stack(task, wait, found);
	check_period(checking, task, wait, found);
}

/* -- Waits --------------------------------------------------------------------- */

static bool has_sample(const struct sim_read_back *read_back, uint32_t tid, uint64_t from_ns,
		       uint64_t until_ns)
{
	size_t low = 0, high = read_back->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (read_back->items[middle].time_ns < from_ns)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < read_back->count && read_back->items[low].time_ns <= until_ns; low++)
		if (read_back->items[low].is_wait && read_back->items[low].tid == tid)
			return true;
	return false;
}

/* Whether the kernel has sampled the switch: then the wait may be thinned. */
static bool is_sampled(const struct sim_truth *out)
{
	const struct sim_truth *at = out;
	for (; at >= sim_perf.truth && out->time_ns - at->time_ns <= SWITCH_NS; at--)
		if (at->type == PERF_RECORD_SAMPLE && at->tid == out->tid && sim_is_wait(at->id))
			return true;
	return false;
}

/* The stack that an attempt read from begin to end is in the file; that of a long wait has an attempt. */
static void check_wait(struct checking *checking, const struct sim_task *task, struct sim_wait *wait)
{
	const struct sim_truth *out = out_of(task, wait), *in = in_of(task, wait);
	uint64_t begin_ns = out ? out->time_ns : wait->begin_ns;
	uint64_t end_ns = in ? in->time_ns : sim_result.stop_ns;
	uint64_t from_ns = begin_ns > sim_result.begin_ns ? begin_ns : sim_result.begin_ns;
	bool before = wait->begin_ns < sim_result.open_ns;
	bool early = wait->end_ns && wait->end_ns < sim_result.begin_ns;
	if (early || (!out && !before) || (out && (out->fate == SIM_LOST || is_sampled(out))) ||
	    (in && in->fate == SIM_LOST) || end_ns > sim_result.stop_ns || from_ns >= end_ns)
		return;
	/*
	 * The periods of the part that is sampled stand for younger waits. The recorder reads them
	 * before it knows the rate, and if it has not yet read that the thread ran since. At a
	 * moderate rate, each stack that was read is in the file.
	 */
	double seconds = (double)(sim_result.stop_ns - sim_result.begin_ns) / 1e9;
	bool is_high = (double)switch_count / 2 > HIGH_RATE * seconds;
	const struct sim_look *look = look_at(task, wait, from_ns + (is_high ? YOUNG_NS : 0));
	bool is_long = end_ns - from_ns > LONG_NS && task->process->map_count &&
		       !sim_is_refused(task->process);
	checking->waits++;
	/* A thread that is woken, and waits for a CPU, is not found. */
	uint64_t found_until_ns = end_ns - begin_ns < OFF_CPU_SNAPSHOT_NS ? wait->end_ns : end_ns;
	if (out && in)
		checking->blocked_ns += (double)(found_until_ns - begin_ns);
	if (!is_long && !look)
		return;
	checking->compared++;
	if (!has_sample(checking->read_back, task->tid, before ? 0 : begin_ns, end_ns))
		sim_violation("the wait of thread %u from %llu to %llu has no stack%s", task->tid,
			      (unsigned long long)begin_ns, (unsigned long long)end_ns,
			      look ? ", though it was read" : "");
}

static void check_waits(struct checking *checking)
{
	const struct sim_scenario *scenario = checking->scenario;
	for (size_t i = 0; i < sim_machine.task_count; i++) {
		const struct sim_task *task = sim_machine.tasks[i];
		bool wanted = scenario->target == SIM_SYSTEM || task->followed;
		if (!wanted || task->uncertain || task->process == sim_machine.recorder)
			continue;
		for (size_t k = 0; k < task->wait_count; k++)
			check_wait(checking, task, &task->waits[k]);
	}
}

void sim_check_snapshots(const struct sim_scenario *scenario, const struct sim_read_back *read_back,
			 bool killed)
{
	struct checking checking = {
		.scenario = scenario, .read_back = read_back,
		.exact = !killed && !sim_result.failed && !sim.fault_name,
	};
	bool unwinds = scenario->chains.call_graph == SP_CALL_GRAPH_DWARF &&
		       scenario->chains.unwind != SP_UNWIND_LATER;
	index_switches();
	for (size_t i = 0; i < read_back->count; i++) {
		const struct sim_found *found = &read_back->items[i];
		if (found->type == PERF_RECORD_SAMPLE && found->misc & SP_MISC_SNAPSHOT)
			check_snapshot(&checking, found);
	}
	if (unwinds && checking.exact && !read_back->dropped_waits && !scenario->hesitation_ms)
		check_waits(&checking);
	if (checking.exact && read_back->denied != sim_looks.denied)
		sim_violation("%llu snapshots were denied, the recorder counted %llu",
			      (unsigned long long)sim_looks.denied, (unsigned long long)read_back->denied);
	if (sim.verbose)
		printf("# snapshots: %llu, %zu attempts, %llu denied; %llu of %llu waits compared; "
		       "%.3f ms, blocked %.3f ms\n",
		       (unsigned long long)checking.snapshots, sim_looks.count,
		       (unsigned long long)sim_looks.denied, (unsigned long long)checking.compared,
		       (unsigned long long)checking.waits, checking.written_ns / 1e6,
		       checking.blocked_ns / 1e6);
}
