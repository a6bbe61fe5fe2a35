/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares the states of threads that the library reads from a file with the scheduler's account.
 *
 * Without wake-ups, the reader adds the time from waking to running to the blocked time, within a time.
 * Counts of schedstat give its sum over a life. Lost records make time unknown, and no other state may differ
 * by more than that.
 */
#include <stdlib.h>
#include "states.h"

/* Longest time from a round's begin until its last ring buffer was looked at. */
#define ROUND_NS 100000

/* Shorter recordings need not have counts of schedstat. */
#define SHORTEST_NS (100 * SIM_MS)

/* Wake-ups are recorded. */
static bool wakes;

/* The file is not the recording's first, and lacks the records of earlier ones. */
static bool is_later;

struct checking {
	struct sp_ctx *ctx;
	const struct sim_scenario *scenario;
	const struct sim_read_back *read_back;
	bool exact; /* nothing but records in full rings is missing */
	bool lost;  /* there are such */
};

static uint64_t difference(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static bool is_switch(const struct sim_truth *truth)
{
	return truth->type == PERF_RECORD_SWITCH || truth->type == PERF_RECORD_SWITCH_CPU_WIDE;
}

/* Whether the kernel made a record of the switch or fork that began the span. */
static bool has_record(const struct sim_task *task, const struct sim_span *span)
{
	uint64_t from_ns = span->begin_ns > SIM_SWITCH_NS ? span->begin_ns - SIM_SWITCH_NS : 0;
	for (size_t i = sim_truth_from(from_ns); i < sim_perf.truth_count; i++) {
		const struct sim_truth *truth = &sim_perf.truth[i];
		if (truth->time_ns > span->begin_ns + SIM_SWITCH_NS)
			break;
		bool is_fork = truth->type == PERF_RECORD_FORK && truth->ip == task->tid;
		bool is_waking = span->state == SIM_WOKEN && sim_is_waking(truth->id);
		if (is_fork || is_waking || (is_switch(truth) && truth->tid == task->tid))
			return true;
	}
	return false;
}

/* Time until the kernel made a record of a switch: the state before that may be unknown. */
static uint64_t until_first_switch(const struct sim_task *task, const struct sp_time_span *span)
{
	for (size_t i = sim_truth_from(span->begin_ns); i < sim_perf.truth_count; i++) {
		const struct sim_truth *truth = &sim_perf.truth[i];
		if (is_switch(truth) && truth->tid == task->tid)
			return truth->time_ns - span->begin_ns;
	}
	return span->end_ns - span->begin_ns;
}

/* Whether there is a sample or switch of the thread: without one, a thread that runs counts as blocked. */
static bool is_recorded(const struct sim_task *task, const struct sp_time_span *span)
{
	uint64_t born_ns = task->span_count ? task->spans[0].begin_ns : 0;
	size_t from = sim_truth_from(born_ns > span->begin_ns ? born_ns : span->begin_ns);
	for (size_t i = from; i < sim_perf.truth_count; i++) {
		const struct sim_truth *truth = &sim_perf.truth[i];
		if (truth->time_ns >= span->end_ns)
			break;
		if (truth->tid == task->tid && (is_switch(truth) || truth->type == PERF_RECORD_SAMPLE))
			return true;
	}
	return false;
}

enum sim_state sim_state_in(const struct sim_task *task, const struct sim_span *span,
			    uint64_t from_ns)
{
	if (span->state == SIM_WOKEN && !wakes)
		return SIM_BLOCKED;
	bool could_run = span->state == SIM_WOKEN || span->state == SIM_RUNNABLE;
	bool unseen = could_run && span->begin_ns < from_ns && (is_later || !has_record(task, span));
	return unseen ? SIM_BLOCKED : span->state;
}

struct sim_account sim_account_of(const struct sim_task *task, const struct sp_time_span *file,
				  const struct sp_time_span *range)
{
	struct sim_account account = {0};
	uint64_t *const sums[] = {
		[SIM_BLOCKED] = &account.blocked_ns, [SIM_WOKEN] = &account.runnable_ns,
		[SIM_RUNNABLE] = &account.runnable_ns, [SIM_RUNNING] = &account.running_ns,
	};
	for (size_t i = 0; i < task->span_count && task->spans[i].state != SIM_ENDED; i++) {
		const struct sim_span *span = &task->spans[i];
		uint64_t from_ns = range->begin_ns;
		uint64_t begin_ns = span->begin_ns > from_ns ? span->begin_ns : from_ns;
		uint64_t end_ns = i + 1 < task->span_count ? span[1].begin_ns : UINT64_MAX;
		if (end_ns > range->end_ns)
			end_ns = range->end_ns;
		if (end_ns <= begin_ns)
			continue;
		*sums[sim_state_in(task, span, file->begin_ns)] += end_ns - begin_ns;
		account.switches++;
	}
	return account;
}

/* The sum of states is the lifetime, also where records were lost. */
static void check_sum(const struct thread_life *thread)
{
	const struct sp_thread_times *times = &thread->times;
	uint64_t sum = times->running_ns + times->runnable_ns + times->blocked_ns + times->unknown_ns;
	if (thread->end_ns < thread->begin_ns || sum != thread->end_ns - thread->begin_ns)
		sim_violation("states of thread %u sum to %llu ns, its lifetime is %llu ns", thread->tid,
			      (unsigned long long)sum,
			      (unsigned long long)(thread->end_ns - thread->begin_ns));
}

/* Whether the task has no record between two losses of one ring: states between them are assumed. */
static bool is_lost_twice(uint32_t tid)
{
	const struct sim_truth *lost = NULL; /* the last switch, if it was lost */
	bool put = false;                    /* the ring had room since then */
	for (size_t i = 0; i < sim_perf.truth_count; i++) {
		const struct sim_truth *truth = &sim_perf.truth[i];
		bool own = is_switch(truth) && truth->tid == tid;
		put |= lost && truth->ring == lost->ring && truth->fate == SIM_PUT;
		if (!own)
			continue;
		if (lost && put && truth->fate == SIM_LOST)
			return true;
		lost = truth->fate == SIM_LOST ? truth : NULL;
		put = false;
	}
	return false;
}

/* Time of waiting for a CPU. */
static uint64_t waited(const struct sim_task *task, uint64_t from_ns, uint64_t until_ns)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < task->span_count; i++) {
		const struct sim_span *span = &task->spans[i];
		uint64_t begin_ns = span->begin_ns > from_ns ? span->begin_ns : from_ns;
		uint64_t end_ns = i + 1 < task->span_count ? span[1].begin_ns : UINT64_MAX;
		bool waits = span->state == SIM_WOKEN || span->state == SIM_RUNNABLE;
		if (end_ns > until_ns)
			end_ns = until_ns;
		sum += waits && end_ns > begin_ns ? end_ns - begin_ns : 0;
	}
	return sum;
}

