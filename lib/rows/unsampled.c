/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds threads and processes without a sample, and estimates the weight that is missing for that
 * reason. In each task (and on each CPU), an inherited event begins with a whole period. Tasks
 * that end earlier are therefore never sampled, however many there are. Their CPU time is known
 * from READ records (inherit_stat) and context switches; otherwise it is at most their lifetime,
 * or half a period for the fork and for each exec. A task with samples lacks at most the same.
 * That is much if thousands of tasks live for two periods.
 *
 * Samples of a clock also come at the same times after the begin of each task. If thousands of
 * threads do the same, the function at these times gets all the weight. No sample shows which code
 * ran before the first and after the last one: rows may have that time in excess, or lack it.
 */
#include "rows/unsampled.h"

#include <stdlib.h>
#include <string.h>
#include "record/types.h"

void programs_deinit(struct programs *programs)
{
	vec_deinit(&programs->rows);
	u64map_deinit(&programs->of);
}

/*
 * Returns the program with a name, which must be interned; adds it if it is new. Valid until the
 * next call. NULL when out of memory.
 */
static struct unsampled_program *program_named(struct programs *programs, const char *comm)
{
	struct unsampled_program *program =
		u64map_item(&programs->of, (uintptr_t)comm, &programs->rows);
	if (program && !program->ended.comm)
		program->ended = (struct sp_unsampled){.comm = comm, .exact = true};
	return program;
}

/*
 * Returns the program that a task executed at a time. Valid until the next call. NULL when out of
 * memory.
 */
static struct unsampled_program *program_of(const struct work *work, struct programs *programs,
					    uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	const char *name = machine_span(work->read->machine, pid, tid, time_ns).name;
	const char *comm = strtab_add(programs->strings, work_comm(work, name));
	return comm ? program_named(programs, comm) : NULL;
}

static void add_weights(struct unsampled_weight *to, const struct unsampled_weight *from)
{
	to->missing = weight_add(to->missing, from->missing);
	to->more = weight_add(to->more, from->more);
	to->less = weight_add(to->less, from->less);
}

/* Adds weight to a program and to the sum of all. */
static void add_to_program(struct programs *programs, struct unsampled_program *program,
			   const struct unsampled_weight *weight)
{
	add_weights(&program->lacks, weight);
	add_weights(&programs->lacking, weight);
}

static uint64_t task_samples(const struct workers *workers, uint16_t event, uint32_t tid)
{
	uint64_t samples = 0;
	vec_each (worker, workers) {
		const uint32_t *counted =
			u64map_find(&worker->counted.task_samples, key_of_pair(event, tid));
		samples += counted ? *counted : 0;
	}
	return samples;
}

static bool was_sampled(const struct workers *workers, uint16_t event, uint32_t tid)
{
	return task_samples(workers, event, tid) > 0;
}

/* Sums the missing weight from READ records; a task may have one for each CPU. */
static bool sum_counts(const struct workers *workers, uint16_t event, struct programs *programs)
{
	const struct sideband *sideband = &workers->work->read->sideband;
	struct u64map seen = {0};
	bool done = true, added;
	for (size_t i = 0; done && i < sideband->task_counts.count; i++) {
		const struct task_count *task = &sideband->task_counts.items[i];
		if (task->event != event)
			continue;
		struct unsampled_program *program =
			program_of(workers->work, programs, task->pid, task->tid, task->time_ns);
		bool sampled = was_sampled(workers, event, task->tid);
		/* A task that neither counted anything nor has samples is left out. */
		done = program &&
		       (!(task->value || sampled) || u64map_put(&seen, task->tid, 0, &added));
		if (!done || !(task->value || sampled))
			continue;
		program->ended.tasks += added;
		program->ended.unsampled += added && !sampled;
		program->ended.weight += sampled ? 0 : task->value;
		add_to_program(programs, program,
			       &(struct unsampled_weight){.missing = sampled ? 0 : task->value});
	}
	u64map_deinit(&seen);
	return done;
}

static bool has_counts(const struct sideband *sideband, uint16_t event)
{
	vec_each (task_count, &sideband->task_counts)
		if (task_count->event == event)
			return true;
	return false;
}

