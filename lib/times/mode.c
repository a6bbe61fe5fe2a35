/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "times/mode.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "profile/interval.h"
#include "record/types.h"

/*
 * Largest time between a sample and the switch that it belongs to. A sample without such a switch has the
 * duration of its period.
 */
#define SWITCH_DISTANCE_NS 1000000

static bool is_software(const struct sp_event *event, uint64_t config)
{
	return event->attr.type == PERF_TYPE_SOFTWARE && event->attr.config == config;
}

/* Returns whether samples of the event are taken when a thread leaves a CPU. */
static bool is_switch(const struct sp_event *event)
{
	return is_software(event, PERF_COUNT_SW_CONTEXT_SWITCHES) ||
	       (event->attr.type == PERF_TYPE_TRACEPOINT && !strcmp(event->name, "sched:sched_switch"));
}

static bool is_wait(const struct sp_event *event)
{
	return !strcmp(event->name, MODE_WAIT_EVENT);
}

/* Returns whether the event's samples show where threads run: clocks before hardware events. */
static int on_cpu_rank(const struct sp_event *event, const char *name)
{
	if (name)
		return !strcmp(event->name, name) && !is_wait(event) && !is_switch(event);
	if (is_wait(event) || !event->attr.sample_period)
		return 0;
	if (record_is_clock(event->attr.type, event->attr.config))
		return 2;
	return event->attr.type == PERF_TYPE_HARDWARE || event->attr.type == PERF_TYPE_RAW;
}

/* Returns the index of the event of wake-ups; the number of events if there is none. */
static size_t wake_event(const struct sp_reader *reader)
{
	static const char *const names[] = {"sched:sched_waking", "sched:sched_wakeup"};
	size_t count = sp_reader_event_count(reader);
	for (size_t i = 0; i < 2; i++)
		for (size_t j = 0; j < count; j++)
			if (sp_reader_event(reader, j)->attr.type == PERF_TYPE_TRACEPOINT &&
			    !strcmp(sp_reader_event(reader, j)->name, names[i]))
				return j;
	return count;
}

