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

static void add_unknown(void *arg, uint64_t begin_ns, uint64_t end_ns, bool unknown)
{
	double *sum = arg;
	*sum += unknown ? (double)(end_ns - begin_ns) : 0;
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

/* A slice while its latency is added. */
struct slice_latency {
	const struct runners *runners;
	uint32_t pid;
	struct latencies latencies;
	bool failed; /* out of memory */
};

/* Adds the parts of an interval in which the thread could run. */
static void split_interval(void *arg, const struct task_interval *interval)
{
	struct slice_latency *to = arg;
	enum time_state state = interval->state == TASK_RUNNING ? TIME_ON_CPU : TIME_RUNNABLE;
	if (!could_run(interval) || to->failed)
		return;
	size_t next = runners_after(to->runners, to->pid, interval->begin_ns);
	for (uint64_t at = interval->begin_ns; at < interval->end_ns; next++) {
		uint64_t end = to->runners->items[next].time_ns;
		end = end < interval->end_ns ? end : interval->end_ns;
		uint32_t count = to->runners->items[next - 1].count;
		to->failed |= !add_latency(&to->latencies, count, state, end - at);
		at = end;
	}
}

/* Returns the stratum of a latency; `has_preempted`: the slice has samples of preempted threads. */
static struct stratum_id stratum_of(const struct slice *slice, const struct latency *latency,
				    enum time_state state, bool has_preempted)
{
	bool preempted = state == TIME_RUNNABLE && has_preempted;
	return (preempted ? stratum_preempted : stratum_on_cpu)(slice->number, latency->count);
}

/* Sets the latency of a slice's strata, and returns their sum in *busy_ret. */
static bool set_latency(struct times *times, uint32_t pid, const struct slice *slice,
			double *busy_ret)
{
	struct strata *strata = &times->strata;
	struct slice_latency of = {.runners = &times->runners, .pid = pid};
	double all[2] = {0}, sampled[2] = {0};
	bool has_preempted = false;
	task_states_each(times->states, slice->lifetime, slice->begin_ns, slice->end_ns,
			 split_interval, &of);
	struct latencies latencies = of.latencies;
	vec_each (from, &latencies) {
		struct stratum_id id = stratum_preempted(slice->number, from->count);
		has_preempted |= strata_find(strata, id) != NULL;
	}
	vec_each (from, &latencies) {
		for (int state = 0; state < 2; state++) {
			struct stratum_id id = stratum_of(slice, from, state, has_preempted);
			all[state] += from->ns[state];
			sampled[state] += strata_find(strata, id) ? from->ns[state] : 0;
		}
	}
	vec_each (from, &latencies) {
		for (enum time_state state = 0; state < 2; state++) {
			double factor = sampled[state] > 0 ? all[state] / sampled[state] : 1;
			uint64_t ns = weight_round(from->ns[state] * factor);
			struct stratum_id id = stratum_of(slice, from, state, has_preempted);
			if (!strata_find(strata, id) && sampled[state] > 0)
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
	return !of.failed;
}

/* Life of a process in one window, of all its threads. busy_ns: a thread could run. */
struct process_window {
	uint32_t pid, first; /* its first slice */
	uint64_t begin_ns, end_ns;
	double busy_ns;
};

struct processes {
	VEC(struct process_window);
	struct u64map index_of; /* window, number of the process -> index */
};

/*
 * Adds a slice to its process: that of the main thread's lifetime, as another process may have had
 * the pid before. Returns false when out of memory.
 */
static bool add_process(struct processes *processes, const struct task_states *states,
			uint32_t pid, const struct slice *slice, double busy_ns)
{
	size_t before = processes->count, lives = task_states_count(states);
	size_t life = task_states_lifetime(states, pid, slice->begin_ns);
	uint64_t key = key_of_pair(slice->window, (uint32_t)(life < lives ? life : lives + pid));
	struct process_window *process = u64map_item(&processes->index_of, key, processes);
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
	struct processes processes = {0};
	bool done = true;
	for (uint32_t i = 0; done && i < times->strata.slice_count; i++) {
		const struct slice slice = slices_get(&times->slices, i);
		uint32_t pid = task_states_totals(times->states, slice.lifetime)->pid;
		double busy_ns;
		done = set_latency(times, pid, &slice, &busy_ns) &&
		       add_process(&processes, times->states, pid, &slice, busy_ns);
	}
	for (size_t i = 0; done && i < processes.count; i++) {
		const struct process_window *process = &processes.items[i];
		struct time_rest *rest = &times->strata.rests[process->first];
		double lost_ns = 0;
		runners_each_idle(&times->runners, process->pid, process->begin_ns,
				  process->end_ns, add_unknown, &lost_ns);
		double idle_ns =
			(double)(process->end_ns - process->begin_ns) - process->busy_ns - lost_ns;
		rest->process_end_ns = process->end_ns;
		rest->no_stack.ns[TIME_UNKNOWN] = weight_round(lost_ns);
		if (idle_ns > 0)
			rest->all_blocked_ns = weight_round(idle_ns);
	}
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
	if (ret->is_wait)
		return true;
	uint32_t runners = runners_number(&times->runners, sample->pid, ret->begin_ns);
	ret->stratum = ret->is_preempted ? stratum_preempted(SLICE_NONE, runners)
					 : stratum_on_cpu(SLICE_NONE, runners);
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