/*
 * Returns the CPU time in ns that a task with a number of execs has without a sample: the most, as
 * the mean of many tasks. The event begins with a whole period in each task, so half a period is
 * missing for each fork and for each exec. UINT64_MAX: no limit.
 */
static uint64_t most_ns(const struct perf_event_attr *attr, uint32_t execs)
{
	uint64_t period_ns = record_clock_period_ns(attr), halves = UINT64_C(1) + execs;
	return period_ns && period_ns < UINT64_MAX / halves ? period_ns * halves / 2 : UINT64_MAX;
}

/*
 * Adds weight to the programs that a task executed. `fork_ns`: what its parent's program lacks.
 * Returns false when out of memory.
 */
static bool add_lacking(const struct work *work, struct programs *programs,
			const struct lifetime *lifetime, const struct unsampled_weight *weight,
			uint64_t fork_ns)
{
	struct unsampled_program *ended =
		program_of(work, programs, lifetime->pid, lifetime->tid, lifetime->end_ns);
	if (!ended)
		return false;
	const char *comm = ended->ended.comm;
	const struct unsampled_weight fork = {.missing = fork_ns};
	add_to_program(programs, ended, weight);
	/* Until its exec, the task had the name of its parent's program. */
	struct unsampled_program *began =
		program_of(work, programs, lifetime->pid, lifetime->tid, lifetime->begin_ns);
	if (began && began->ended.comm != comm)
		add_weights(&began->lacks, weight);
	if (began)
		add_to_program(programs, began, &fork);
	return began != NULL;
}

/*
 * Returns what the parent of a task lacks, if the task lacks `weight` of at most `limit_ns`. The
 * kernel exchanges the events of two tasks at a switch between them: the period that the parent had
 * begun ends with the child.
 */
static uint64_t fork_ns(const struct perf_event_attr *attr, uint64_t weight, uint64_t limit_ns)
{
	uint64_t half_ns = record_clock_period_ns(attr) / 2;
	uint64_t left_ns = limit_ns == UINT64_MAX || weight > limit_ns ? 0 : limit_ns - weight;
	return half_ns < left_ns ? half_ns : left_ns;
}

/* Adds a task without a sample, which used at most `weight`. Returns false when out of memory. */
static bool add_unsampled(const struct work *work, struct programs *programs,
			  const struct lifetime *lifetime, uint64_t weight, uint64_t fork_ns,
			  bool exact)
{
	struct unsampled_program *ended =
		program_of(work, programs, lifetime->pid, lifetime->tid, lifetime->end_ns);
	if (!ended)
		return false;
	ended->ended.unsampled++;
	ended->ended.lasted_ns += lifetime->end_ns - lifetime->begin_ns;
	ended->ended.weight += weight;
	ended->ended.exact &= exact;
	return add_lacking(work, programs, lifetime, &(struct unsampled_weight){.missing = weight},
			   fork_ns);
}

/*
 * Sums the missing weight from FORK and EXIT records. If several tasks had the same tid and one of
 * them was sampled, all count as sampled.
 */