/* Over a life, the waiting for a CPU is exact as far as counts of schedstat were read. */
static void check_schedstat(const struct checking *checking, const struct thread_life *thread,
			    bool *split)
{
	const struct sim_task *task = sim_task_find(thread->tid);
	uint64_t all_ns = waited(task, thread->begin_ns, thread->end_ns);
	uint64_t from_ns = thread->born ? thread->begin_ns : task->first_schedstat_ns;
	uint64_t counted_ns = waited(task, from_ns, task->last_schedstat_ns);
	uint64_t outside_ns = waited(task, thread->begin_ns, task->last_schedstat_ns) - counted_ns +
			      waited(task, task->last_schedstat_ns, thread->end_ns) +
			      waited(task, thread->end_ns, task->last_schedstat_ns);
	/* Switches after that may be read, or not. */
	if (thread->end_ns > sim_result.stop_ns)
		outside_ns += thread->end_ns - sim_result.stop_ns;
	uint64_t exact_ns = SIM_LIFE_NS + SIM_SWITCH_NS * task->span_count;
	/* Files begin between two counts. */
	if (thread->split != THREAD_SPLIT_SCHEDSTAT || checking->read_back->split_count)
		return;
	*split = true;
	if (difference(thread->times.runnable_ns, all_ns) > outside_ns + thread->times.unknown_ns + exact_ns)
		sim_violation("thread %u waited %llu ns for a CPU, the file says %llu ns", thread->tid,
			      (unsigned long long)all_ns, (unsigned long long)thread->times.runnable_ns);
}

static void check_state(const struct thread_life *thread, const char *name, uint64_t read_ns,
			uint64_t true_ns, uint64_t allowed_ns)
{
	if (difference(read_ns, true_ns) > allowed_ns && !is_lost_twice(thread->tid))
		sim_violation("thread %u was %s for %llu ns; the file says %llu ns, and %llu ns are unknown",
			      thread->tid, name, (unsigned long long)true_ns, (unsigned long long)read_ns,
			      (unsigned long long)thread->times.unknown_ns);
}

