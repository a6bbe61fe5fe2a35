/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile/filter.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sprof/private/command.h>
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

/*
 * Returns where a shorter name of a Java or .NET method begins after `at`: without its result type,
 * and then without each part of its package. NULL: nowhere.
 */
static const char *next_begin(const char *name, const char *at)
{
	const char *open = strncmp(name, "operator", 8) ? strchr(name, '(') : NULL;
	if (!open || memchr(name, '/', (size_t)(open - name)))
		return NULL;
	const char *space = memrchr(name, ' ', (size_t)(open - name));
	/* C++ has other names with "::". */
	if (strstr(name, "::") && !(space > name && space[-1] == ']'))
		return NULL;
	if (space && at <= space)
		return space + 1 < open ? space + 1 : NULL;
	const char *dot = *at >= 'a' && *at <= 'z' ? memchr(at, '.', (size_t)(open - at)) : NULL;
	return dot && memchr(dot + 1, '.', (size_t)(open - dot - 1)) ? dot + 1 : NULL;
}

/* Returns whether a text ends with ":LINE:COLUMN". */
static bool ends_with_place(const char *text)
{
	size_t size = strlen(text), left = size;
	for (int i = 0; i < 2; i++) {
		size_t end = left;
		while (left && text[left - 1] >= '0' && text[left - 1] <= '9')
			left--;
		if (left == end || !left || text[--left] != ':')
			return false;
	}
	return true;
}

/* Returns whether a text is a JavaScript name, "NAME FILE:LINE:COLUMN", cut in its place. */
static bool is_without_place(const char *wanted, const char *name)
{
	size_t size = strlen(wanted);
	if (!size || strncmp(name, wanted, size) || !ends_with_place(name))
		return false;
	const char *rest = name + size;
	if (*rest == ':')
		return strchr(wanted, ' ') && !rest[strspn(rest, ":0123456789")];
	return !strncmp(rest, " /", 2) ? !memchr(wanted, '/', size)
				       : *rest == ' ' && !strchr(rest + 1, ' ');
}

/* Returns the size of dots that stand for a part of a shortened name; 0: there are none. */
static size_t dots_size(const char *text)
{
	/* Without UTF-8 it is "~", which is also in the names of destructors. */
	static const char dots[] = "…";
	if (!strncmp(text, dots, sizeof(dots) - 1))
		return sizeof(dots) - 1;
	return *text == '~' && text[1] && strchr(")>/", text[1]) ? 1 : 0;
}

/* Returns whether a shortened text may be of the name. */
static bool is_shortened(const char *text, const char *name)
{
	/* Text after the last dots, and its place in the name. */
	const char *after = NULL, *back = NULL;
	size_t dots;
	while (*name) {
		if ((dots = dots_size(text))) {
			after = text += dots;
			back = name;
		} else if (*text == *name) {
			text++;
			name++;
		} else if (after) {
			text = after;
			name = ++back;
		} else {
			return false;
		}
	}
	while (after && (dots = dots_size(text)))
		text += dots;
	return after && !*text;
}

bool sp_name_fits(const char *wanted, const char *name)
{
	for (const char *at = name; at; at = next_begin(name, at)) {
		size_t bare = bare_length(at);
		if (!strcmp(wanted, at) ||
		    (bare && !strncmp(wanted, at, bare) && !wanted[bare]) ||
		    is_without_place(wanted, at) || is_shortened(wanted, at))
			return true;
	}
	return false;
}

bool filter_symbol(const char *const *names, size_t count, const char *name,
		   const char *raw_name)
{
	if (filter_name(names, count, name) || (raw_name && filter_name(names, count, raw_name)))
		return true;
	for (size_t i = 0; i < count; i++)
		if (sp_name_fits(names[i], name))
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