static bool sum_lifetimes(const struct workers *workers, uint16_t event,
			  const struct sp_profile *profile, struct programs *programs)
{
	const struct work *work = workers->work;
	const struct lifetimes *lifetimes = &work->read->sideband.lifetimes;
	const struct perf_event_attr *attr = work_attr(work, event);
	uint32_t last_tid = UINT32_MAX;
	for (size_t i = 0; i < lifetimes->lifetimes.count; i++) {
		const struct lifetime *lifetime = &lifetimes->lifetimes.items[i];
		uint64_t lasted_ns = lifetime->end_ns - lifetime->begin_ns, cpu_ns;
		uint64_t limit_ns = profile->weight_is_time ? most_ns(attr, lifetime->execs)
							    : UINT64_MAX;
		struct unsampled_program *ended =
			program_of(work, programs, lifetime->pid, lifetime->tid, lifetime->end_ns);
		if (!ended)
			return false;
		ended->ended.tasks++;
		/* A clock of the kernel does not count all CPU time. */
		bool exact = !attr->exclude_user &&
			     lifetimes_cpu_ns(lifetimes, lifetime->tid, &cpu_ns);
		uint64_t samples = task_samples(workers, event, lifetime->tid);
		if (samples) {
			/*
			 * A sampled task lacks its CPU time, less one period for each of its
			 * samples.
			 */
			uint64_t used_ns = exact ? cpu_ns : lasted_ns;
			uint64_t sampled_ns = samples * record_clock_period_ns(attr);
			uint64_t lacks_ns = used_ns > sampled_ns ? used_ns - sampled_ns : 0;
			lacks_ns = lacks_ns < limit_ns ? lacks_ns : limit_ns;
			uint64_t most_ns = weight_add(limit_ns, limit_ns);
			uint64_t unplaced_ns = sampled_ns < most_ns ? sampled_ns : most_ns;
			const struct unsampled_weight lacks = {
				.missing = lacks_ns, .more = unplaced_ns, .less = unplaced_ns};
			if (profile->weight_is_time && lifetime->tid != last_tid &&
			    !add_lacking(work, programs, lifetime, &lacks,
					 exact ? 0 : fork_ns(attr, lacks_ns, limit_ns)))
				return false;
			last_tid = lifetime->tid;
			continue;
		}
		uint64_t weight = lasted_ns < limit_ns ? lasted_ns : limit_ns;
		if (exact) /* cpu_ns is the time of all tasks with this tid: counts it once */
			weight = lifetime->tid != last_tid ? cpu_ns : 0;
		uint64_t parent_ns = exact ? 0 : fork_ns(attr, weight, limit_ns);
		if (!add_unsampled(work, programs, lifetime, weight, parent_ns, exact))
			return false;
		last_tid = lifetime->tid;
	}
	return true;
}

static int compare(const void *a, const void *b)
{
	const struct sp_unsampled *x = a, *y = b;
	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	if (x->unsampled != y->unsampled)
		return x->unsampled > y->unsampled ? -1 : 1;
	return strcmp(x->comm, y->comm);
}

/*
 * Returns whether whole CPUs were sampled: then there are samples of the idle task, or the kernel's
 * own threads are known.
 */
static bool is_of_cpus(const struct workers *workers, uint16_t event)
{
	const struct machine *machine = workers->work->read->machine;
	return was_sampled(workers, event, 0) ||
	       !strcmp(machine_span(machine, 2, 2, UINT64_MAX).comm, "kthreadd");
}

/*
 * Returns whether the event counts in every running task, as clocks, cycles and instructions do.
 * Other events may not have occurred in a task without samples.
 */
static bool counts_always(const struct sp_profile *profile, const struct perf_event_attr *attr)
{
	return profile->weight_is_time ||
	       (attr->type == PERF_TYPE_HARDWARE && (attr->config == PERF_COUNT_HW_CPU_CYCLES ||
						     attr->config == PERF_COUNT_HW_REF_CPU_CYCLES ||
						     attr->config == PERF_COUNT_HW_INSTRUCTIONS));
}

static bool sum_up(const struct workers *workers, uint16_t event, const struct sp_profile *profile,
		   struct programs *programs)
{
	const struct sideband *sideband = &workers->work->read->sideband;
	const struct perf_event_attr *attr = &sideband->layout->events[event].attr;
	if (has_counts(sideband, event))
		return sum_counts(workers, event, programs);
	bool begins_anew = attr->inherit && !profile->of_branches && counts_always(profile, attr);
	return !begins_anew || is_of_cpus(workers, event) ||
	       sum_lifetimes(workers, event, profile, programs);
}

/*
 * Gets the weight that rows lack or have in excess in an epoch of a task that began meanwhile: the
 * time that no two samples enclose. Its part without a stack is in no row. `weight`: the samples'.
 */
static struct unsampled_weight unplaced(const struct scaled_clock *clock, uint64_t weight,
					uint64_t stack_ns, uint64_t no_stack_ns)
{
	uint64_t all_ns = weight_add(stack_ns, no_stack_ns), enclosed_ns = 0;
	if (weight > clock->period_ns)
		enclosed_ns = weight - clock->period_ns;
	uint64_t more_ns = all_ns > enclosed_ns ? all_ns - enclosed_ns : 0;
	/* Weights of samples that were scaled up stand for more than their periods. */
	return (struct unsampled_weight){
		.more = more_ns > no_stack_ns ? more_ns : no_stack_ns,
		.less = more_ns > no_stack_ns ? more_ns - no_stack_ns : 0,
	};
}

