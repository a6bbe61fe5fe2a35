/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Snapshots are the only stacks if the kernel refuses samples of context switches. Otherwise they
 * find the threads that were blocked when the recording began.
 *
 * While threads switch so often that a sample of each switch would cost too much, one of N switches
 * is sampled: those in short windows of time. A gap follows each window, and is N - 1 times as
 * long. A larger period of the event would select, of two functions that wait in turns, always the
 * same. Snapshots then find the long waits: few begin in a window. Above a rate at which windows
 * would fill the ring buffers, snapshots are the only stacks again.
 */
#include "capture/waits/waits.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/ctx.h"
#include "base/format.h"
#include "base/io.h"
#include "capture/config/plan_facts.h"
#include "capture/config/ring_size.h"
#include "capture/waits/waits_internal.h"

/* Limit of memory for held samples, one for each waiting thread. */
#define HELD_BYTES ((size_t)64 << 20)
#define THREADS_MAX ((size_t)1 << 18)

/*
 * Open files of snapshots, if RLIMIT_NOFILE permits; and the number of snapshots in a round: 15 us
 * each, and SNAPSHOT_STACK_MAX bytes at most until the next round.
 */
#define FILES_LIMIT_PART 4
#define SNAPSHOTS_MAX 1000

/*
 * Switches per second above which not each is sampled, and below which each is again; the number
 * that is sampled between; and the rate above which none is.
 */
#define SWITCHES_HIGH 5000
#define SWITCHES_LOW 2500
#define SWITCHES_SAMPLED 4000
#define SWITCHES_MAX 100000
#define RATE_NS UINT64_C(100000000)
#define SWITCHES_BURST (SWITCHES_HIGH / 10) /* in one interval */
#define FIRST_RATE_NS UINT64_C(20000000)    /* the first interval, if threads ran before */

/*
 * One sample of a preempted thread for that many other samples, or twice as many switches: less
 * than a tenth of the recording's bytes.
 */
#define PREEMPTED_PART 12
#define PREEMPTED_LEAST_HZ 10
#define PREEMPTED_MEMORY 0.8 /* weight of an interval in the next one */
#define PREEMPTED_FIRST_NS 10000000 /* the first threshold */

/*
 * Windows are this long, or as long as that number of switches takes; each is up to twice as long.
 * Long ones have as many switches of each function if these take turns. A window's samples fill a
 * part of one ring buffer: they come in bursts. Opening and closing takes 4 % of the time at most.
 */
#define WINDOW_NS UINT64_C(25000000)
#define WINDOW_SWITCHES 1000
#define WINDOW_RING_PART 32
#define WINDOW_COST_PART 50
#define ROUND_LEAST_NS UINT64_C(1000000)

/*
 * If a part of the switches is sampled, only waits of that age have snapshots: these do not find
 * woken threads, and shorter waits of a busy machine may be that for most of their time.
 */
#define SNAPSHOT_AGE_NS UINT64_C(50000000)

static uint64_t now_ns(void *arg)
{
	const struct waits *waits = arg;
	return tasks_now_ns(waits->options.tasks);
}

/* -- Begin and end -------------------------------------------------------------- */

static void on_end_of_thread(void *arg, uint32_t tid)
{
	struct waits *waits = arg;
	if (waits->snapshots)
		snapshots_close(waits->snapshots, tid);
}

static size_t files_max(void)
{
	struct rlimit limit;
	bool low = getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
		   limit.rlim_cur / FILES_LIMIT_PART < SNAPSHOT_FILES_MAX;
	return low ? (size_t)limit.rlim_cur / FILES_LIMIT_PART + 1 : SNAPSHOT_FILES_MAX;
}