/* FORK and EXIT records bound a life. */
static void check_life(const struct thread_life *thread, const struct sp_time_span *span)
{
	const struct sim_task *task = sim_task_find(thread->tid);
	const struct sim_span *last = &task->spans[task->span_count - 1];
	while (last > task->spans && last[-1].state == SIM_ENDED)
		last--;
	bool born = task->start_ns > span->begin_ns;
	bool ended = last->state == SIM_ENDED && last->begin_ns < span->end_ns;
	if (born && (!thread->born || difference(thread->begin_ns, task->start_ns) > SIM_LIFE_NS))
		sim_violation("thread %u began at %llu ns, the file says %llu ns", thread->tid,
			      (unsigned long long)task->start_ns, (unsigned long long)thread->begin_ns);
	if (ended && (!thread->ended || difference(thread->end_ns, last->begin_ns) > SIM_LIFE_NS))
		sim_violation("thread %u ended at %llu ns, the file says %llu ns", thread->tid,
			      (unsigned long long)last->begin_ns, (unsigned long long)thread->end_ns);
}

bool sim_is_comparable(const struct sim_task *task)
{
	bool early = task && task->start_ns >= sim_result.open_ns &&
		     task->start_ns < sim_result.begin_ns;
	return task && !early && !task->uncertain && !task->process->unknown_until_ns &&
	       task->process != sim_machine.recorder;
}

/*
 * Whether the events were opened one after another around a switch: a wake-up has a record, and a
 * switch after it has none. The wake-up's state lasts until the next record.
 */
static bool is_opened_around(const struct sim_task *task, const struct sp_time_span *span)
{
	bool recorded = false;
	for (size_t i = 0; i < task->span_count; i++) {
		const struct sim_span *state = &task->spans[i];
		if (state->begin_ns >= span->begin_ns)
			break;
		if (recorded && !has_record(task, state))
			return true;
		recorded = state->begin_ns >= sim_result.open_ns && has_record(task, state);
	}
	return false;
}

bool sim_is_known(const struct thread_life *thread, const struct sp_time_span *span)
{
	const struct sim_task *task = sim_task_find(thread->tid);
	if (!sim_is_comparable(task) || !sim_account_of(task, span, span).switches ||
	    (wakes && is_opened_around(task, span)))
		return false;
	/* Metadata is read later, or is a whole round's. */
	bool exits_later = thread->ended && thread->end_ns > span->end_ns;
	/* By an EXIT record, or counts of schedstat after a file's end, a thread without switches ran. */
	if ((sim_account_of(task, span, span).running_ns || exits_later || is_later) &&
	    !is_recorded(task, span))
		return false;
	/* A file begins with a round, but records until its ring buffers were looked at are in the last. */
	const struct sp_time_span begin = {.begin_ns = span->begin_ns, .end_ns = span->begin_ns + ROUND_NS};
	return !is_later || !is_recorded(task, &begin);
}

void sim_check_thread(const struct thread_life *thread, const struct sp_time_span *span,
		      const struct sp_time_span *range, bool lost)
{
	const struct sim_task *task = sim_task_find(thread->tid);
	const struct sp_thread_times *times = &thread->times;
	struct sim_account account = sim_account_of(task, span, range);
	bool exits_later = thread->ended && thread->end_ns > span->end_ns;
	if (!sim_is_known(thread, span))
		return;
	bool begins = thread->begin_ns + SIM_LIFE_NS >= range->begin_ns &&
		      thread->begin_ns <= range->end_ns + SIM_LIFE_NS;
	bool ends = thread->end_ns + SIM_LIFE_NS >= range->begin_ns &&
		    thread->end_ns <= range->end_ns + SIM_LIFE_NS;
	uint64_t exact_ns = (begins || ends ? SIM_LIFE_NS : 0) + SIM_SWITCH_NS * account.switches;
	uint64_t allowed_ns = times->unknown_ns + exact_ns;
	lost |= exits_later;
	check_state(thread, "on a CPU", times->running_ns, account.running_ns, allowed_ns);
	check_state(thread, "off", times->runnable_ns + times->blocked_ns,
		    account.runnable_ns + account.blocked_ns, allowed_ns);
	/*
	 * After lost records, a thread that is off the CPU counts as blocked. Parts of schedstat's
	 * sum are estimates.
	 */
	bool more = times->runnable_ns > account.runnable_ns;
	if (thread->split == THREAD_SPLIT_SCHEDSTAT ? !lost && !more : !lost || more)
		check_state(thread, "runnable", times->runnable_ns, account.runnable_ns,
			    lost ? exact_ns : allowed_ns);
	if (!lost && times->unknown_ns > until_first_switch(task, span))
		sim_violation("thread %u has unknown states, but no record was lost", thread->tid);
}

