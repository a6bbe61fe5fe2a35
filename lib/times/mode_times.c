/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Latency: all times at which a thread begins or ends to be able to run are sorted by process and time.
 * Between two of them, the number of threads that could run, p, is constant. Each thread's time then adds to
 * its stratum for p.
 */
#include "times/mode_times.h"

#include <math.h>
#include <stdlib.h>
#include "base/error.h"
#include "profile/interval.h"

/* Smallest part of a thread's CPU time that is taken for time in the kernel, if that has no samples. */
#define KERNEL_PART_MIN 0.05

/*
 * From this time on, until the next edge of the process, `count` of its threads could run, and the states of
 * `unknown` threads are not known. While edges are collected, these are changes.
 */
struct edge {
	uint64_t time_ns;
	uint32_t pid;
	int32_t count, unknown;
};

struct edges {
	VEC(struct edge);
};

void mode_times_deinit(struct mode_times *times)
{
	vec_deinit(&times->strata);
	u64map_deinit(&times->index_of);
	free(times->rest);
	free(times->kernel_ns);
	free(times->sampled_part);
}

struct stratum *mode_times_find(const struct mode_times *times, uint64_t key)
{
	const uint32_t *index = u64map_find(&times->index_of, key);
	return index ? &times->strata.items[*index] : NULL;
}

/* Adds the strata, without times. Returns false when out of memory. */
static bool add_strata(struct mode_times *times, const struct mode_weights *weights)
{
	for (uint32_t i = 0; i < weights->count; i++) {
		const struct mode_weight *from = &weights->items[i];
		struct stratum *stratum = vec_push(&times->strata);
		if (!stratum || !u64map_put(&times->index_of, from->key, i, NULL))
			return false;
		*stratum = (struct stratum){.weight = from->weight, .waits_factor = 1};
	}
	return true;
}

/* Adds time to a stratum, or to the lifetime's rest if the stratum has no samples. */
static void add_time(struct mode_times *times, uint64_t key, enum time_state state, uint64_t ns)
{
	struct stratum *stratum = mode_times_find(times, key);
	uint64_t *to = stratum && stratum->weight ? stratum->ns : times->rest[key >> 32].ns;
	to[state] = weight_add(to[state], ns);
}

/* Waits of a lifetime by class: their times (struct task_wait), and their number. */
struct wait_classes {
	uint64_t blocked_ns[MODE_WAIT_CLASSES], woken_ns[MODE_WAIT_CLASSES];
	uint64_t off_ns[MODE_WAIT_CLASSES]; /* sum of the two */
	double waits[MODE_WAIT_CLASSES];
};

static void add_wait(void *arg, const struct task_wait *wait)
{
	struct wait_classes *classes = arg;
	uint32_t class = mode_wait_class(wait->duration_ns);
	classes->blocked_ns[class] += wait->blocked_ns;
	classes->woken_ns[class] += wait->woken_ns;
	classes->off_ns[class] += wait->blocked_ns + wait->woken_ns;
	classes->waits[class]++;
}

/* A lifetime while its waits are distributed. */
struct distribution {
	struct mode_times *times;
	uint32_t lifetime;
	const struct mode_weight *const *sampled; /* by class */
	uint64_t weight;                          /* sum of all samples of waits */
	bool matched[MODE_WAIT_CLASSES];          /* the class has samples and waits */
	struct wait_classes classes;
};

static struct stratum *stratum_of(const struct distribution *of, uint32_t class)
{
	return mode_times_find(of->times, of->sampled[class]->key);
}

/* Returns the nearest class with samples and waits; 0: there is none. */
static uint32_t nearest_class(const struct distribution *of, uint32_t class)
{
	for (uint32_t distance = 0; distance < MODE_WAIT_CLASSES; distance++) {
		if (class > distance && of->matched[class - distance])
			return class - distance;
		if (class + distance < MODE_WAIT_CLASSES && of->matched[class + distance])
			return class + distance;
	}
	return 0;
}

static void move_time(uint64_t *ns, uint32_t from, uint32_t to)
{
	ns[to] += ns[from];
	ns[from] = 0;
}

/* Moves the waits of classes without samples to the nearest class with some. */
static void merge_classes(struct distribution *of)
{
	struct wait_classes *classes = &of->classes;
	for (uint32_t i = 1; i < MODE_WAIT_CLASSES; i++) {
		uint32_t to = classes->waits[i] > 0 ? nearest_class(of, i) : 0;
		if (!to || to == i)
			continue;
		move_time(classes->blocked_ns, i, to);
		move_time(classes->woken_ns, i, to);
		move_time(classes->off_ns, i, to);
		classes->waits[to] += classes->waits[i];
		classes->waits[i] = 0;
	}
}