static struct sp_error *start_snapshots(struct waits *waits, const struct perf_event_attr *attr)
{
	const struct capture_config *config = waits->options.config;
	const uint32_t wanted = config_stack_bytes(config, config->off_cpu.event);
	struct utsname host;
	if (!waits->unwinds || uname(&host) < 0)
		return NULL;
	const struct snapshots_options options = {
		.ctx = waits->options.ctx, .attr = attr, .machine = host.machine,
		.stack_bytes = wanted < SNAPSHOT_STACK_MAX ? wanted : SNAPSHOT_STACK_MAX,
		.files_max = files_max(), .now = now_ns, .arg = waits,
	};
	return snapshots_new(&options, &waits->snapshots);
}

DEFINE_CLEANUP(struct waits *, waits_close)

struct sp_error *waits_open(const struct waits_options *options, struct waits **ret)
{
	const struct off_cpu *off_cpu = &options->config->off_cpu;
	const struct event_plan *plan = options->config->plan;
	if (!off_cpu->on)
		return NULL;
	CLEANUP(cleanup_waits_close) struct waits *waits = calloc(1, sizeof(*waits));
	NEED(waits);
	waits->options = *options;
	waits->made.names = &waits->wakeups.records;
	struct matcher_options matching = {
		.thin_ns = off_cpu->thin_ns,
		.snapshot_ns = OFF_CPU_SNAPSHOT_NS,
		.snapshot_age_ns = SNAPSHOT_AGE_NS,
		.threads_max = THREADS_MAX,
		.bytes_max = HELD_BYTES,
		.on_end = on_end_of_thread,
		.arg = waits,
	};
	/* The fields of all events have no period if one of them has none. */
	const struct perf_event_attr *attr = &plan->samples[off_cpu->event].attr;
	if (!record_fields_make(attr->sample_type, &matching.fields) ||
	    !record_fields_make(plan_common_type(plan), &waits->fields))
		return error_new(SP_ERROR_INVALID, "no event to sample");
	NEED(waits->matcher = matcher_new(&matching));
	waits->always = off_cpu_is_refused(off_cpu, plan);
	waits->unwinds = plan_is_unwound(plan, options->config->graph.live);
	TRY(start_snapshots(waits, attr));
	waits->each = waits->wanted = 1;
	waits->made.round_ns = waits->snapshots && waits->always ? OFF_CPU_SNAPSHOT_NS : 0;
	*ret = take_ptr(waits);
	return NULL;
}

void waits_close(struct waits *waits)
{
	if (!waits)
		return;
	matcher_free(waits->matcher);
	snapshots_free(waits->snapshots);
	wakeups_deinit(&waits->wakeups);
	vec_deinit(&waits->made.snapshots);
	vec_deinit(&waits->ended);
	free(waits);
}

static struct sp_error *add_threads_of(struct waits *waits, uint32_t pid, uint64_t begin_ns)
{
	CLEANUP(task_list_deinit) struct task_list threads = {0};
	struct sp_error *error = tasks_list(waits->options.ctx, pid, &threads);
	for (size_t i = 0; i < threads.count && !error; i++)
		error = matcher_add_thread(waits->matcher, pid, threads.items[i], begin_ns);
	enum sp_error_code code = error ? sp_error_code(error) : SP_ERROR_NO_MEMORY;
	if (code == SP_ERROR_NOT_FOUND || code == SP_ERROR_PERMISSION)
		sp_error_free(take_ptr(error)); /* it has ended, or is hidden (hidepid) */
	return error;
}

/* On some CPUs only, a thread may wake without a SWITCH record. */
static struct sp_error *add_all_threads(struct waits *waits, uint64_t begin_ns)
{
	const struct capture_config *config = waits->options.config;
	CLEANUP(task_list_deinit) struct task_list processes = {0};
	if (!waits->snapshots || config->cpus.count < config->online.count)
		return NULL;
	TRY(tasks_list_processes(waits->options.ctx, &processes));
	vec_each (process, &processes)
		if (*process != waits->options.own_pid)
			TRY(add_threads_of(waits, *process, begin_ns));
	return NULL;
}