static bool is_wanted(const struct sim_scenario *scenario, const struct sim_task *task)
{
	return task->followed || scenario->target == SIM_SYSTEM;
}

struct thread_lives *sim_read_threads(struct sp_ctx *ctx, const char *path,
				    const struct sim_inode *inode, const struct sp_filter *filter)
{
	struct sp_reader *reader = NULL;
	struct thread_lives *threads = NULL;
	struct sp_error *error = sp_reader_open_memory(ctx, inode->bytes, inode->size, path, &reader);
	if (!error)
		error = thread_lives_new(ctx, reader, filter, &threads);
	if (error)
		sim_violation("states of %s: %s", path, sp_error_message(error));
	sp_error_free(error);
	sp_reader_free(reader);
	return threads;
}

static void check_window(const struct checking *checking, const struct thread_lives *threads,
			 const struct sp_time_span *span)
{
	size_t compared = 0, wanted = 0;
	for (size_t i = 0; i < thread_lives_count(threads); i++) {
		const struct thread_life *thread = thread_lives_at(threads, i);
		const struct sim_task *task = sim_task_find(thread->tid);
		if (!sim_is_comparable(task) || !sim_account_of(task, span, span).switches)
			continue;
		check_life(thread, span);
		sim_check_thread(thread, span, span, checking->lost);
		compared++;
	}
	for (size_t i = 0; i < sim_machine.task_count; i++) {
		const struct sim_task *task = sim_machine.tasks[i];
		if (sim_is_comparable(task) && is_wanted(checking->scenario, task) &&
		    sim_account_of(task, span, span).switches)
			wanted++;
	}
	if (compared < wanted)
		sim_violation("%zu of %zu threads have states", compared, wanted);
	if (sim.verbose)
		printf("# states of %zu threads compared, of %zu\n", compared, wanted);
}

/* -- Several files --------------------------------------------------------- */

/* Times of the files that were read. */
static struct {
	struct sp_time_span *files;
	size_t file_count;
} sums;

static void add_file(const struct thread_lives *threads)
{
	sums.files = realloc(sums.files, (sums.file_count + 1) * sizeof(*sums.files));
	if (!sums.files)
		abort();
	sums.files[sums.file_count++] = (struct sp_time_span){
		.begin_ns = thread_lives_first_ns(threads), .end_ns = thread_lives_last_ns(threads),
	};
	for (size_t i = 0; i < thread_lives_count(threads); i++) {
		const struct thread_life *thread = thread_lives_at(threads, i);
		const struct sp_thread_times *times = &thread->times;
		struct sim_task *task = sim_task_find(thread->tid);
		if (task)
			task->states_ns += times->running_ns + times->runnable_ns + times->blocked_ns +
					   times->unknown_ns;
	}
}

/* Time of the task's life in the files. */
static uint64_t life_in_files(const struct sim_task *task)
{
	const struct sim_span *last = &task->spans[task->span_count - 1];
	while (last > task->spans && last[-1].state == SIM_ENDED)
		last--;
	uint64_t life_ns = 0, end_ns = last->state == SIM_ENDED ? last->begin_ns : UINT64_MAX;
	for (size_t i = 0; i < sums.file_count; i++) {
		const struct sp_time_span *file = &sums.files[i];
		uint64_t from_ns = task->start_ns > file->begin_ns ? task->start_ns : file->begin_ns;
		uint64_t until_ns = end_ns < file->end_ns ? end_ns : file->end_ns;
		life_ns += until_ns > from_ns ? until_ns - from_ns : 0;
	}
	return life_ns;
}

/* A file ends with its last record, and the next one begins later. */
static void check_gaps(void)
{
	for (size_t i = 0; i < sim_perf.truth_count; i++) {
		const struct sim_truth *truth = &sim_perf.truth[i];
		bool found = !is_switch(truth) || truth->fate != SIM_PUT ||
			     truth->time_ns >= sim_result.stop_ns || truth->time_ns < sim_result.begin_ns;
		for (size_t k = 0; k < sums.file_count && !found; k++)
			found = truth->time_ns >= sums.files[k].begin_ns &&
				truth->time_ns <= sums.files[k].end_ns + SIM_SWITCH_NS;
		if (!found)
			sim_violation("the switch of thread %u at %llu is in the time of no file", truth->tid,
				      (unsigned long long)truth->time_ns);
	}
}