/* Returns the sum of the matched classes. */
static uint64_t sum_classes(const struct distribution *of, const uint64_t *ns)
{
	uint64_t sum = 0;
	for (uint32_t i = 1; i < MODE_WAIT_CLASSES; i++)
		sum = weight_add(sum, of->matched[i] ? ns[i] : 0);
	return sum;
}

/*
 * Distributes a time: unmatched samples have their part of the weight, the others that of their class.
 * by_state[] is the time of each class; if that has none, the classes' times of all states.
 */
static void distribute(const struct distribution *of, enum time_state state, uint64_t ns,
		       const uint64_t *by_state)
{
	const uint64_t *parts = sum_classes(of, by_state) ? by_state : of->classes.off_ns;
	struct stratum all = {.weight = of->weight}, matched = {.weight = sum_classes(of, parts)};
	uint64_t *rest = of->times->rest[of->lifetime].ns, left = ns;
	all.ns[state] = ns;
	for (uint32_t i = 1; i < MODE_WAIT_CLASSES; i++) {
		uint64_t part[TIME_STATES] = {0};
		if (!of->sampled[i] || of->matched[i])
			continue;
		stratum_scale(&all, of->sampled[i]->weight, part);
		stratum_of(of, i)->ns[state] = part[state];
		left -= part[state];
	}
	matched.ns[state] = left;
	for (uint32_t i = 1; i < MODE_WAIT_CLASSES; i++)
		if (of->matched[i])
			stratum_scale(&matched, parts[i], stratum_of(of, i)->ns);
	if (!matched.weight)
		rest[state] = weight_add(rest[state], left);
}

/* Sets the factors of the numbers of waits, by the same parts as the times. */
static void set_waits_factors(const struct distribution *of, double waits)
{
	double matched = 1; /* part of all waits */
	for (uint32_t i = 1; i < MODE_WAIT_CLASSES; i++) {
		if (!of->sampled[i] || of->matched[i])
			continue;
		double part = (double)of->sampled[i]->weight / (double)of->weight;
		if (of->sampled[i]->waits > 0)
			stratum_of(of, i)->waits_factor = waits * part / of->sampled[i]->waits;
		matched -= part;
	}
	for (uint32_t i = 1; i < MODE_WAIT_CLASSES; i++)
		if (of->matched[i] && of->sampled[i]->waits > 0)
			stratum_of(of, i)->waits_factor =
				of->classes.waits[i] * fmax(matched, 0) / of->sampled[i]->waits;
}

/* Distributes a lifetime's blocked time, and that from waking to running, to the classes of its waits. */
static void add_waits(struct mode_times *times, const struct mode *mode, uint32_t lifetime,
		      const struct mode_weight *const *sampled)
{
	const struct task_totals *totals = task_states_totals(mode->states, lifetime);
	struct distribution of = {.times = times, .lifetime = lifetime, .sampled = sampled};
	const struct wait_classes *classes = &of.classes;
	bool exact = totals->split == TASK_SPLIT_WAKING;
	task_states_each_wait(mode->states, lifetime, add_wait, &of.classes);
	for (uint32_t i = 1; i < MODE_WAIT_CLASSES; i++) {
		of.weight = weight_add(of.weight, sampled[i] ? sampled[i]->weight : 0);
		of.matched[i] = sampled[i] && classes->waits[i] > 0;
	}
	merge_classes(&of);
	distribute(&of, TIME_RUNNABLE, totals->woken_ns, exact ? classes->woken_ns : classes->off_ns);
	distribute(&of, TIME_BLOCKED, totals->blocked_ns, exact ? classes->blocked_ns : classes->off_ns);
	set_waits_factors(&of, (double)totals->waits);
}

/*
 * Sets times->sampled_part. A clock's samples are late or missing where a host runs another guest, and none
 * is due in a thread's last period, so that small differences do not prove CPU time in the kernel. Clocks of
 * whole CPUs find a thread by chance. Returns false when out of memory.
 */
