/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/thread_lives.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/parallel.h"
#include "base/strtab.h"
#include "profile/filter.h"
#include "sideband/pass_one.h"

struct thread_lives {
	VEC(struct thread_life) items;
	struct strtab strings;
	uint64_t first_ns, last_ns;
	bool known;
};

DEFINE_CLEANUP(struct thread_lives *, thread_lives_free)

void thread_lives_free(struct thread_lives *threads)
{
	if (!threads)
		return;
	vec_deinit(&threads->items);
	strtab_deinit(&threads->strings);
	free(threads);
}

/* Recording while its threads are read. */
struct reading {
	const struct sp_filter *filter;
	struct sp_time_span *times; /* its ranges, which do not overlap */
	size_t time_count;
	struct pass_one_result read;
};

static void reading_deinit(struct reading *reading)
{
	pass_one_deinit(&reading->read);
	free(reading->times);
}

static bool has_number(const struct sp_number_list *list, uint32_t number)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i] == (int32_t)number)
			return true;
	return !list->count;
}

/* Adds a window of a lifetime's totals to a thread's times. */
static void add_times(const struct task_totals *totals, struct sp_thread_times *times)
{
	times->running_ns += totals->running_ns;
	times->runnable_ns += totals->runnable_ns;
	times->blocked_ns += totals->blocked_ns;
	times->unknown_ns += totals->unknown_ns;
}

/* Adds what a lifetime spent between two times, within the filter's times, to *totals. */
static void add_window(const struct reading *reading, size_t index, uint64_t from_ns, uint64_t until_ns,
		       struct task_totals *totals)
{
	const struct task_states *states = reading->read.sideband.states;
	if (!reading->filter || !reading->filter->time_count)
		task_states_window(states, index, from_ns, until_ns, totals);
	for (size_t i = 0; i < reading->time_count; i++) {
		const struct sp_time_span *span = &reading->times[i];
		uint64_t begin_ns = span->begin_ns > from_ns ? span->begin_ns : from_ns;
		uint64_t end_ns = span->end_ns < until_ns ? span->end_ns : until_ns;
		task_states_window(states, index, begin_ns, end_ns, totals);
	}
}

static void set_slices(const struct thread_lives *threads, const struct reading *reading,
		       size_t index, struct thread_life *thread)
{
	uint64_t length = threads->last_ns - threads->first_ns;
	for (uint64_t i = 0; i < THREAD_SLICES; i++) {
		struct task_totals totals = {0};
		uint64_t from_ns = length / THREAD_SLICES * i + length % THREAD_SLICES * i /
				   THREAD_SLICES;
		uint64_t until_ns = length / THREAD_SLICES * (i + 1) +
				    length % THREAD_SLICES * (i + 1) / THREAD_SLICES;
		add_window(reading, index, threads->first_ns + from_ns, threads->first_ns + until_ns,
			   &totals);
		add_times(&totals, &thread->slices[i]);
	}
}

/* Returns false when out of memory. */
static bool add_thread(struct thread_lives *threads, const struct reading *reading, size_t index)
{
	const struct task_totals *whole = task_states_totals(reading->read.sideband.states, index);
	const struct sp_filter *filter = reading->filter;
	uint64_t name_ns = whole->end_ns > whole->begin_ns ? whole->end_ns - 1 : whole->end_ns;
	const char *comm =
		machine_span(reading->read.machine, whole->pid, whole->tid, name_ns).comm;
	struct task_totals totals = {.split = whole->split};
	if (filter &&
	    (!has_number(&filter->pids, whole->pid) || !has_number(&filter->tids, whole->tid) ||
	     !filter_pattern(filter->comms.items, filter->comms.count, comm)))
		return true;
	if (filter && filter->time_count)
		add_window(reading, index, 0, UINT64_MAX, &totals);
	else
		totals = *whole;
	struct thread_life *thread = vec_push(&threads->items);
	comm = thread ? strtab_add(&threads->strings, comm) : NULL;
	if (!comm)
		return false;
	*thread = (struct thread_life){
		.pid = whole->pid,
		.tid = whole->tid,
		.comm = comm,
		.begin_ns = whole->begin_ns,
		.end_ns = whole->end_ns,
		.waits = totals.waits,
		.longest_wait_ns = totals.longest_wait_ns,
		.split = (enum thread_split)totals.split,
		.counted = whole->counted,
		.born = whole->born,
		.ended = whole->ended,
	};
	add_times(&totals, &thread->times);
	set_slices(threads, reading, index, thread);
	return true;
}

static int compare_threads(const void *a, const void *b)
{
	const struct thread_life *x = a, *y = b;
	if (x->times.running_ns != y->times.running_ns)
		return x->times.running_ns > y->times.running_ns ? -1 : 1;
	if (x->times.runnable_ns != y->times.runnable_ns)
		return x->times.runnable_ns > y->times.runnable_ns ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return u64_order(x->begin_ns, y->begin_ns);
}

/* Sets the time that the slices divide: the recording's, within the filter's times. */
static void set_extent(struct thread_lives *threads, const struct reading *reading)
{
	uint64_t first_ns = task_states_first_ns(reading->read.sideband.states);
	uint64_t last_ns = task_states_last_ns(reading->read.sideband.states);
	size_t count = reading->time_count;
	uint64_t begin_ns = count ? reading->times[0].begin_ns : 0;
	uint64_t end_ns = count ? reading->times[count - 1].end_ns : UINT64_MAX;
	threads->first_ns = begin_ns > first_ns ? begin_ns : first_ns;
	threads->last_ns = end_ns < last_ns ? end_ns : last_ns;
	if (threads->last_ns < threads->first_ns)
		threads->last_ns = threads->first_ns;
}

static struct sp_error *collect(struct thread_lives *threads, const struct reading *reading)
{
	const struct task_states *states = reading->read.sideband.states;
	/* Records without times have no states. */
	if (!states)
		return NULL;
	set_extent(threads, reading);
	threads->known = task_states_known(states);
	for (size_t i = 0; i < task_states_count(states); i++)
		NEED(add_thread(threads, reading, i));
	if (threads->items.count)
		qsort(threads->items.items, threads->items.count, sizeof(*threads->items.items),
		      compare_threads);
	return NULL;
}

struct sp_error *thread_lives_new(struct sp_ctx *ctx, struct sp_reader *reader,
				const struct sp_filter *filter, struct thread_lives **ret)
{
	static const struct sp_files files = {.size = sizeof(files)};
	const struct pass_one pass = {.ctx = ctx, .reader = reader, .files = &files,
				      .threads = parallel_threads(0), .states = true};
	CLEANUP(cleanup_thread_lives_free) struct thread_lives *threads =
		calloc(1, sizeof(*threads));
	CLEANUP(reading_deinit) struct reading reading = {.filter = filter};
	NEED(threads);
	if (filter)
		NEED(reading.times = filter_ranges(filter, &reading.time_count));
	struct sp_error *error = pass_one_read(&pass, &reading.read);
	if (!error)
		error = collect(threads, &reading);
	if (!error)
		*ret = take_ptr(threads);
	return error;
}

bool thread_lives_known(const struct thread_lives *threads)
{
	return threads->known;
}

uint64_t thread_lives_first_ns(const struct thread_lives *threads)
{
	return threads->first_ns;
}

uint64_t thread_lives_last_ns(const struct thread_lives *threads)
{
	return threads->last_ns;
}

size_t thread_lives_count(const struct thread_lives *threads)
{
	return threads->items.count;
}

const struct thread_life *thread_lives_at(const struct thread_lives *threads, size_t index)
{
	assert(index < threads->items.count);
	return &threads->items.items[index];
}