static void check_sums(const struct checking *checking)
{
	if (!checking->exact || checking->lost || !sums.file_count)
		return;
	const struct sp_time_span span = {sim_result.begin_ns, sim_result.stop_ns};
	check_gaps();
	for (size_t i = 0; i < sim_machine.task_count; i++) {
		const struct sim_task *task = sim_machine.tasks[i];
		uint64_t life_ns = life_in_files(task);
		bool lived = sim_account_of(task, &span, &span).switches && life_ns;
		if (!sim_is_comparable(task) || !is_wanted(checking->scenario, task) || !lived)
			continue;
		if (difference(task->states_ns, life_ns) > SIM_LIFE_NS * (sums.file_count + 1))
			sim_violation("states of thread %u in %zu files sum to %llu ns, its life is %llu ns",
				      task->tid, sums.file_count,
				      (unsigned long long)task->states_ns, (unsigned long long)life_ns);
	}
}

/* Whole lives, whatever a recording's begin and end hide. */
static void check_lives(const struct checking *checking, const struct thread_lives *threads)
{
	bool exact = checking->exact && !checking->lost, split = false;
	for (size_t i = 0; i < thread_lives_count(threads); i++) {
		const struct thread_life *thread = thread_lives_at(threads, i);
		check_sum(thread);
		if (exact && sim_is_comparable(sim_task_find(thread->tid)))
			check_schedstat(checking, thread, &split);
	}
	/* Some tasks of the whole system are alive at the end. */
	bool due = exact && !wakes && !checking->read_back->split_count &&
		   checking->scenario->target == SIM_SYSTEM &&
		   sim_result.stop_ns - sim_result.begin_ns > SHORTEST_NS;
	if (due && !split)
		sim_violation("no thread has counts of schedstat");
}

static bool is_split(const struct sim_read_back *read_back, uint64_t time_ns)
{
	for (size_t i = 0; i < read_back->split_count; i++)
		if (read_back->splits[i] == time_ns)
			return true;
	return false;
}

static void check_file(const char *path, const struct sim_inode *inode, void *arg)
{
	const struct checking *checking = arg;
	struct sp_time_span span = {.begin_ns = sim_result.begin_ns, .end_ns = sim_result.stop_ns};
	const struct sp_filter filter = {.size = sizeof(filter), .times = &span, .time_count = 1};
	struct thread_lives *threads = sim_read_threads(checking->ctx, path, inode, NULL);
	if (!threads)
		return;
	add_file(threads);
	is_later = is_split(checking->read_back, thread_lives_first_ns(threads));
	check_lives(checking, threads);
	if (thread_lives_first_ns(threads) > span.begin_ns)
		span.begin_ns = thread_lives_first_ns(threads);
	if (thread_lives_last_ns(threads) < span.end_ns)
		span.end_ns = thread_lives_last_ns(threads);
	/* A file that ends within a round has the whole round's metadata. */
	uint64_t next_ns = sim_next_file_ns(checking->read_back, thread_lives_first_ns(threads));
	if (next_ns < span.end_ns)
		span.end_ns = next_ns;
	thread_lives_free(threads);
	threads = checking->exact ? sim_read_threads(checking->ctx, path, inode, &filter) : NULL;
	if (!threads)
		return;
	check_window(checking, threads, &span);
	thread_lives_free(threads);
	if (span.begin_ns < span.end_ns)
		sim_check_ranges(checking->ctx, path, inode, &span, checking->lost);
}

void sim_check_states(const struct sim_scenario *scenario, const struct sim_read_back *read_back,
		      bool killed)
{
	struct checking checking = {
		.scenario = scenario, .read_back = read_back,
		.exact = !killed && !sim_result.failed && !sim.fault_name &&
			 !sim_result.stats.lost_sideband,
	};
	wakes = scenario->sampling.wakers;
	for (size_t i = 0; i < sim_perf.truth_count; i++)
		checking.lost |= sim_perf.truth[i].fate == SIM_LOST;
	sp_error_free(sp_ctx_new(&checking.ctx));
	sim_files_visit(check_file, &checking);
	check_sums(&checking);
	sp_ctx_free(checking.ctx);
}
