/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Time that one sample stands for in the modes of threads' lives: which events have samples of
 * threads on a CPU and of waits, and how long the wait of a sample was. Waits are found in the
 * states of threads; a sample without states has its period.
 */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/error.h"
#include "profile/interval.h"
#include "record/types.h"
#include "times/times.h"

/*
 * Largest time between a sample and the switch that it belongs to. A sample without such a switch
 * has the duration of its period.
 */
#define SWITCH_DISTANCE_NS 1000000

/* Returns whether samples of the event are taken when a thread leaves a CPU. */
static bool is_switch(const struct sp_event *event)
{
	if (event->attr.type == PERF_TYPE_TRACEPOINT)
		return !strcmp(event->name, "sched:sched_switch");
	return event->attr.type == PERF_TYPE_SOFTWARE &&
	       event->attr.config == PERF_COUNT_SW_CONTEXT_SWITCHES;
}

static bool is_wait(const struct sp_event *event)
{
	return !strcmp(event->name, TIMES_WAIT_EVENT);
}

static bool is_preempted(const struct sp_event *event)
{
	return !strcmp(event->name, TIMES_PREEMPTED_EVENT);
}

/*
 * Returns how well an event's samples show where threads run: 2 for clocks, 1 for hardware events
 * and the event `name`, 0 if not at all.
 */
static int on_cpu_rank(const struct sp_event *event, const char *name)
{
	if (name)
		return !strcmp(event->name, name) && !is_wait(event) && !is_switch(event) &&
		       !is_preempted(event);
	if (is_wait(event) || is_preempted(event) || !event->attr.sample_period)
		return 0;
	if (record_is_clock(event->attr.type, event->attr.config))
		return 2;
	return event->attr.type == PERF_TYPE_HARDWARE || event->attr.type == PERF_TYPE_RAW;
}

/* Waits are those of TIMES_WAIT_EVENT, else of the first event that is taken at switches. */
void threads_find_roles(const struct sp_reader *reader, const struct sp_analysis_samples *samples,
			uint8_t *roles_ret)
{
	size_t count = sp_reader_event_count(reader), on_cpu = count, waits = count;
	int best = 0;
	for (size_t i = 0; i < count; i++) {
		const struct sp_event *of = sp_reader_event(reader, i);
		int rank = on_cpu_rank(of, samples->event);
		roles_ret[i] = is_preempted(of) ? ROLE_PREEMPTED : ROLE_NONE;
		if (rank > best) {
			best = rank;
			on_cpu = i;
		}
		bool before = waits == count || (is_wait(of) && roles_ret[waits] == ROLE_SWITCH);
		if ((is_wait(of) || is_switch(of)) && before) {
			if (waits < count)
				roles_ret[waits] = ROLE_NONE;
			waits = i;
			roles_ret[i] = is_wait(of) ? ROLE_WAIT : ROLE_SWITCH;
		}
	}
	if (on_cpu < count)
		roles_ret[on_cpu] = ROLE_ON_CPU;
}

/* Finds the wait that begins with the switch of a sample. Returns false if the records lack it. */
static bool find_wait(const struct times *times, const struct sp_sample *sample,
		      struct task_interval *ret)
{
	return times->states &&
	       task_states_next_wait(times->states, sample->tid, sample->time_ns, ret) &&
	       ret->begin_ns - sample->time_ns <= SWITCH_DISTANCE_NS;
}

static bool weigh_wait(const struct times *times, const struct sp_sample *sample,
		       struct sample_time *ret)
{
	struct task_interval wait;
	struct task_wakeup wakeup;
	ret->weight = ret->wait_ns = sample->period;
	if (!find_wait(times, sample, &wait) || wait.state == TASK_RUNNABLE ||
	    wait.end_ns <= wait.begin_ns)
		return true;
	ret->wait_class = wait_class(wait.end_ns - wait.begin_ns);
	/* The length is that of a loss, with which the wait begins. */
	if (wait.state != TASK_BLOCKED)
		return true;
	ret->wait_ns = wait.end_ns - wait.begin_ns;
	ret->begin_ns = wait.begin_ns;
	ret->wait_end_ns = ret->end_ns = wait.end_ns;
	ret->wait_open = wait.open;
	/*
	 * A thread that was off the CPU for d ns is recorded with period T > d with probability d
	 * / T. Its wait then stands for T / d waits, and its weight has the variance T² (1 - d /
	 * T).
	 *
	 * States count the switch back as CPU time, periods do not.
	 */
	int64_t switch_ns =
		ret->lifetime == LIFETIME_NONE
			? 0
			: 2 * task_states_totals(times->states, ret->lifetime)->switch_ns;
	bool woken = task_states_wakeup(times->states, sample->tid, wait.end_ns, &wakeup);
	uint64_t off_ns = (woken ? wakeup.run_ns : wait.end_ns) - wait.begin_ns;
	double d = off_ns, t = sample->period;
	if (d < t && d + (double)switch_ns < t) {
		ret->waits = t / d;
		ret->variance = t * t * (1 - d / t);
	}
	return true;
}