struct sp_error *waits_add_threads(struct waits *waits)
{
	if (!waits)
		return NULL;
	const struct recorded_tasks *tasks = waits->options.tasks;
	uint64_t begin_ns = now_ns(waits);
	waits->rate_ns = clock_ns(CLOCK_MONOTONIC);
	if (waits->options.config->target == CAPTURE_SYSTEM_WIDE)
		return add_all_threads(waits, begin_ns);
	vec_each (process, &tasks->processes) {
		vec_each (thread, &process->threads)
			if (tasks_wants_thread(tasks, *thread))
				TRY(matcher_add_thread(waits->matcher, process->pid, *thread,
						       begin_ns));
	}
	return NULL;
}

/* Filters wake-ups from now on, and notes which wakers are recorded. */
static struct sp_error *begin_wakeups(struct waits *waits, const struct sp_event *events)
{
	const struct capture_config *config = waits->options.config;
	const struct wakeup_event *event = &config->off_cpu.wakeups;
	int outside_errnum = waits->options.control->outside_errnum;
	if (!event->on || config->plan->cpu_wide)
		return NULL;
	waits->filters_wakeups = off_cpu_has_outside_wakers(&config->off_cpu, config->plan);
	if (waits->filters_wakeups && !outside_errnum)
		TRY(notes_add(waits->options.notes, NOTE_WAKEUPS_BY_ALL, NULL));
	else
		TRY(notes_add(waits->options.notes, NOTE_WAKEUPS_BY_RECORDED, NULL,
			      (uint64_t)outside_errnum));
	if (!waits->filters_wakeups)
		return NULL;
	waits->wakeups.options = (struct wakeups_options){
		.ctx = waits->options.ctx, .event = event,
		.attr = &config->plan->samples[event->event].attr,
		.threads = tasks_threads(waits->options.tasks), .fields = &waits->fields,
	};
	for (size_t i = 0; i < events[event->event].id_count; i++)
		NEED(wakeups_add_id(&waits->wakeups, events[event->event].ids[i], false));
	return NULL;
}

static struct sp_error *suspend(struct waits *waits, bool suspended)
{
	if (waits->suspended == suspended)
		return NULL;
	waits->suspended = suspended;
	return event_control_suspend_waits(waits->options.control, suspended);
}

/* Returns whether samples of both events have the same fields. */
static bool samples_agree(const struct perf_event_attr *a, const struct perf_event_attr *b)
{
	return a->sample_type == b->sample_type && a->read_format == b->read_format &&
	       a->sample_regs_user == b->sample_regs_user &&
	       a->sample_regs_intr == b->sample_regs_intr &&
	       a->branch_sample_type == b->branch_sample_type;
}

static void set_each(struct waits *waits, uint32_t each)
{
	waits->each = each;
	matcher_set_sampled(waits->matcher, now_ns(waits), each);
}

struct sp_error *waits_begin(struct waits *waits)
{
	const struct sp_event *events;
	size_t count;
	if (!waits)
		return NULL;
	TRY(event_set_events(waits->options.control->set, &events, &count));
	TRY(begin_wakeups(waits, events));
	const struct sp_event *event = &events[waits->options.config->off_cpu.event];
	for (size_t i = 0; i < event->id_count; i++)
		TRY(matcher_add_id(waits->matcher, event->ids[i]));
	waits->id = event->id_count ? event->ids[0] : 0;
	if (event[1].id_count && samples_agree(&event[0].attr, &event[1].attr))
		waits->preempted.id = event[1].ids[0];
	matcher_write_preempted(waits->matcher, waits->preempted.id, PREEMPTED_FIRST_NS);
	bool is_command = waits->options.config->target == CAPTURE_COMMAND;
	/* Threads that run already may switch so often that samples exceed the ring buffers. */
	if (waits->snapshots && !waits->always && !is_command) {
		waits->wanted = 0;
		set_each(waits, 0);
		return suspend(waits, true);
	}
	return NULL;
}

/* -- Records -------------------------------------------------------------------- */

