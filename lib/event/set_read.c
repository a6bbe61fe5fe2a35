/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counts, lost samples and running times of a set's events. */
#include "event/set_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/error.h"

/* Layout of read(2)'s result: the words of each group member, and the first's index. */
struct read_words {
	size_t first, each, count;
	bool group;
};

static struct read_words read_words_of(const struct event_plan *plan,
				       const struct event_planned *event)
{
	uint64_t format = event->attr.read_format;
	bool group = format & PERF_FORMAT_GROUP;
	/* The kernel returns the whole group for any member. */
	size_t members = group ? plan->samples[event->leader].member_count : 1;
	size_t times = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
		       !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	size_t each = 1 + !!(format & PERF_FORMAT_ID) + !!(format & EVENT_FORMAT_LOST);
	struct read_words words = {.first = group ? 1 + times : 0, .each = each, .group = group};
	words.count = group ? 1 + times + (members ? members : 1) * each : each + times;
	return words;
}

/* Index in `values` of that event's words; `got` if there are none. */
static size_t find_words(const struct read_words *words, const uint64_t *values, size_t got,
			 uint64_t id)
{
	size_t at = words->first;
	while (words->group && at + words->each <= got && values[at + 1] != id)
		at += words->each;
	return at + words->each <= got ? at : got;
}

struct sp_error *event_set_read_opened(const struct event_set *set, const struct opened *opened,
				       struct event_total *ret)
{
	const struct event_plan *plan = set->plan;
	const struct read_words words = read_words_of(plan, event_set_planned(set, opened->event));
	CLEANUP_FREE uint64_t *values = calloc(words.count, sizeof(*values));
	*ret = opened->before;
	NEED(values);
	/* Reads once: further reads return everything again, except members that were not opened. */
	ssize_t bytes = read(opened->fd, values, words.count * sizeof(*values));
	if (bytes < 0)
		return error_os(errno, "cannot read an event's count");
	size_t got = (size_t)bytes / sizeof(*values);
	size_t at = find_words(&words, values, got, opened->id);
	if (at == got)
		return NULL;
	ret->value += values[at];
	/* Lost samples are the last word; for a single event they follow the times. */
	size_t last = words.group ? at + words.each : words.count;
	ret->lost += plan->support.format_lost ? values[last - 1] : 0;
	return NULL;
}

struct sp_error *event_set_read(const struct event_set *set, size_t index, struct event_total *ret)
{
	struct event_total total = {.lost_known = set->plan->support.format_lost};
	for (size_t i = 0; i < set->opened.count; i++) {
		struct event_total one;
		if (set->opened.items[i].event != index)
			continue;
		TRY(event_set_read_opened(set, &set->opened.items[i], &one));
		total.value += one.value;
		total.lost += one.lost;
	}
	*ret = total;
	return NULL;
}

bool event_set_enabled_time(const struct event_set *set, size_t cpu_index, uint64_t *ns_ret)
{
	int fd = event_set_fd(set, set->plan->sample_count, cpu_index);
	uint64_t values[4]; /* value, time, id, lost */
	if (fd < 0 || !(set->plan->sideband.attr.read_format & PERF_FORMAT_TOTAL_TIME_ENABLED) ||
	    read(fd, values, sizeof(values)) < (ssize_t)(2 * sizeof(*values)))
		return false;
	*ns_ret = values[1];
	return true;
}
