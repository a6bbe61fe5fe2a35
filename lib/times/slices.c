/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "times/slices.h"

#include <stdlib.h>
#include "base/cleanup.h"
#include "base/error.h"
#include "profile/filter.h"

/* Most slices and windows: a slice takes about 130 bytes with its stratum. */
#define SLICES_MAX (UINT32_C(1) << 21)

#define STEP_NS 100000000

void slices_deinit(struct slices *slices)
{
	vec_deinit(&slices->windows);
	free(slices->lifetimes);
	free(slices->first);
}

static uint64_t step_ns(const struct sp_analysis_rows *rows)
{
	return rows->time_quantum_ns ?: STEP_NS;
}

uint64_t slices_step(const struct sp_analysis_rows *rows, uint64_t time_ns)
{
	uint64_t origin_ns = rows->time_offsets ? rows->time_origin_ns : 0;
	/* The header's time of the first sample may be too late. */
	if (time_ns < origin_ns)
		return origin_ns;
	return origin_ns + (time_ns - origin_ns) / step_ns(rows) * step_ns(rows);
}

static struct sp_error *too_many(void)
{
	return error_set_remedy(error_new(SP_ERROR_LIMIT,
					  "the recording's threads have more than %u parts by time",
					  SLICES_MAX),
				"longer steps, as by '--time-quantum 1s', or a range, as by "
				"'--time +0,+10', make fewer");
}

/* Adds the window that ends at a time. */
static struct sp_error *add_window(struct slices *slices, uint64_t end_ns, bool shown)
{
	uint64_t begin_ns = slices->windows.count ? vec_last(&slices->windows)->end_ns : 0;
	if (end_ns <= begin_ns)
		return NULL;
	if (slices->windows.count == SLICES_MAX)
		return too_many();
	NEED(vec_reserve(&slices->windows, slices->windows.count + 1));
	*vec_push(&slices->windows) = (struct time_window){begin_ns, end_ns, shown};
	return NULL;
}

/* Adds the windows of a range, which begins where the last window ends; `steps`: of key `time`. */
static struct sp_error *add_range(struct slices *slices, uint64_t end_ns,
				  const struct sp_analysis_rows *steps)
{
	uint64_t from_ns = slices->windows.count ? vec_last(&slices->windows)->end_ns : 0;
	uint64_t first_ns = task_states_first_ns(slices->states);
	uint64_t last_ns = task_states_last_ns(slices->states);
	if (steps) {
		from_ns = from_ns > first_ns ? from_ns : first_ns;
		last_ns = last_ns < end_ns ? last_ns : end_ns;
		for (uint64_t at = slices_step(steps, from_ns); at <= last_ns;) {
			if (at > from_ns)
				TRY(add_window(slices, at, true));
			if (__builtin_add_overflow(at, step_ns(steps), &at))
				break;
		}
	}
	return add_window(slices, end_ns, true);
}

static struct sp_error *make_windows(struct slices *slices, const struct analysis_options *options)
{
	const struct sp_filter *filter = &options->filter;
	const struct sp_analysis_rows *steps = NULL;
	size_t count;
	CLEANUP_FREE struct sp_time_span *ranges = filter_ranges(filter, &count);
	NEED(ranges);
	for (size_t i = 0; i < options->rows.key_count; i++)
		steps = options->rows.keys[i] == SP_KEY_TIME ? &options->rows : steps;
	if (!filter->time_count)
		return add_range(slices, UINT64_MAX, steps);
	for (size_t i = 0; i < count; i++) {
		TRY(add_window(slices, ranges[i].begin_ns, false));
		TRY(add_range(slices, ranges[i].end_ns, steps));
	}
	return add_window(slices, UINT64_MAX, false);
}

/* Returns the index of the window that includes a time. */
static size_t window_at(const struct slices *slices, uint64_t time_ns)
{
	size_t index =
		sorted_up_to(slices->windows.items, slices->windows.count, .begin_ns, time_ns);
	return index ? index - 1 : 0;
}

