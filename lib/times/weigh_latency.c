/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Mode latency: each process's life. All times at which a thread begins or ends to be able to run
 * are sorted by process and time. Between two of them, the number of threads that could run, p, is
 * constant. Each thread's time then adds to its stratum for p, divided by p. Time of a stratum
 * without samples is added to the thread's other strata, in proportion. The time in which no thread
 * of a process could run is blocked time in the rest of the process's first slice in the window, or
 * unknown time if the state of a thread is not known.
 */
#include "base/error.h"
#include "profile/interval.h"
#include "times/times.h"

/*
 * From this time on, until the next edge of the process, `count` of its threads could run, and the
 * states of `unknown` threads are not known. While edges are collected, these are changes.
 */
struct edge {
	uint64_t time_ns;
	uint32_t pid;
	int32_t count, unknown;
};

struct edges {
	VEC(struct edge);
};

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
static bool make_edges(const struct times *times, struct edges *edges)
{
	for (size_t i = 0; i < task_states_count(times->states); i++) {
		const struct task_totals *of = task_states_totals(times->states, i);
		struct task_interval interval;
		for (uint64_t at = of->begin_ns;
		     task_states_next(times->states, of, &at, &interval);) {
			int32_t count = could_run(&interval),
				unknown = interval.state == TASK_UNKNOWN;
			if (!count && !unknown)
				continue;
			if (!vec_reserve(edges, edges->count + 2))
				return false;
			*vec_push(edges) =
				(struct edge){interval.begin_ns, of->pid, count, unknown};
			*vec_push(edges) =
				(struct edge){interval.end_ns, of->pid, -count, -unknown};
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

/*
 * Returns the time of a process between two times in which no thread could run, as far as is known,
 * and some are unknown.
 */
static double unknown_ns(const struct edges *edges, uint32_t pid, uint64_t from_ns,
			 uint64_t until_ns)
{
	double sum = 0;
	size_t i = first_after(edges, pid, from_ns);
	for (i -= i > 0; i + 1 < edges->count; i++) {
		const struct edge *edge = &edges->items[i], *next = edge + 1;
		if (edge->pid < pid)
			continue;
		if (next->pid != pid || edge->time_ns >= until_ns)
			break;
		uint64_t begin_ns = edge->time_ns > from_ns ? edge->time_ns : from_ns;
		uint64_t end_ns = next->time_ns < until_ns ? next->time_ns : until_ns;
		if (!edge->count && edge->unknown && begin_ns < end_ns)
			sum += (double)(end_ns - begin_ns);
	}
	return sum;
}

/* Latency of a slice by its strata. The key is the number of threads that could run. */
struct latencies {
	struct u64map index_of;
	VEC(struct latency {
		uint32_t count;
		double ns[2]; /* TIME_ON_CPU, TIME_RUNNABLE */
	});
};

static bool add_latency(struct latencies *latencies, uint32_t count, enum time_state state,
			uint64_t ns)
{
	struct latency *latency = u64map_item(&latencies->index_of, count, latencies);
	if (!latency)
		return false;
	latency->count = count;
	latency->ns[state] += (double)ns / count;
	return true;
}

/* Adds the parts of an interval in which the thread could run. */
static bool split_interval(const struct edges *edges, uint32_t pid,
			   const struct task_interval *interval, struct latencies *latencies)
{
	enum time_state state = interval->state == TASK_RUNNING ? TIME_ON_CPU : TIME_RUNNABLE;
	size_t next = first_after(edges, pid, interval->begin_ns);
	for (uint64_t at = interval->begin_ns; at < interval->end_ns; next++) {
		uint64_t end = edges->items[next].time_ns;
		end = end < interval->end_ns ? end : interval->end_ns;
		if (!add_latency(latencies, (uint32_t)edges->items[next - 1].count, state,
				 end - at))
			return false;
		at = end;
	}
	return true;
}

/* Sets the latency of a slice's strata, and returns their sum in *busy_ret. */
static bool set_latency(struct times *times, const struct edges *edges, const struct slice *slice,
			double *busy_ret)
{
	const struct task_totals *of = task_states_totals(times->states, slice->lifetime);
	struct strata *strata = &times->strata;
	struct latencies latencies = {0};
	struct task_interval interval;
	double all[2] = {0}, sampled[2] = {0};
	bool done = true;
	for (uint64_t at = slice->begin_ns; done && at < slice->end_ns &&
					    task_states_next(times->states, of, &at, &interval);) {
		if (interval.end_ns > slice->end_ns)
			interval.end_ns = slice->end_ns;
		if (could_run(&interval))
			done = split_interval(edges, of->pid, &interval, &latencies);
	}
	for (size_t i = 0; i < latencies.count; i++) {
		const struct latency *from = &latencies.items[i];
		bool any = strata_find(strata, stratum_on_cpu(slice->number, from->count)) != NULL;
		for (int state = 0; state < 2; state++) {
			all[state] += from->ns[state];
			sampled[state] += any ? from->ns[state] : 0;
		}
	}
	for (size_t i = 0; i < latencies.count; i++) {
		const struct latency *from = &latencies.items[i];
		struct stratum_id id = stratum_on_cpu(slice->number, from->count);
		bool any = strata_find(strata, id) != NULL;
		for (enum time_state state = 0; state < 2; state++) {
			double factor = sampled[state] > 0 ? all[state] / sampled[state] : 1;
			uint64_t ns = weight_round(from->ns[state] * factor);
			if (!any && sampled[state] > 0)
				continue;
			if (state == TIME_ON_CPU)
				strata_add_on_cpu(strata, id, ns);
			else
				strata_add(strata, id, state, ns);
		}
	}
	*busy_ret = all[0] + all[1];
	u64map_deinit(&latencies.index_of);
	vec_deinit(&latencies);
	return done;
}

/* Life of a process in one window, of all its threads. busy_ns: a thread could run. */
struct process {
	uint32_t pid, first; /* its first slice */
	uint64_t begin_ns, end_ns;
	double busy_ns;
};

struct processes {
	VEC(struct process);
	struct u64map index_of; /* pid, window -> index */
};

/* Returns false when out of memory. */
static bool add_process(struct processes *processes, uint32_t pid, const struct slice *slice,
			double busy_ns)
{
	size_t before = processes->count;
	uint64_t key = (uint64_t)slice->window << 32 | pid;
	struct process *process = u64map_item(&processes->index_of, key, processes);
	if (!process)
		return false;
	process->busy_ns += busy_ns;
	if (processes->count > before || slice->begin_ns < process->begin_ns) {
		process->pid = pid;
		process->begin_ns = slice->begin_ns;
		process->first = slice->number;
	}
	if (slice->end_ns > process->end_ns)
		process->end_ns = slice->end_ns;
	return true;
}

static bool set_latencies(struct times *times)
{
	struct edges edges = {0};
	struct processes processes = {0};
	bool done = make_edges(times, &edges);
	for (uint32_t i = 0; done && i < times->strata.slice_count; i++) {
		const struct slice slice = slices_get(&times->slices, i);
		uint32_t pid = task_states_totals(times->states, slice.lifetime)->pid;
		double busy_ns;
		done = set_latency(times, &edges, &slice, &busy_ns) &&
		       add_process(&processes, pid, &slice, busy_ns);
	}
	for (size_t i = 0; done && i < processes.count; i++) {
		const struct process *process = &processes.items[i];
		struct time_rest *rest = &times->strata.rests[process->first];
		double lost_ns =
			unknown_ns(&edges, process->pid, process->begin_ns, process->end_ns);
		double idle_ns =
			(double)(process->end_ns - process->begin_ns) - process->busy_ns - lost_ns;
		rest->no_stack.ns[TIME_UNKNOWN] = weight_round(lost_ns);
		if (idle_ns > 0)
			rest->all_blocked_ns = weight_round(idle_ns);
	}
	vec_deinit(&edges);
	vec_deinit(&processes);
	u64map_deinit(&processes.index_of);
	return done;
}

static struct sp_error *check(const struct times *times)
{
	if (!times->has_on_cpu)
		return error_set_remedy(error_new(SP_ERROR_NOT_FOUND,
						  "%s has no samples of a clock or a "
						  "hardware event, which mode latency needs",
						  sp_reader_info(times->from.reader)->path),
					"'sprof record --off-cpu COMMAND' records them");
	return times->states ? NULL : times_no_switches(times->from.reader, "mode latency");
}

static bool weigh(const struct times *times, const struct sp_record *record,
		  struct sample_time *ret)
{
	const struct sp_sample *sample = &record->sample;
	if (!threads_weigh(times, record, ret))
		return false;
	if (!ret->is_wait)
		ret->stratum = stratum_on_cpu(
			SLICE_NONE,
			task_states_parallelism(times->states, sample->pid, sample->time_ns));
	return true;
}

static bool compute(struct times *times, const struct sample_weights *weights)
{
	if (!strata_make(&times->strata, weights, times->slices.count))
		return false;
	threads_find_kernel_time(times, weights);
	if (!set_latencies(times))
		return false;
	strata_add_unknown(&times->strata, weights, false);
	return true;
}

static size_t split_leaf(const struct timed_leaf *leaf, struct leaf_part ret[TIME_STATES])
{
	return leaf_split_by_state(leaf, STATE_ALL_WAIT, ret);
}

static void add_totals(const struct times *times, const struct state_sums *leaves,
		       struct state_sums *all, struct state_whole *whole)
{
	(void)times;
	(void)whole;
	all->waits = leaves->waits;
	all->longest_ns = leaves->longest_ns;
}

const struct weigher weigher_latency = {
	.name = "latency",
	.of_threads = true,
	.needs_parallelism = true,
	.parts_max = TIME_STATES,
	.find_roles = threads_find_roles,
	.check = check,
	.weigh = weigh,
	.compute = compute,
	.split_leaf = split_leaf,
	.add_totals = add_totals,
};