void mode_roles(const struct sp_reader *reader, const struct sp_analysis_samples *samples,
		uint8_t *roles_ret)
{
	size_t count = sp_reader_event_count(reader), on_cpu = count, waits = count;
	int best = 0;
	if (samples->mode == SP_MODE_WAKERS) {
		size_t wakes = wake_event(reader);
		memset(roles_ret, ROLE_NONE, count);
		if (wakes < count)
			roles_ret[wakes] = ROLE_WAKE;
		return;
	}
	for (size_t i = 0; i < count; i++) {
		const struct sp_event *of = sp_reader_event(reader, i);
		int rank = on_cpu_rank(of, samples->event);
		roles_ret[i] = ROLE_NONE;
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

const char *mode_name(enum sp_mode mode)
{
	static const char *const names[] = {NULL, "wall", "off-cpu", "latency", "wakers"};
	return names[mode];
}

struct sp_error *mode_no_switches(const struct sp_reader *reader, const char *what)
{
	struct sp_error *error = error_new(SP_ERROR_NOT_FOUND, "%s has no context switches (SWITCH records), "
					   "which %s needs", sp_reader_info(reader)->path, what);
	return error_set_remedy(error, "'sprof record --off-cpu COMMAND' records them");
}

/* Checks that the recording has wake-ups. */
static struct sp_error *check_wakes(const struct mode_source *source, const char *what)
{
	if (sched_samples_has_wakes(source->sched, (uint16_t)wake_event(source->reader)))
		return NULL;
	return error_set_remedy(error_new(SP_ERROR_NOT_FOUND, "%s has no wake-ups (samples of "
					  "sched:sched_waking), which %s needs",
					  sp_reader_info(source->reader)->path, what),
				"as root, 'sprof record --wakers COMMAND' records them");
}

/* Checks that the recording has the records that the mode needs. */
static struct sp_error *check_records(const struct mode *mode, const struct sp_reader *reader,
				      bool on_cpu, bool waits)
{
	if (mode->kind == SP_MODE_LATENCY && !on_cpu)
		return error_set_remedy(error_new(SP_ERROR_NOT_FOUND, "%s has no samples of a clock or a "
						  "hardware event, which mode latency needs",
						  sp_reader_info(reader)->path),
					"'sprof record --off-cpu COMMAND' records them");
	bool enough = mode->kind != SP_MODE_LATENCY && waits &&
		      (mode->kind == SP_MODE_OFF_CPU || !on_cpu || mode->is_clock);
	if (mode->states || enough)
		return NULL;
	char what[32];
	snprintf(what, sizeof(what), "mode %s", mode_name(mode->kind));
	return mode_no_switches(reader, what);
}

/* Returns the weight of samples that do not state it. */
static uint64_t period_of(const struct perf_event_attr *attr, bool is_clock)
{
	if (is_clock)
		return record_clock_period_ns(attr) ?: 1;
	return attr->freq ? 1 : attr->sample_period;
}

struct sp_error *mode_init(struct mode *mode, const struct mode_source *source,
			   const struct analysis_options *options, bool wakers)
{
	const struct sp_reader *reader = source->reader;
	size_t count = sp_reader_event_count(reader);
	bool on_cpu = false, waits = false, known = source->states && task_states_known(source->states);
	*mode = (struct mode){
		.kind = options->samples.mode,
		.states = known ? source->states : NULL,
		.tasks = source->states,
		.sched = source->sched,
		.roles = calloc(count + 1, sizeof(*mode->roles)),
		.event_count = count,
		.latency = options->samples.mode == SP_MODE_LATENCY,
		.by_lifetime = known && options->samples.mode != SP_MODE_WAKERS,
	};
	NEED(mode->roles);
	mode_roles(reader, &options->samples, mode->roles);
	for (size_t i = 0; i < count; i++) {
		const struct sp_event *event = sp_reader_event(reader, i);
		on_cpu |= mode->roles[i] == ROLE_ON_CPU;
		waits |= mode->roles[i] == ROLE_WAIT;
		if (mode->roles[i] == ROLE_ON_CPU) {
			mode->is_clock = record_is_clock(event->attr.type, event->attr.config);
			mode->user_only = mode->is_clock && event->attr.exclude_kernel;
			mode->of_tasks = event->attr.inherit;
			mode->period = period_of(&event->attr, mode->is_clock);
		}
		if (mode->roles[i] == ROLE_SWITCH)
			mode->is_thinned = event->attr.freq || event->attr.sample_period > 1;
		if (mode->roles[i])
			mode->any_event = (uint16_t)i;
	}
	if (mode->kind == SP_MODE_WAKERS)
		return check_wakes(source, "mode wakers");
	if (wakers)
		TRY(check_wakes(source, "key waker"));
	return check_records(mode, reader, on_cpu, waits);
}

void mode_deinit(struct mode *mode)
{
	free(mode->roles);
}

/* Finds the wait that begins with the switch of a sample. Returns false if the records lack it. */
static bool find_wait(const struct mode *mode, const struct sp_sample *sample,
		      struct task_interval *ret)
{
	return mode->states && task_states_next_wait(mode->states, sample->tid, sample->time_ns, ret) &&
	       ret->begin_ns - sample->time_ns <= SWITCH_DISTANCE_NS;
}

/*
 * Sets the wait of a thinned sample. A wait of d ns is recorded with period T > d with probability d / T. It
 * then stands for T / d waits, and its weight has the variance T² (1 - d / T).
 */
static void set_thinned(struct mode_sample *ret, double d, double t)
{
	ret->waits = t / d;
	ret->variance = t * t * (1 - d / t);
}

/* Returns the time from a wait's begin until the thread ran again, which the recorder's period includes. */
static uint64_t off_ns(const struct mode *mode, const struct sp_sample *sample,
		       const struct task_interval *wait)
{
	struct task_wakeup wakeup;
	bool found = task_states_wakeup(mode->states, sample->tid, wait->end_ns, &wakeup);
	return (found ? wakeup.run_ns : wait->end_ns) - wait->begin_ns;
}

static bool wait_sample(const struct mode *mode, const struct sp_sample *sample, struct mode_sample *ret)
{
	struct task_interval wait;
	ret->weight = ret->wait_ns = sample->period;
	if (!find_wait(mode, sample, &wait) || wait.state == TASK_RUNNABLE || wait.end_ns <= wait.begin_ns)
		return true;
	ret->wait_class = mode_wait_class(wait.end_ns - wait.begin_ns);
	/* The length is that of a loss, with which the wait begins. */
	if (wait.state != TASK_BLOCKED)
		return true;
	uint64_t off = off_ns(mode, sample, &wait);
	ret->wait_ns = wait.end_ns - wait.begin_ns;
	ret->wait_end_ns = wait.end_ns;
	ret->wait_open = wait.open;
	if (off < sample->period)
		set_thinned(ret, (double)off, (double)sample->period);
	return true;
}

/* Preempted threads do not wait for anything but a CPU: on-CPU samples distribute that time. */
static bool switch_sample(const struct mode *mode, const struct sp_sample *sample,
			  struct mode_sample *ret)
{
	struct task_interval wait;
	if (!find_wait(mode, sample, &wait) || wait.state != TASK_BLOCKED)
		return false;
	ret->weight = ret->wait_ns = wait.end_ns - wait.begin_ns;
	ret->wait_class = mode_wait_class(ret->wait_ns);
	ret->wait_end_ns = wait.end_ns;
	ret->wait_open = wait.open;
	if (mode->is_thinned)
		ret->variance = (double)ret->weight * (double)ret->weight;
	return true;
}

/* A wake-up without a wait counts, with weight 0: the thread had not left its CPU, or was woken before. */
static bool wake_sample(const struct mode *mode, const struct sp_record *record, struct mode_sample *ret)
{
	uint64_t time_ns = record->sample.time_ns;
	struct task_wakeup wakeup;
	ret->is_wait = true;
	ret->waits = 1;
	ret->weight = !mode->states;
	if (!sched_samples_wake(mode->sched, record, &ret->wake) || !ret->wake.tid)
		return false;
	ret->woken_pid = (mode->tasks ? task_states_pid(mode->tasks, ret->wake.tid) : 0) ?: ret->wake.tid;
	if (mode->states && task_states_wakeup(mode->states, ret->wake.tid, time_ns, &wakeup)) {
		ret->weight = ret->wait_ns = wakeup.blocked_ns;
		ret->delay_ns = wakeup.run_ns - wakeup.wake_ns;
	}
	return true;
}

bool mode_sample(const struct mode *mode, const struct sp_record *record, struct mode_sample *ret)
{
	const struct sp_sample *sample = &record->sample;
	enum event_role role = mode->roles[record->event];
	*ret = (struct mode_sample){.lifetime = LIFETIME_NONE, .weight = sample->period};
	if (role == ROLE_WAKE)
		return wake_sample(mode, record, ret);
	if (role == ROLE_NONE || (!sample->tid && mode->states))
		return false;
	if (mode->states) {
		size_t lifetime = task_states_lifetime(mode->states, sample->tid, sample->time_ns);
		if (lifetime < LIFETIME_NONE)
			ret->lifetime = (uint32_t)lifetime;
	}
	if (role == ROLE_ON_CPU) {
		if (!(sample->present & PERF_SAMPLE_PERIOD))
			ret->weight = mode->period;
		if (mode->latency)
			ret->stratum = task_states_parallelism(mode->states, sample->pid, sample->time_ns);
		return ret->lifetime != LIFETIME_NONE || mode->is_clock;
	}
	ret->is_wait = true;
	ret->waits = 1;
	if (sample->present & PERF_SAMPLE_ADDR && sample->addr < UINT32_MAX)
		ret->stratum = (uint32_t)sample->addr;
	ret->wait_class = MODE_WAIT_UNMATCHED;
	bool counts = role == ROLE_WAIT ? wait_sample(mode, sample, ret) : switch_sample(mode, sample, ret);
	if (!mode->by_lifetime || ret->lifetime == LIFETIME_NONE)
		ret->wait_class = 0;
	return counts;
}

void mode_weights_deinit(struct mode_weights *weights)
{
	vec_deinit(weights);
	u64map_deinit(&weights->index_of);
}

bool mode_weights_add(struct mode_weights *weights, const struct mode_weight *from)
{
	bool added;
	if (!vec_reserve(weights, weights->count + 1))
		return false;
	const uint32_t *index = u64map_put(&weights->index_of, from->key, (uint32_t)weights->count, &added);
	if (!index)
		return false;
	if (added)
		*vec_push(weights) = (struct mode_weight){.key = from->key};
	struct mode_weight *to = &weights->items[*index];
	to->weight = weight_add(to->weight, from->weight);
	to->waits += from->waits;
	to->variance += from->variance;
	return true;
}