static struct sp_error *decide_on_wakeup(struct waits *waits, const struct ring *ring,
					 const struct record_values *record, uint64_t id,
					 enum waits_verdict *ret, bool *kernel_only_ret)
{
	enum wakeups_verdict verdict;
	/* Events on whole CPUs are reopened when a CPU is back online. */
	const struct alternate_ids *ids = &waits->options.control->alternate.ids;
	for (; waits->outside_count < ids->outside.count; waits->outside_count++)
		NEED(wakeups_add_id(&waits->wakeups, ids->outside.items[waits->outside_count],
				    true));
	TRY(wakeups_decide(&waits->wakeups, ring, record, id, &verdict, kernel_only_ret));
	if (verdict == WAKEUPS_FILTERED)
		*ret = WAITS_FILTERED;
	if (verdict == WAKEUPS_REPEATED)
		*ret = WAITS_REPEATED;
	return NULL;
}

/* Adds a sample. If it wraps in the ring, or has another event's id, it is copied here before. */
static struct sp_error *add_sample(struct waits *waits, const struct ring *ring,
				   const struct record_values *record, uint64_t id)
{
	const size_t size = record->header.size;
	struct iovec spans[2];
	if (id == record->id &&
	    ring_spans(ring, record->position, record->position + size, spans) == 1)
		return matcher_add_sample(waits->matcher, spans[0].iov_base);
	CLEANUP_FREE uint8_t *copy = malloc(size);
	NEED(copy);
	ring_copy(ring, record->position, size, copy);
	memcpy(copy + waits->fields.sample_id, &id, sizeof(id));
	if (waits->fields.sample_id_again)
		memcpy(copy + waits->fields.sample_id_again, &id, sizeof(id));
	return matcher_add_sample(waits->matcher, copy);
}

struct sp_error *waits_on_sample(struct waits *waits, const struct ring *ring,
				 const struct record_values *record, uint64_t id,
				 enum waits_verdict *ret, bool *kernel_only_ret)
{
	*ret = WAITS_OTHER;
	if (waits->filters_wakeups && id)
		TRY(decide_on_wakeup(waits, ring, record, id, ret, kernel_only_ret));
	if (*ret != WAITS_OTHER || !matcher_has_id(waits->matcher, id)) {
		waits->preempted.samples += id && *ret == WAITS_OTHER;
		return NULL;
	}
	*ret = waits->unwinds ? WAITS_UNWIND : WAITS_TAKEN;
	return waits->unwinds ? NULL : add_sample(waits, ring, record, id);
}

struct sp_error *waits_take(struct waits *waits, struct record_buffer *unwound)
{
	return matcher_take_samples(waits->matcher, unwound);
}

struct sp_error *waits_on_switch(struct waits *waits, const struct record_values *record)
{
	if (record->header.type == PERF_RECORD_LOST) {
		matcher_add_lost(waits->matcher, record->time_ns);
		return NULL;
	}
	return matcher_add_switch(waits->matcher, record->pid, record->tid, record->cpu,
				  record->time_ns, record->header.misc);
}

struct sp_error *waits_on_change(struct waits *waits, const struct task_change *change)
{
	return matcher_on_change(waits->matcher, change);
}

struct sp_error *waits_on_schedule(struct waits *waits)
{
	if (!waits)
		return NULL;
	bool was_disabled = waits->disabled;
	waits->disabled = schedule_all_are(&waits->options.control->schedule, false);
	if (waits->disabled == was_disabled)
		return NULL;
	uint64_t time_ns = now_ns(waits);
	if (waits->disabled)
		return matcher_disable(waits->matcher, time_ns);
	matcher_add_lost(waits->matcher, time_ns);
	/* A command's first thread has no FORK record. */
	uint32_t pid = (uint32_t)waits->options.tasks->workload.pid;
	return pid ? matcher_add_thread(waits->matcher, pid, pid, time_ns) : NULL;
}

/* -- Snapshots ------------------------------------------------------------------ */

