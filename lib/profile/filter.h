/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Filters of samples. A sample must match one item of each list that is not empty. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sprof/filter.h>

/* Returns whether `name` is in the list. An empty list accepts all names. */
bool filter_name(const char *const *names, size_t count, const char *name);

/*
 * Returns whether `name` matches an item of the list, which may have "*" and "?". An empty list
 * accepts all.
 */
bool filter_pattern(const char *const *patterns, size_t count, const char *name);

/*
 * Returns whether a text of the list names a function (sp_name_fits()). An empty list accepts all.
 * A function also matches by its name in the symbol table (raw_name, may be NULL).
 */
bool filter_symbol(const char *const *names, size_t count, const char *name,
		   const char *raw_name);

bool filter_number(const int32_t *numbers, size_t count, int32_t number);

bool filter_task(const struct sp_filter *filter, uint32_t pid, uint32_t tid);

static inline bool filter_has_commands(const struct sp_filter *filter)
{
	return filter->arguments.count || filter->command_lines.count;
}

/*
 * Returns whether a process's texts of SP_KEY_ARGUMENT and SP_KEY_CMDLINE pass. NULL: not recorded.
 */
bool filter_command(const struct sp_filter *filter, const char *argument, const char *line);

/* Returns whether the time is in one of the filter's ranges. */
bool filter_time(const struct sp_filter *filter, uint64_t time_ns);

/*
 * Returns the filter's ranges in order of time, as one where they meet; an end is never 0. To be
 * freed. NULL: out of memory.
 */
struct sp_time_span *filter_ranges(const struct sp_filter *filter, size_t *count_ret);
