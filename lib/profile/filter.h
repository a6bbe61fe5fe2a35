/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Selection of samples: those that match one item of each list that has any. */
#ifndef PROFILE_FILTER_H
#define PROFILE_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sprof/filter.h>

/* Whether `name` is one of them; with none, all are. */
bool filter_name(const char *const *names, size_t count, const char *name);

/*
 * The same for functions, which also go by their name without parameters and
 * template arguments ("sort" does not, "ns::sort" does stand for
 * "ns::sort<int>(int*)"), and by the one in the symbol table; raw_name may be NULL.
 */
bool filter_symbol(const char *const *names, size_t count, const char *name,
		   const char *raw_name);

bool filter_number(const int32_t *numbers, size_t count, int32_t number);

bool filter_task(const struct sp_filter *filter, uint32_t pid, uint32_t tid);

/* Whether it is within one of the filter's times. */
bool filter_time(const struct sp_filter *filter, uint64_t time_ns);

#endif