/* Returns the right to read a process's stacks that the recorder lacks. */
static enum note_denied missing_right(const struct sp_ctx *ctx, uint32_t pid)
{
	CLEANUP_FREE char *process = format_text("%s/proc/%u", ctx_root(ctx), pid);
	CLEANUP_FREE char *yama =
		format_text("%s/proc/sys/kernel/yama/ptrace_scope", ctx_root(ctx));
	CLEANUP_FREE char *scope = NULL;
	struct stat of;
	size_t size;
	if (geteuid() == 0)
		return DENIED_CAPABILITY;
	/* Processes that others may not trace belong to root there. */
	bool is_own = process && stat(process, &of) == 0 && of.st_uid == geteuid();
	bool is_limited = is_own && yama && !io_read_file(yama, &scope, &size) && *scope == '1';
	return is_limited ? DENIED_YAMA : DENIED_USER;
}

/* Reads stacks, which are unwound in the next round: of matcher_next_bare()'s threads. */
static struct sp_error *take_snapshots(struct waits *waits, uint64_t before_ns)
{
	struct snapshot_thread blocked[SNAPSHOTS_BATCH];
	enum snapshot_result results[SNAPSHOTS_BATCH];
	struct matcher_thread thread;
	size_t count = 0, found;
	size_t at = 0;
	do {
		for (found = 0; found < SNAPSHOTS_BATCH && count < SNAPSHOTS_MAX &&
				matcher_next_bare(waits->matcher, before_ns, &at, &thread);) {
			blocked[found++] = (struct snapshot_thread){
				.pid = thread.pid, .tid = thread.tid, .id = waits->id,
				.cpu = waits->options.config->cpus.items[0],
			};
			count++;
		}
		TRY(snapshots_read(waits->snapshots, blocked, found, &waits->made.snapshots,
				   results));
		for (size_t i = 0; i < found && !waits->denied_pid; i++)
			if (results[i] == SNAPSHOT_DENIED) {
				waits->denied_pid = blocked[i].pid;
				waits->denied = missing_right(waits->options.ctx, blocked[i].pid);
			}
	} while (found == SNAPSHOTS_BATCH);
	return NULL;
}

/* Returns the N of "one of N switches is sampled" for the rate; 0: none. */
static uint32_t each_of(const struct waits *waits)
{
	double now = waits->wanted, rate = waits->rate;
	if (rate <= (waits->wanted == 1 ? SWITCHES_HIGH : SWITCHES_LOW))
		return 1;
	if (rate > SWITCHES_MAX)
		return 0;
	double wanted = rate / SWITCHES_SAMPLED;
	/* Ignores small changes of the rate: they are chance. */
	if (now > 1 && wanted > now * 0.8 && wanted < now * 1.25)
		return waits->wanted;
	return wanted < 2 ? 2 : (uint32_t)(wanted + 0.5);
}

/* A gap is in proportion to its window, however late that ends. */
static struct sp_error *end_window(struct waits *waits, uint64_t length_ns)
{
	waits->window_ns = clock_ns(CLOCK_MONOTONIC) + length_ns * (waits->each - 1);
	return suspend(waits, true);
}

/* Returns the number of switches in a window. */
static double window_switches(const struct capture_config *config)
{
	uint64_t ring_bytes = (uint64_t)config->ring_pages.samples * config->rights.page_size;
	uint64_t bytes = ring_size_sample(config->graph.kind,
					  config_stack_bytes(config, config->off_cpu.event));
	uint64_t most = ring_bytes / bytes / WINDOW_RING_PART;
	return most < WINDOW_SWITCHES ? (double)most : WINDOW_SWITCHES;
}

/*
 * Opens a window, and closes it: all else that the thread does might take longer. Drain threads go
 * on. The part of the switches that is sampled is smaller if opening a window takes too long.
 */
