/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks for random ranges of a file's time, as by --time. Each thread's states in a range are the
 * scheduler's, and the rows of a report have the same sums in each mode of time.
 */
#include <stdlib.h>
#include <sprof/analysis.h>
#include <sprof/timeline.h>
#include "states.h"

/* Rounding of one number. */
#define ROUNDING_NS 2

/* Steps of key `time` in a range. */
#define STEPS 4

struct asking {
	struct sp_ctx *ctx;
	const char *path;
	const struct sim_inode *inode;
	const struct sp_time_span *span; /* time of the file in which its states are compared */
	const struct thread_lives *threads; /* states in the range */
	struct sp_time_span range;
	const struct sp_filter *filter; /* the range, as two that overlap */
	bool lost;
};

static uint64_t difference(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* A random time of a span, or that of one of the kernel's records. */
static uint64_t random_time(const struct sp_time_span *span)
{
	uint64_t length_ns = span->end_ns - span->begin_ns;
	uint64_t time_ns = span->begin_ns + sim_random(SIM_WORLD, length_ns + 1);
	size_t at = sim_truth_from(time_ns);
	bool exact = sim_chance(SIM_WORLD, 50) && at < sim_perf.truth_count &&
		     sim_perf.truth[at].time_ns <= span->end_ns;
	return exact ? sim_perf.truth[at].time_ns : time_ns;
}

/* A range of some ns, up to the whole time, in equal steps. */
static struct sp_time_span random_range(const struct sp_time_span *span)
{
	uint64_t begin_ns = random_time(span);
	uint64_t length_ns = (span->end_ns - begin_ns) >> sim_random(SIM_WORLD, 24);
	const struct sp_time_span rest = {begin_ns, begin_ns + length_ns};
	uint64_t end_ns = random_time(&rest);
	return (struct sp_time_span){begin_ns, end_ns - (end_ns - begin_ns) % STEPS};
}

/* The thread's life in the range. */
static struct sp_time_span life_of(const struct asking *asking, const struct thread_life *thread)
{
	struct sp_time_span life = asking->range;
	if (thread->begin_ns > life.begin_ns)
		life.begin_ns = thread->begin_ns;
	if (thread->end_ns < life.end_ns)
		life.end_ns = thread->end_ns;
	if (life.end_ns < life.begin_ns)
		life.end_ns = life.begin_ns;
	return life;
}

static uint64_t sum_of(const struct sp_thread_times *times)
{
	return times->running_ns + times->runnable_ns + times->blocked_ns + times->unknown_ns;
}

static void check_number(const struct asking *asking, const char *what, uint32_t number,
			 uint64_t got_ns, uint64_t wanted_ns, uint64_t allowed_ns)
{
	if (difference(got_ns, wanted_ns) > allowed_ns)
		sim_violation("from %llu to %llu ns: %s of %u is %llu ns, not %llu",
			      (unsigned long long)asking->range.begin_ns,
			      (unsigned long long)asking->range.end_ns, what, number,
			      (unsigned long long)got_ns, (unsigned long long)wanted_ns);
}

static void check_threads(const struct asking *asking)
{
	for (size_t i = 0; i < thread_lives_count(asking->threads); i++) {
		const struct thread_life *thread = thread_lives_at(asking->threads, i);
		const struct sp_time_span life = life_of(asking, thread);
		uint64_t slices_ns = 0;
		for (size_t j = 0; j < THREAD_SLICES; j++)
			slices_ns += sum_of(&thread->slices[j]);
		check_number(asking, "sum of states", thread->tid, sum_of(&thread->times),
			     life.end_ns - life.begin_ns, 0);
		check_number(asking, "sum of slices", thread->tid, slices_ns,
			     life.end_ns - life.begin_ns, 0);
		sim_check_thread(thread, asking->span, &asking->range, asking->lost);
	}
}

/* -- Reports --------------------------------------------------------------- */

static struct sp_analysis *analyse(const struct asking *asking, struct sp_reader *reader,
				   enum sp_mode mode)
{
	static const enum sp_key keys[] = {SP_KEY_TID, SP_KEY_TIME};
	static const struct sp_files files = {.size = sizeof(files), .symfs = "/nowhere"};
	const struct sp_analysis_rows rows = {
		.size = sizeof(rows), .keys = keys, .key_count = 2,
		.time_quantum_ns = (asking->range.end_ns - asking->range.begin_ns) / STEPS,
		.time_offsets = true, .time_origin_ns = asking->range.begin_ns};
	const struct sp_analysis_samples samples = {
		.size = sizeof(samples), .mode = mode, .all_threads = true,
		.timeline = mode == SP_MODE_WALL};
	const struct sp_analysis_tree tree = {
		.size = sizeof(tree), .order = samples.timeline ? SP_TREE_CALLER : SP_TREE_NONE};
	const struct sp_analysis_options options = {
		.size = sizeof(options), .rows = &rows, .tree = &tree, .samples = &samples,
		.filter = asking->filter, .files = &files, .threads = 1};
	struct sp_analysis *analysis = NULL;
	struct sp_error *error = sp_analysis_run(asking->ctx, reader, &options, &analysis);
	if (error)
		sim_violation("report of %s: %s", asking->path, sp_error_message(error));
	sp_error_free(error);
	return analysis;
}

/* Adds the times of the rows of a thread, within that time after the range's begin. */
static void add_rows(const struct sp_profile *profile, uint32_t tid, uint64_t from_ns,
		     uint64_t until_ns, struct sp_thread_times *to)
{
	for (size_t i = 0; i < profile->row_count; i++) {
		const struct sp_row *row = sp_profile_row(profile, i);
		uint64_t time_ns = sp_row_value(row, SP_KEY_TIME)->number;
		if (row->tid != (int32_t)tid || time_ns < from_ns || time_ns >= until_ns)
			continue;
		to->running_ns += row->self_times->running_ns;
		to->runnable_ns += row->self_times->runnable_ns;
		to->blocked_ns += row->self_times->blocked_ns;
		to->unknown_ns += row->self_times->unknown_ns;
	}
}

/* Modes wall and off-cpu have the same states. */
static void check_rows(const struct asking *asking, const struct sp_profile *profile)
{
	bool on_cpu = profile->mode == SP_MODE_WALL;
	uint64_t sum_ns = 0;
	for (size_t i = 0; i < thread_lives_count(asking->threads); i++) {
		const struct thread_life *thread = thread_lives_at(asking->threads, i);
		const struct sp_thread_times *times = &thread->times;
		struct sp_thread_times got = {0};
		add_rows(profile, thread->tid, 0, UINT64_MAX, &got);
		sum_ns += sum_of(&got);
		check_number(asking, "time on a CPU", thread->tid, got.running_ns,
			     on_cpu ? times->running_ns : 0, 0);
		check_number(asking, "time off CPU", thread->tid, got.runnable_ns + got.blocked_ns,
			     times->runnable_ns + times->blocked_ns, 0);
		check_number(asking, "runnable time", thread->tid, got.runnable_ns,
			     times->runnable_ns, 0);
		check_number(asking, "unknown time", thread->tid, got.unknown_ns,
			     times->unknown_ns, 0);
	}
	check_number(asking, "sum of rows", (uint32_t)profile->mode, profile->shown_weight, sum_ns,
		     0);
}

/* The states of a timeline's threads are those of the range, and those of the rows in each step. */
static void check_lanes(const struct asking *asking, const struct sp_analysis *analysis)
{
	const struct sp_timeline *timeline = sp_analysis_timeline(analysis, 0);
	uint64_t step_ns = (asking->range.end_ns - asking->range.begin_ns) / STEPS;
	for (size_t i = 0; i < timeline->thread_count && step_ns; i++) {
		struct sp_thread_times steps[STEPS], times = {0};
		uint32_t tid = (uint32_t)sp_timeline_thread(timeline, i)->tid;
		size_t at = 0, count = thread_lives_count(asking->threads);
		while (at < count && thread_lives_at(asking->threads, at)->tid != tid)
			at++;
		if (at == count || !sp_analysis_state_times(analysis, i, asking->range.begin_ns,
							    step_ns, STEPS, steps)) {
			sim_violation("thread %u of the timeline has no states", tid);
			continue;
		}
		for (uint64_t j = 0; j < STEPS; j++) {
			struct sp_thread_times rows = {0};
			add_rows(sp_analysis_profile(analysis, 0), tid, j * step_ns,
				 (j + 1) * step_ns, &rows);
			check_number(asking, "step on a CPU", tid, rows.running_ns,
				     steps[j].running_ns, 0);
			check_number(asking, "step off CPU", tid,
				     rows.runnable_ns + rows.blocked_ns,
				     steps[j].runnable_ns + steps[j].blocked_ns, 0);
			check_number(asking, "unknown step", tid, rows.unknown_ns,
				     steps[j].unknown_ns, 0);
			times.running_ns += steps[j].running_ns;
			times.runnable_ns += steps[j].runnable_ns;
			times.blocked_ns += steps[j].blocked_ns;
			times.unknown_ns += steps[j].unknown_ns;
		}
		const struct sp_thread_times *wanted = &thread_lives_at(asking->threads, at)->times;
		check_number(asking, "lane on a CPU", tid, times.running_ns, wanted->running_ns, 0);
		check_number(asking, "runnable lane", tid, times.runnable_ns,
			     wanted->runnable_ns, 0);
		check_number(asking, "blocked lane", tid, times.blocked_ns, wanted->blocked_ns, 0);
		check_number(asking, "unknown lane", tid, times.unknown_ns, wanted->unknown_ns, 0);
	}
}

/* -- Latency --------------------------------------------------------------- */

/* Changes of the numbers of threads on a CPU, and of those that wait for one. */
struct edge {
	uint64_t time_ns;
	int running, runnable;
};

struct latency {
	double on_cpu_ns, runnable_ns;
	uint64_t allowed_ns; /* the records' times may differ from the scheduler's by that */
	struct sp_time_span life; /* process in the range */
	bool known;          /* the states of all its threads are */
};

static int compare_edges(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;
	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

/* Adds the edges of a task to *edges, which has room for `*count` of them so far. */
static struct edge *add_edges(const struct asking *asking, const struct sim_task *task,
			      struct edge *edges, size_t *count)
{
	edges = realloc(edges, (*count + 2 * task->span_count) * sizeof(*edges));
	if (!edges)
		abort();
	for (size_t i = 0; i < task->span_count && task->spans[i].state != SIM_ENDED; i++) {
		const struct sim_span *span = &task->spans[i];
		uint64_t begin_ns = span->begin_ns, end_ns = asking->range.end_ns;
		if (i + 1 < task->span_count && span[1].begin_ns < end_ns)
			end_ns = span[1].begin_ns;
		if (begin_ns < asking->range.begin_ns)
			begin_ns = asking->range.begin_ns;
		enum sim_state state = sim_state_in(task, span, asking->span->begin_ns);
		if (state == SIM_BLOCKED || begin_ns >= end_ns)
			continue;
		int running = state == SIM_RUNNING, runnable = !running;
		edges[(*count)++] = (struct edge){begin_ns, running, runnable};
		edges[(*count)++] = (struct edge){end_ns, -running, -runnable};
	}
	return edges;
}

/* The scheduler's account of a process: time in which some thread could run, by their states. */
static struct latency latency_of(const struct asking *asking, uint32_t pid)
{
	struct latency latency = {.known = true};
	struct edge *edges = NULL;
	size_t count = 0;
	for (size_t i = 0; i < sim_machine.task_count; i++)
		if (sim_machine.tasks[i]->process->pid == pid)
			edges = add_edges(asking, sim_machine.tasks[i], edges, &count);
	if (count)
		qsort(edges, count, sizeof(*edges), compare_edges);
	int running = 0, runnable = 0;
	for (size_t i = 0; i + 1 < count; i++) {
		running += edges[i].running;
		runnable += edges[i].runnable;
		double ns = (double)(edges[i + 1].time_ns - edges[i].time_ns);
		if (!running && !runnable)
			continue;
		latency.on_cpu_ns += ns * running / (running + runnable);
		latency.runnable_ns += ns * runnable / (running + runnable);
	}
	free(edges);
	return latency;
}

/* Adds what the file has of a process. */
static void add_process(const struct asking *asking, uint32_t pid, struct latency *latency)
{
	size_t found = 0, tasks = 0;
	latency->life.begin_ns = UINT64_MAX;
	for (size_t i = 0; i < thread_lives_count(asking->threads); i++) {
		const struct thread_life *thread = thread_lives_at(asking->threads, i);
		if (thread->pid != pid)
			continue;
		if (thread->begin_ns < latency->life.begin_ns)
			latency->life.begin_ns = thread->begin_ns;
		if (thread->end_ns > latency->life.end_ns)
			latency->life.end_ns = thread->end_ns;
		/* The scheduler's account has no estimates. */
		latency->known &= sim_is_known(thread, asking->span) && !asking->lost &&
				  thread->split != THREAD_SPLIT_SCHEDSTAT;
		latency->allowed_ns += thread->times.unknown_ns + SIM_LIFE_NS + SIM_SWITCH_NS *
			sim_account_of(sim_task_find(thread->tid), asking->span,
				       &asking->range).switches;
		found++;
	}
	for (size_t i = 0; i < sim_machine.task_count; i++)
		tasks += sim_machine.tasks[i]->process->pid == pid;
	latency->known &= found == tasks;
	if (latency->life.begin_ns < asking->range.begin_ns)
		latency->life.begin_ns = asking->range.begin_ns;
	if (latency->life.end_ns > asking->range.end_ns)
		latency->life.end_ns = asking->range.end_ns;
	if (latency->life.end_ns < latency->life.begin_ns)
		latency->life.end_ns = latency->life.begin_ns;
}

static void check_process(const struct asking *asking, const struct sp_profile *profile,
			  uint32_t pid)
{
	struct latency latency = latency_of(asking, pid);
	struct sp_thread_times got = {0};
	const struct sp_thread_times *own = NULL;
	uint64_t rounding_ns = ROUNDING_NS;
	size_t found = 0;
	add_process(asking, pid, &latency);
	for (size_t i = 0; i < thread_lives_count(asking->threads); i++) {
		const struct thread_life *thread = thread_lives_at(asking->threads, i);
		if (thread->pid != pid)
			continue;
		add_rows(profile, thread->tid, 0, UINT64_MAX, &got);
		own = &thread->times;
		found++;
		rounding_ns += ROUNDING_NS * 32;
	}
	/* One thread has the states of mode wall. */
	if (found == 1) {
		check_number(asking, "own latency on a CPU", pid, got.running_ns, own->running_ns,
			     rounding_ns);
		check_number(asking, "own runnable latency", pid, got.runnable_ns,
			     own->runnable_ns, rounding_ns);
	}
	check_number(asking, "life of the process", pid, sum_of(&got),
		     latency.life.end_ns - latency.life.begin_ns, rounding_ns);
	if (!latency.known)
		return;
	check_number(asking, "latency on a CPU", pid, got.running_ns,
		     (uint64_t)latency.on_cpu_ns, latency.allowed_ns + rounding_ns);
	check_number(asking, "runnable latency", pid, got.runnable_ns,
		     (uint64_t)latency.runnable_ns, latency.allowed_ns + rounding_ns);
}

static void check_latencies(const struct asking *asking, const struct sp_profile *profile)
{
	for (size_t i = 0; i < thread_lives_count(asking->threads); i++) {
		const struct thread_life *thread = thread_lives_at(asking->threads, i);
		size_t at = 0;
		while (thread_lives_at(asking->threads, at)->pid != thread->pid)
			at++;
		if (at == i)
			check_process(asking, profile, thread->pid);
	}
}

/* -- All ------------------------------------------------------------------- */

static void check_report(const struct asking *asking, enum sp_mode mode)
{
	struct sp_reader *reader = NULL;
	struct sp_error *error = sp_reader_open_memory(asking->ctx, asking->inode->bytes,
						       asking->inode->size, asking->path, &reader);
	struct sp_analysis *analysis = error ? NULL : analyse(asking, reader, mode);
	if (analysis && mode == SP_MODE_LATENCY)
		check_latencies(asking, sp_analysis_profile(analysis, 0));
	else if (analysis)
		check_rows(asking, sp_analysis_profile(analysis, 0));
	if (analysis && mode == SP_MODE_WALL)
		check_lanes(asking, analysis);
	sp_analysis_free(analysis);
	sp_reader_free(reader);
	sp_error_free(error);
}

void sim_check_ranges(struct sp_ctx *ctx, const char *path, const struct sim_inode *inode,
		      const struct sp_time_span *span, bool lost)
{
	static const enum sp_mode modes[] = {SP_MODE_WALL, SP_MODE_OFF_CPU, SP_MODE_LATENCY};
	for (unsigned int i = 0; i < sim.ranges; i++) {
		const struct sp_time_span range = random_range(span);
		uint64_t length_ns = range.end_ns - range.begin_ns;
		const struct sp_time_span times[] = {
			{range.begin_ns + length_ns / 3, range.end_ns},
			{range.begin_ns, range.end_ns - length_ns / 3}};
		const struct sp_filter filter = {
			.size = sizeof(filter), .times = times, .time_count = 2};
		struct thread_lives *threads = sim_read_threads(ctx, path, inode, &filter);
		if (!threads)
			return;
		const struct asking asking = {ctx, path, inode, span, threads,
					      range, &filter, lost};
		check_threads(&asking);
		bool known = thread_lives_known(threads);
		for (size_t j = 0; known && j < sizeof(modes) / sizeof(*modes); j++)
			check_report(&asking, modes[j]);
		thread_lives_free(threads);
	}
}