static bool set_sampled_parts(struct mode_times *times, const struct mode *mode,
			      const struct mode_weights *weights)
{
	double *parts = times->sampled_part = calloc(times->lifetime_count + 1, sizeof(*parts));
	for (size_t i = 0; parts && i < weights->count; i++) {
		const struct mode_weight *from = &weights->items[i];
		if (!(from->key & 1) && from->key >> 32 != LIFETIME_NONE)
			parts[from->key >> 32] += (double)from->weight;
	}
	for (uint32_t i = 0; parts && i < times->lifetime_count; i++) {
		double running = (double)task_states_totals(mode->states, i)->running_ns;
		double period = (double)mode->period;
		double least = running * KERNEL_PART_MIN + period;
		if (!mode->of_tasks)
			least += 2 * sqrt(running * period);
		parts[i] = mode->user_only && running - parts[i] > least ? parts[i] / running : 1;
	}
	return parts;
}

/* Adds a lifetime's CPU time: to a stratum, and to the time in the kernel. */
static void add_on_cpu(struct mode_times *times, uint64_t key, uint64_t ns)
{
	uint64_t *kernel_ns = &times->kernel_ns[key >> 32];
	uint64_t sampled = weight_part(ns, times->sampled_part[key >> 32]);
	add_time(times, key, TIME_ON_CPU, sampled);
	*kernel_ns = weight_add(*kernel_ns, ns - sampled);
}

/* Adds a lifetime; sampled[]: weights of its waits by class, NULL: no sample. */
static void add_lifetime(struct mode_times *times, const struct mode *mode, uint32_t lifetime,
			 const struct mode_weight *const *sampled)
{
	const struct task_totals *totals = task_states_totals(mode->states, lifetime);
	uint64_t on_cpu = mode_stratum_key(lifetime, false, 0);
	if (mode->kind == SP_MODE_WALL)
		add_on_cpu(times, on_cpu, totals->running_ns);
	add_time(times, on_cpu, TIME_RUNNABLE, totals->runnable_ns - totals->woken_ns);
	times->rest[lifetime].ns[TIME_UNKNOWN] = totals->unknown_ns;
	add_waits(times, mode, lifetime, sampled);
	times->whole.waits += (double)totals->waits;
	if (totals->longest_wait_ns > times->whole.longest_ns)
		times->whole.longest_ns = totals->longest_wait_ns;
}

static int compare_weights(const void *a, const void *b)
{
	const struct mode_weight *const *x = a, *const *y = b;
	return u64_order((*x)->key, (*y)->key);
}

/* Adds all lifetimes. Returns false when out of memory. */
static bool add_lifetimes(struct mode_times *times, const struct mode *mode,
			  const struct mode_weights *weights)
{
	const struct mode_weight **sorted = calloc(weights->count + 1, sizeof(*sorted));
	size_t count = 0, at = 0;
	if (!sorted)
		return false;
	for (size_t i = 0; i < weights->count; i++)
		if (weights->items[i].key & 1 && weights->items[i].weight)
			sorted[count++] = &weights->items[i];
	qsort(sorted, count, sizeof(*sorted), compare_weights);
	for (uint32_t i = 0; i < times->lifetime_count; i++) {
		const struct mode_weight *sampled[MODE_WAIT_CLASSES] = {0};
		for (; at < count && sorted[at]->key >> 32 == i; at++)
			sampled[(uint32_t)sorted[at]->key >> 1] = sorted[at];
		add_lifetime(times, mode, i, sampled);
	}
	free(sorted);
	return true;
}

/* Adds the weights of threads without known states, unscaled. */
static void add_unknown(struct mode_times *times, const struct mode *mode,
			const struct mode_weights *weights)
{
	for (size_t i = 0; i < weights->count; i++) {
		struct stratum *stratum = &times->strata.items[i];
		bool is_wait = weights->items[i].key & 1;
		if (weights->items[i].key >> 32 != LIFETIME_NONE)
			continue;
		if (is_wait)
			stratum->ns[TIME_BLOCKED] = stratum->weight;
		else if (mode->kind == SP_MODE_WALL)
			stratum->ns[TIME_ON_CPU] = stratum->weight;
	}
}

static bool could_run(const struct task_interval *interval)
{
	return interval->state == TASK_RUNNING || interval->state == TASK_RUNNABLE;
}