static struct sp_error *run_window(struct waits *waits)
{
	uint64_t length_ns = (uint64_t)(window_switches(waits->options.config) * 1e9 / waits->rate);
	if (length_ns > WINDOW_NS)
		length_ns = WINDOW_NS;
	uint64_t least = waits->cost_ns * WINDOW_COST_PART / (length_ns + 1);
	uint32_t each = least > waits->wanted ? (uint32_t)least : waits->wanted;
	if (each != waits->each)
		set_each(waits, each);
	/* CPU time: not the time that this thread waits for a CPU. */
	uint64_t cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID), begin_ns = clock_ns(CLOCK_MONOTONIC);
	TRY(suspend(waits, false));
	waits->cost_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
	/* Lengths are random: a fixed one could be a multiple of the program's own intervals. */
	length_ns += length_ns * (hash_u64(++waits->windows) >> 44) >> 20;
	const struct timespec length = {.tv_nsec = (long)length_ns};
	clock_nanosleep(CLOCK_MONOTONIC, 0, &length, NULL);
	return end_window(waits, clock_ns(CLOCK_MONOTONIC) - begin_ns);
}

/* Switches, and wake-ups that have a user stack in windows: each copies a stack. */
static uint64_t stack_copies_so_far(const struct waits *waits)
{
	bool thins = event_control_thins_wakeups(waits->options.control);
	return matcher_counts(waits->matcher)->switches + (thins ? waits->wakeups.by_recorded : 0);
}

/*
 * Samples each switch as long as they are few, else a part of them. Without snapshots, no stack
 * would be that of a long wait.
 */
static struct sp_error *fit_rate(struct waits *waits, uint64_t monotonic_ns)
{
	uint64_t count = stack_copies_so_far(waits) - waits->switches;
	uint64_t interval_ns = monotonic_ns - waits->rate_ns;
	/* A burst fills the ring buffers before the interval is over. */
	bool burst = waits->each == 1 && count > SWITCHES_BURST;
	bool first = !waits->each && !waits->rate && interval_ns >= FIRST_RATE_NS;
	if (interval_ns < RATE_NS && !burst && !first)
		return NULL;
	if (interval_ns < OFF_CPU_SNAPSHOT_NS)
		interval_ns = OFF_CPU_SNAPSHOT_NS;
	waits->rate = (double)count * 1e9 / (double)interval_ns;
	uint32_t each = each_of(waits);
	waits->switches += count;
	waits->rate_ns = monotonic_ns;
	if (each == waits->wanted)
		return NULL;
	waits->wanted = each;
	/* The next window begins with another part. */
	if (each > 1 && waits->each > 1)
		return NULL;
	set_each(waits, each);
	/* The time before was like a window. */
	TRY(each > 1 ? end_window(waits, WINDOW_NS / 2) : suspend(waits, !each));
	waits->each_ns = now_ns(waits);
	return NULL;
}

static uint64_t snapshot_interval(const struct waits *waits)
{
	return waits->each > 1 ? MATCHER_PART_SNAPSHOT_NS(SNAPSHOT_AGE_NS) : OFF_CPU_SNAPSHOT_NS;
}

/* Sets which switches are sampled, and when the next round is due. */
static struct sp_error *sample_switches(struct waits *waits, uint64_t monotonic_ns)
{
	if (waits->always || !waits->snapshots)
		return NULL;
	TRY(fit_rate(waits, monotonic_ns));
	if (waits->each > 1 && monotonic_ns >= waits->window_ns)
		TRY(run_window(waits));
	uint64_t left_ns = waits->window_ns > monotonic_ns ? waits->window_ns - monotonic_ns : 0;
	uint64_t most_ns = snapshot_interval(waits);
	if (left_ns < ROUND_LEAST_NS)
		left_ns = ROUND_LEAST_NS;
	waits->made.round_ns = waits->each == 1			   ? 0
			       : !waits->each || left_ns > most_ns ? most_ns
								   : left_ns;
	return NULL;
}