struct sp_error *slices_make(struct slices *slices, const struct task_states *states,
			     const struct analysis_options *options)
{
	slices->states = states;
	slices->lifetime_count = task_states_count(states);
	TRY(make_windows(slices, options));
	NEED(slices->first = malloc((slices->lifetime_count + 1) * sizeof(*slices->first)));
	for (size_t i = 0; i < slices->lifetime_count; i++) {
		const struct task_totals *of = task_states_totals(states, i);
		uint64_t last_ns = of->end_ns - (of->end_ns > of->begin_ns);
		slices->first[i] = slices->count;
		slices->count += window_at(slices, last_ns) - window_at(slices, of->begin_ns) + 1;
		if (slices->count > SLICES_MAX && slices->windows.count > 1)
			return too_many();
	}
	slices->first[slices->lifetime_count] = slices->count;
	NEED(slices->lifetimes = malloc((slices->count + 1) * sizeof(*slices->lifetimes)));
	for (uint32_t i = 0; i < slices->lifetime_count; i++)
		for (uint32_t j = slices->first[i]; j < slices->first[i + 1]; j++)
			slices->lifetimes[j] = i;
	return NULL;
}

struct slice slices_get(const struct slices *slices, uint32_t number)
{
	uint32_t lifetime = slices->lifetimes[number];
	const struct task_totals *of = task_states_totals(slices->states, lifetime);
	size_t index = number - slices->first[lifetime];
	if (slices->windows.count > 1)
		index += window_at(slices, of->begin_ns);
	const struct time_window *window = &slices->windows.items[index];
	return (struct slice){
		.number = number,
		.lifetime = lifetime,
		.window = index,
		.begin_ns = window->begin_ns > of->begin_ns ? window->begin_ns : of->begin_ns,
		.end_ns = window->end_ns < of->end_ns ? window->end_ns : of->end_ns,
		.shown = window->shown,
	};
}

uint32_t slices_at(const struct slices *slices, uint32_t lifetime, uint64_t time_ns)
{
	uint32_t first = slices->first[lifetime], last = slices->first[lifetime + 1] - 1;
	if (first == last)
		return first;
	size_t begin = window_at(slices, task_states_totals(slices->states, lifetime)->begin_ns);
	size_t at = window_at(slices, time_ns);
	if (at <= begin)
		return first;
	return at - begin < last - first ? first + (uint32_t)(at - begin) : last;
}

uint64_t slices_clamp(const struct slices *slices, uint32_t number, uint64_t time_ns)
{
	const struct slice slice = slices_get(slices, number);
	if (time_ns < slice.begin_ns || slice.end_ns == slice.begin_ns)
		return slice.begin_ns;
	return time_ns < slice.end_ns ? time_ns : slice.end_ns - 1;
}

bool slices_next(const struct slices *slices, uint32_t lifetime, uint64_t *at_ns, uint64_t end_ns,
		 struct slice *ret)
{
	if (*at_ns >= end_ns)
		return false;
	*ret = slices_get(slices, slices_at(slices, lifetime, *at_ns));
	bool is_last = ret->number + 1 == slices->first[lifetime + 1];
	ret->begin_ns = *at_ns;
	if (is_last || ret->end_ns > end_ns)
		ret->end_ns = end_ns;
	*at_ns = ret->end_ns;
	return true;
}

void slices_totals(const struct slices *slices, uint32_t number, struct task_totals *ret)
{
	const struct slice slice = slices_get(slices, number);
	const struct task_totals *of = task_states_totals(slices->states, slice.lifetime);
	*ret = *of;
	if (slice.begin_ns == of->begin_ns && slice.end_ns == of->end_ns)
		return;
	*ret = (struct task_totals){
		.pid = of->pid,
		.tid = of->tid,
		.begin_ns = slice.begin_ns,
		.end_ns = slice.end_ns,
		.split = of->split,
		.born = of->born,
		.ended = of->ended,
	};
	task_states_window(slices->states, slice.lifetime, slice.begin_ns, slice.end_ns, ret);
}