/*
 * Adds the weights of each epoch: up to a period if it is not known when the thread ran; of a new
 * task, what its samples do not show.
 */
static bool add_epochs(const struct work *work, const struct scaled_clock *clock,
		       struct programs *programs)
{
	const struct times *times = work->times;
	const struct epochs *epochs = &times->clocks.epochs;
	uint32_t number = clock - times->clocks.items;
	for (uint32_t i = 0; i < epochs->count; i++) {
		const struct slice slice = epochs_get(epochs, i);
		const struct task_totals *of = task_states_totals(times->states, slice.lifetime);
		uint64_t unknown_ns = epochs->items[i].unknown_ns;
		uint32_t index = number * (uint32_t)epochs->count + i;
		const struct stratum *stratum =
			strata_find(&times->strata, stratum_on_cpu(index, number));
		struct unsampled_weight weight = {0};
		if (of->born)
			weight = unplaced(clock, stratum ? stratum->weight : 0,
					  stratum ? stratum->ns[TIME_ON_CPU] : 0,
					  times->strata.rests[index].no_stack.ns[TIME_ON_CPU]);
		weight.missing = unknown_ns < clock->period_ns ? unknown_ns : clock->period_ns;
		if (!weight.missing && !weight.more)
			continue;
		struct unsampled_program *program =
			program_of(work, programs, of->pid, of->tid, slice.begin_ns);
		if (!program)
			return false;
		add_to_program(programs, program, &weight);
	}
	return true;
}

bool unsampled_find(const struct workers *workers, uint16_t event, const struct sp_profile *total,
		    struct programs *programs)
{
	const struct work *work = workers->work;
	if (!sum_up(workers, event, total, programs))
		return false;
	/* A lifetime is no weight for events that do not count time. Scaled samples lack none. */
	const struct scaled_clock *clock = times_scaled_clock(work->times, event);
	if (clock || (!total->weight_is_time && !has_counts(&work->read->sideband, event)))
		programs->lacking = (struct unsampled_weight){0};
	for (size_t i = 0; i < programs->rows.count && clock; i++)
		programs->rows.items[i].lacks = (struct unsampled_weight){0};
	return !clock || is_of_cpus(workers, event) || add_epochs(work, clock, programs);
}

bool programs_merge(struct programs *into, const struct programs *from)
{
	vec_each (one, &from->rows) {
		struct unsampled_program *all = program_named(into, one->ended.comm);
		if (!all)
			return false;
		all->ended.tasks += one->ended.tasks;
		all->ended.unsampled += one->ended.unsampled;
		all->ended.lasted_ns += one->ended.lasted_ns;
		all->ended.weight = weight_add(all->ended.weight, one->ended.weight);
		all->ended.exact &= one->ended.exact;
		add_weights(&all->lacks, &one->lacks);
	}
	add_weights(&into->lacking, &from->lacking);
	return true;
}

bool programs_list(const struct programs *programs, struct arena *arena, struct sp_profile *profile)
{
	size_t count = programs->rows.count;
	struct sp_unsampled *ended = arena_alloc(arena, count * sizeof(*ended) + 1);
	if (!ended)
		return false;
	profile->unsampled = ended;
	profile->unsampled_count = 0;
	for (size_t i = 0; i < count; i++)
		if (programs->rows.items[i].ended.tasks)
			ended[profile->unsampled_count++] = programs->rows.items[i].ended;
	qsort(ended, profile->unsampled_count, sizeof(*ended), compare);
	return true;
}

bool programs_weights(const struct programs *programs, struct arena *arena,
		      struct profile_source *source)
{
	size_t count = programs->rows.count;
	struct unsampled_weight *weights = arena_alloc(arena, count * sizeof(*weights) + 1);
	if (!weights)
		return false;
	for (size_t i = 0; i < count; i++) {
		weights[i] = programs->rows.items[i].lacks;
		weights[i].comm = programs->rows.items[i].ended.comm;
	}
	source->unsampled = weights;
	source->unsampled_count = count;
	source->unsampled_all = programs->lacking;
	return true;
}