static int compare_edges(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

/* Makes the edges of all processes, sorted. Returns false when out of memory. */
static bool make_edges(const struct mode *mode, struct edges *edges)
{
	for (size_t i = 0; i < task_states_count(mode->states); i++) {
		const struct task_totals *of = task_states_totals(mode->states, i);
		struct task_interval interval;
		for (uint64_t at = of->begin_ns; task_states_next(mode->states, of, &at, &interval);) {
			int32_t count = could_run(&interval), unknown = interval.state == TASK_UNKNOWN;
			if (!count && !unknown)
				continue;
			if (!vec_reserve(edges, edges->count + 2))
				return false;
			*vec_push(edges) = (struct edge){interval.begin_ns, of->pid, count, unknown};
			*vec_push(edges) = (struct edge){interval.end_ns, of->pid, -count, -unknown};
		}
	}
	if (edges->count)
		qsort(edges->items, edges->count, sizeof(*edges->items), compare_edges);
	int32_t count = 0, unknown = 0;
	for (size_t i = 0; i < edges->count; i++) {
		edges->items[i].count = count += edges->items[i].count;
		edges->items[i].unknown = unknown += edges->items[i].unknown;
	}
	return true;
}

/* Returns the index of the process's first edge after a time. */
static size_t first_after(const struct edges *edges, uint32_t pid, uint64_t time_ns)
{
	size_t low = 0, high = edges->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct edge *edge = &edges->items[middle];
		if (edge->pid < pid || (edge->pid == pid && edge->time_ns <= time_ns))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Returns the time in which no thread of a process could run, as far as is known, and some are unknown. */
static double unknown_ns(const struct edges *edges, uint32_t pid)
{
	double sum = 0;
	for (size_t i = pid ? first_after(edges, pid - 1, UINT64_MAX) : 0; i + 1 < edges->count; i++) {
		const struct edge *edge = &edges->items[i], *next = edge + 1;
		if (next->pid != pid)
			break;
		if (!edge->count && edge->unknown)
			sum += (double)(next->time_ns - edge->time_ns);
	}
	return sum;
}

/* Latency of a lifetime by its strata. The key is the number of threads that could run. */
struct latencies {
	struct u64map index_of;
	VEC(struct latency {
		uint32_t count;
		double ns[2]; /* TIME_ON_CPU, TIME_RUNNABLE */
	});
};

static bool add_latency(struct latencies *latencies, uint32_t count, enum time_state state, uint64_t ns)
{
	bool added;
	if (!vec_reserve(latencies, latencies->count + 1))
		return false;
	const uint32_t *index = u64map_put(&latencies->index_of, count, (uint32_t)latencies->count, &added);
	if (!index)
		return false;
	if (added)
		*vec_push(latencies) = (struct latency){.count = count};
	latencies->items[*index].ns[state] += (double)ns / count;
	return true;
}

/* Adds the parts of an interval in which the thread could run. */
static bool split_interval(const struct edges *edges, uint32_t pid, const struct task_interval *interval,
			   struct latencies *latencies)
{
	enum time_state state = interval->state == TASK_RUNNING ? TIME_ON_CPU : TIME_RUNNABLE;
	size_t next = first_after(edges, pid, interval->begin_ns);
	for (uint64_t at = interval->begin_ns; at < interval->end_ns; next++) {
		uint64_t end = edges->items[next].time_ns;
		if (!add_latency(latencies, (uint32_t)edges->items[next - 1].count, state, end - at))
			return false;
		at = end;
	}
	return true;
}

/* Sets the latency of a lifetime's strata, and returns their sum in *busy_ret. */
static bool set_latency(struct mode_times *times, const struct mode *mode, const struct edges *edges,
			uint32_t lifetime, double *busy_ret)
{
	const struct task_totals *of = task_states_totals(mode->states, lifetime);
	struct latencies latencies = {0};
	struct task_interval interval;
	double all[2] = {0}, sampled[2] = {0};
	bool done = true;
	for (uint64_t at = of->begin_ns; done && task_states_next(mode->states, of, &at, &interval);)
		if (could_run(&interval))
			done = split_interval(edges, of->pid, &interval, &latencies);
	for (size_t i = 0; i < latencies.count; i++) {
		const struct latency *from = &latencies.items[i];
		bool any = mode_times_find(times, mode_stratum_key(lifetime, false, from->count)) != NULL;
		for (int state = 0; state < 2; state++) {
			all[state] += from->ns[state];
			sampled[state] += any ? from->ns[state] : 0;
		}
	}
	for (size_t i = 0; i < latencies.count; i++) {
		const struct latency *from = &latencies.items[i];
		uint64_t key = mode_stratum_key(lifetime, false, from->count);
		bool any = mode_times_find(times, key) != NULL;
		for (enum time_state state = 0; state < 2; state++) {
			double factor = sampled[state] > 0 ? all[state] / sampled[state] : 1;
			uint64_t ns = weight_round(from->ns[state] * factor);
			if (!any && sampled[state] > 0)
				continue;
			if (state == TIME_ON_CPU)
				add_on_cpu(times, key, ns);
			else
				add_time(times, key, state, ns);
		}
	}
	*busy_ret = all[0] + all[1];
	u64map_deinit(&latencies.index_of);
	vec_deinit(&latencies);
	return done;
}

/* Life of a process: from its first to its last thread, and the time in which a thread could run. */
struct process {
	uint32_t first; /* its first lifetime */
	uint64_t begin_ns, end_ns;
	double busy_ns;
};

struct processes {
	VEC(struct process);
	struct u64map index_of; /* pid -> index */
};

/* Returns false when out of memory. */
static bool add_process(struct processes *processes, const struct task_totals *of, uint32_t lifetime,
			double busy_ns)
{
	bool added;
	if (!vec_reserve(processes, processes->count + 1))
		return false;
	const uint32_t *index = u64map_put(&processes->index_of, of->pid, (uint32_t)processes->count, &added);
	if (!index)
		return false;
	if (added)
		*vec_push(processes) = (struct process){lifetime, of->begin_ns, of->end_ns, 0};
	struct process *process = &processes->items[*index];
	process->busy_ns += busy_ns;
	if (of->begin_ns < process->begin_ns) {
		process->begin_ns = of->begin_ns;
		process->first = lifetime;
	}
	if (of->end_ns > process->end_ns)
		process->end_ns = of->end_ns;
	return true;
}

static bool set_latencies(struct mode_times *times, const struct mode *mode)
{
	struct edges edges = {0};
	struct processes processes = {0};
	bool done = make_edges(mode, &edges);
	for (uint32_t i = 0; done && i < times->lifetime_count; i++) {
		double busy_ns;
		done = set_latency(times, mode, &edges, i, &busy_ns) &&
		       add_process(&processes, task_states_totals(mode->states, i), i, busy_ns);
	}
	for (size_t i = 0; done && i < processes.count; i++) {
		const struct process *process = &processes.items[i];
		uint32_t pid = task_states_totals(mode->states, process->first)->pid;
		double lost_ns = unknown_ns(&edges, pid);
		double idle_ns = (double)(process->end_ns - process->begin_ns) - process->busy_ns - lost_ns;
		times->rest[process->first].ns[TIME_UNKNOWN] = weight_round(lost_ns);
		if (idle_ns > 0)
			times->rest[process->first].ns[TIME_BLOCKED] = weight_round(idle_ns);
	}
	vec_deinit(&edges);
	vec_deinit(&processes);
	u64map_deinit(&processes.index_of);
	return done;
}

static void add_whole(struct mode_times *times)
{
	uint64_t *on_cpu = &times->whole.ns[TIME_ON_CPU];
	for (size_t i = 0; i < times->lifetime_count; i++) {
		state_sums_add(&times->whole, &times->rest[i]);
		*on_cpu = weight_add(*on_cpu, times->kernel_ns[i]);
	}
	for (size_t i = 0; i < times->strata.count; i++)
		for (int state = 0; state < TIME_STATES; state++)
			times->whole.ns[state] = weight_add(times->whole.ns[state],
							    times->strata.items[i].ns[state]);
}

struct sp_error *mode_times_make(struct mode_times *times, const struct mode *mode,
				 const struct mode_weights *weights)
{
	times->lifetime_count = mode->by_lifetime ? task_states_count(mode->states) : 0;
	times->rest = calloc(times->lifetime_count + 1, sizeof(*times->rest));
	times->kernel_ns = calloc(times->lifetime_count + 1, sizeof(*times->kernel_ns));
	if (!times->rest || !times->kernel_ns || !add_strata(times, weights) ||
	    !set_sampled_parts(times, mode, weights) ||
	    (!mode->latency && !add_lifetimes(times, mode, weights)))
		return error_no_memory();
	if (mode->latency && !set_latencies(times, mode))
		return error_no_memory();
	add_unknown(times, mode, weights);
	add_whole(times);
	return NULL;
}

void stratum_scale(struct stratum *stratum, uint64_t weight, uint64_t ret[TIME_STATES])
{
	uint64_t end = weight_add(stratum->done, weight);
	if (!stratum->weight)
		return;
	double all = (double)stratum->weight, from = (double)stratum->done / all, to = (double)end / all;
	for (int i = 0; i < TIME_STATES; i++)
		ret[i] = weight_add(ret[i], weight_part(stratum->ns[i], to) -
					    weight_part(stratum->ns[i], from));
	stratum->done = end;
}
