/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile/filter.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include "base/vec.h"

bool filter_name(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return count == 0;
}

#define ANONYMOUS "(anonymous namespace)"

bool filter_pattern(const char *const *patterns, size_t count, const char *name)
{
	if (filter_name(patterns, count, name))
		return true;
	for (size_t i = 0; i < count; i++)
		if (strpbrk(patterns[i], "*?") && !fnmatch(patterns[i], name, 0))
			return true;
	return false;
}

/*
 * Returns the length of a function name up to "<", "(" or "@": without parameters, template
 * arguments and version. The text up to "operator" and its symbols, "(anonymous namespace)" and a
 * final "@plt" belong to the name.
 */
static size_t bare_length(const char *name)
{
	const char *at = name, *operator = strstr(name, "operator");
	if (operator) {
		at = operator + strlen("operator");
		at += strncmp(at, "()", 2) == 0 ? 2 : strspn(at, "<>=");
	}
	for (;;) {
		at += strcspn(at, "<(@");
		if (!strncmp(at, ANONYMOUS, strlen(ANONYMOUS)))
			at += strlen(ANONYMOUS);
		else if (!strcmp(at, "@plt"))
			at += strlen(at);
		else
			return (size_t)(at - name);
	}
}

bool filter_symbol(const char *const *names, size_t count, const char *name,
		   const char *raw_name)
{
	if (filter_name(names, count, name) || (raw_name && filter_name(names, count, raw_name)))
		return true;
	size_t bare = bare_length(name);
	for (size_t i = 0; bare && i < count; i++)
		if (strncmp(names[i], name, bare) == 0 && names[i][bare] == 0)
			return true;
	return false;
}

bool filter_number(const int32_t *numbers, size_t count, int32_t number)
{
	for (size_t i = 0; i < count; i++)
		if (numbers[i] == number)
			return true;
	return count == 0;
}

bool filter_time(const struct sp_filter *filter, uint64_t time_ns)
{
	for (size_t i = 0; i < filter->time_count; i++)
		if (time_ns >= filter->times[i].begin_ns &&
		    (!filter->times[i].end_ns || time_ns < filter->times[i].end_ns))
			return true;
	return !filter->time_count;
}

bool filter_task(const struct sp_filter *filter, uint32_t pid, uint32_t tid)
{
	return filter_number(filter->pids.items, filter->pids.count, pid) &&
	       filter_number(filter->tids.items, filter->tids.count, tid);
}

bool filter_command(const struct sp_filter *filter, const char *argument, const char *line)
{
	const struct sp_string_list *arguments = &filter->arguments;
	const struct sp_string_list *lines = &filter->command_lines;
	return filter_pattern(arguments->items, arguments->count, argument ?: "?") &&
	       filter_pattern(lines->items, lines->count, line ?: "?");
}

static int compare_spans(const void *a, const void *b)
{
	const struct sp_time_span *x = a, *y = b;
	return u64_order(x->begin_ns, y->begin_ns);
}

struct sp_time_span *filter_ranges(const struct sp_filter *filter, size_t *count_ret)
{
	struct sp_time_span *ranges = calloc(filter->time_count + 1, sizeof(*ranges));
	size_t count = 0;
	for (size_t i = 0; ranges && i < filter->time_count; i++) {
		ranges[count] = filter->times[i];
		ranges[count].end_ns = ranges[count].end_ns ?: UINT64_MAX;
		count += ranges[count].begin_ns < ranges[count].end_ns;
	}
	*count_ret = 0;
	if (count)
		qsort(ranges, count, sizeof(*ranges), compare_spans);
	for (size_t i = 0; i < count; i++) {
		struct sp_time_span *last = *count_ret ? &ranges[*count_ret - 1] : NULL;
		if (!last || ranges[i].begin_ns > last->end_ns)
			ranges[(*count_ret)++] = ranges[i];
		else if (ranges[i].end_ns > last->end_ns)
			last->end_ns = ranges[i].end_ns;
	}
	return ranges;
}