struct sp_error *waits_round(struct waits *waits, bool last)
{
	if (!waits)
		return NULL;
	bool can_read = waits->snapshots && !waits->disabled;
	if (last)
		return can_read ? take_snapshots(waits, MATCHER_BARE) : NULL;
	uint64_t monotonic_ns = clock_ns(CLOCK_MONOTONIC);
	TRY(sample_switches(waits, monotonic_ns));
	if (!can_read || monotonic_ns < waits->snapshot_ns)
		return NULL;
	/* Rounds may come earlier or later: the mean interval is the weight of a snapshot. */
	waits->snapshot_ns += snapshot_interval(waits);
	if (waits->snapshot_ns < monotonic_ns)
		waits->snapshot_ns = monotonic_ns + snapshot_interval(waits);
	if (waits->always || !waits->each)
		return take_snapshots(waits, MATCHER_BARE);
	uint64_t before_ns = now_ns(waits) - SNAPSHOT_AGE_NS;
	bool all_later = waits->each == 1 && waits->each_ns < before_ns;
	return take_snapshots(waits, all_later ? waits->each_ns : before_ns);
}

/* -- Output --------------------------------------------------------------------- */

struct waits_made *waits_made(struct waits *waits)
{
	return &waits->made;
}

/* Sets the threshold with which the last intervals would have had the wanted number of samples. */
static void thin_preempted(struct waits *waits, uint64_t safe_ns)
{
	const struct matcher_counts *counts = matcher_counts(waits->matcher);
	struct preempted_rate *rate = &waits->preempted;
	bool first = !rate->time_ns;
	bool is_last = safe_ns == UINT64_MAX;
	if (!rate->id || is_last || (!first && safe_ns < rate->time_ns + RATE_NS))
		return;
	/* Older intervals count less and less. */
	double seconds = first ? 0 : (double)(safe_ns - rate->time_ns) / 1e9;
	double others = (double)rate->samples + (double)(counts->switches - rate->switches) / 2;
	double wanted = others / PREEMPTED_PART, least = seconds * PREEMPTED_LEAST_HZ;
	rate->wanted = rate->wanted * PREEMPTED_MEMORY + (wanted > least ? wanted : least);
	rate->off_ns = rate->off_ns * PREEMPTED_MEMORY + (double)(counts->preempted_ns - rate->ns);
	rate->time_ns = safe_ns;
	rate->samples = 0;
	rate->switches = counts->switches;
	rate->ns = counts->preempted_ns;
	/* Only one of `each` switches has a stack, which stands for `each` of them. */
	if (!first)
		matcher_write_preempted(waits->matcher, rate->id,
					rate->off_ns / (rate->wanted * (waits->each ?: 1)));
}

struct sp_error *waits_write(struct waits *waits, uint64_t safe_ns, uint64_t split_ns,
			     struct waits_ended *ret)
{
	const struct matcher_counts *counts = matcher_counts(waits->matcher);
	uint64_t written = counts->written;
	waits->ended.count = 0;
	thin_preempted(waits, safe_ns);
	TRY(matcher_write(waits->matcher, safe_ns, &waits->ended));
	if (split_ns) {
		wakeups_restart(&waits->wakeups);
		TRY(matcher_split(waits->matcher, split_ns, &waits->ended));
	}
	*ret = (struct waits_ended){
		.bytes = waits->ended.items, .size = waits->ended.count,
		.samples = counts->written - written,
		.first_ns = counts->first_ns, .last_ns = counts->last_ns,
	};
	return NULL;
}

uint64_t waits_oldest_ns(const struct waits *waits)
{
	return matcher_oldest_ns(waits->matcher);
}

struct sp_error *waits_note_losses(struct waits *waits)
{
	if (!waits)
		return NULL;
	if (waits->denied_pid) {
		const uint64_t *results = snapshots_counts(waits->snapshots)->results;
		uint64_t denied = results[SNAPSHOT_DENIED];
		TRY(notes_add(waits->options.notes, NOTE_SNAPSHOTS_DENIED, NULL, denied,
			      denied + results[SNAPSHOT_TAKEN], waits->denied_pid, waits->denied));
	}
	const struct matcher_counts *counts = matcher_counts(waits->matcher);
	if (!counts->unmatched && !counts->dropped)
		return NULL;
	return notes_add(waits->options.notes, NOTE_WAITS_LOST, NULL, counts->unmatched,
			 counts->waits + counts->unmatched, counts->dropped, HELD_BYTES >> 20);
}