/* The period of a thinned sample is more than the time in which the thread was preempted. */
static void weigh_preempted(const struct times *times, const struct sp_sample *sample,
			    struct sample_time *ret)
{
	struct task_interval wait;
	ret->stratum = stratum_preempted(SLICE_NONE, 0);
	ret->is_preempted = true;
	if (!find_wait(times, sample, &wait) || wait.state != TASK_RUNNABLE)
		return;
	ret->begin_ns = wait.begin_ns;
	ret->end_ns = wait.end_ns;
}

/* Preempted threads do not wait for anything but a CPU: on-CPU samples distribute that time. */
static bool weigh_switch(const struct times *times, const struct sp_sample *sample,
			 struct sample_time *ret)
{
	struct task_interval wait;
	if (!find_wait(times, sample, &wait) || wait.state != TASK_BLOCKED)
		return false;
	ret->weight = ret->wait_ns = wait.end_ns - wait.begin_ns;
	ret->wait_class = wait_class(ret->wait_ns);
	ret->begin_ns = wait.begin_ns;
	ret->wait_end_ns = ret->end_ns = wait.end_ns;
	ret->wait_open = wait.open;
	if (times->is_thinned)
		ret->variance = (double)ret->weight * (double)ret->weight;
	return true;
}

/* Returns the number of a wait's system call plus 1, or 0. */
static uint32_t syscall_of(const struct sp_sample *sample)
{
	return sample->present & PERF_SAMPLE_ADDR && sample->addr < UINT32_MAX ? sample->addr : 0;
}

bool threads_weigh(const struct times *times, const struct sp_record *record,
		   struct sample_time *ret)
{
	const struct sp_sample *sample = &record->sample;
	enum sample_role role = times->roles[record->event];
	uint32_t lifetime = LIFETIME_NONE;
	if (role == ROLE_NONE || (!sample->tid && times->states))
		return false;
	if (times->states) {
		size_t found = task_states_lifetime(times->states, sample->tid, sample->time_ns);
		if (found < LIFETIME_NONE)
			lifetime = found;
	}
	*ret = (struct sample_time){.shown = ret->shown,
				    .begin_ns = sample->time_ns,
				    .step_ns = sample->time_ns,
				    .end_ns = sample->time_ns,
				    .lifetime = lifetime,
				    .is_timed = true,
				    .weight = sample->period};
	if (role == ROLE_ON_CPU) {
		ret->stratum = stratum_on_cpu(SLICE_NONE, 0);
		if (!(sample->present & PERF_SAMPLE_PERIOD))
			ret->weight = times->period;
		return lifetime != LIFETIME_NONE || times->is_clock;
	}
	ret->end_ns = weight_add(sample->time_ns, sample->period);
	if (role == ROLE_PREEMPTED) {
		weigh_preempted(times, sample, ret);
		return true;
	}
	ret->stratum = stratum_of_waits(SLICE_NONE, 0);
	ret->is_wait = true;
	ret->waits = 1;
	ret->syscall = syscall_of(sample);
	ret->wait_class = WAIT_CLASS_UNMATCHED;
	bool counts = role == ROLE_WAIT ? weigh_wait(times, sample, ret)
					: weigh_switch(times, sample, ret);
	if (lifetime == LIFETIME_NONE)
		ret->wait_class = 0;
	return counts;
}

struct sp_error *threads_find_places(struct times *times, const struct analysis_options *options)
{
	size_t count = sp_reader_event_count(times->from.reader);
	CLEANUP_FREE uint8_t *roles = calloc(count + 1, sizeof(*roles));
	NEED(roles);
	threads_find_roles(times->from.reader, &options->samples, roles);
	for (size_t i = 0; times->states && !options->samples.all_threads && i < count; i++) {
		if (roles[i] != ROLE_WAIT && roles[i] != ROLE_SWITCH)
			continue;
		times->place_event = i;
		times->place_role = roles[i];
	}
	return NULL;
}

uint64_t threads_blocked_ns(const struct times *times, const struct sp_record *record,
			    uint32_t *lifetime_ret, uint32_t *syscall_ret)
{
	const struct sp_sample *sample = &record->sample;
	size_t lifetime = task_states_lifetime(times->states, sample->tid, sample->time_ns);
	struct sample_time time = {.lifetime = lifetime,
				   .begin_ns = sample->time_ns,
				   .end_ns = weight_add(sample->time_ns, sample->period),
				   .waits = 1};
	struct slice slice;
	uint64_t shown_ns = 0;
	if (lifetime >= LIFETIME_NONE || !times_mostly_waits(times, lifetime))
		return 0;
	*lifetime_ret = time.lifetime;
	*syscall_ret = syscall_of(sample);
	if (!(times->place_role == ROLE_WAIT ? weigh_wait(times, sample, &time)
					     : weigh_switch(times, sample, &time)))
		return 0;
	for (uint64_t at_ns = time.begin_ns;
	     at_ns < time.end_ns &&
	     slices_next(&times->slices, time.lifetime, &at_ns, time.end_ns, &slice);)
		shown_ns += slice.shown ? slice.end_ns - slice.begin_ns : 0;
	return weight_round((double)shown_ns * time.waits);
}
