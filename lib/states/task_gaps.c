/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "states/task_gaps.h"

#include "states/task_events.h"

void task_gaps_deinit(struct task_gaps *gaps)
{
	vec_deinit(&gaps->by_cpu);
	vec_deinit(&gaps->all);
}

bool task_gaps_add(struct task_gaps *gaps, uint32_t cpu, uint64_t begin_ns, uint64_t end_ns)
{
	struct task_gap *gap = vec_push(&gaps->by_cpu);
	if (gap)
		*gap = (struct task_gap){begin_ns, end_ns, 0, cpu};
	gaps->any_cpu |= cpu == TASK_CPU_UNKNOWN;
	return gap;
}

static int compare_times(const void *a, const void *b)
{
	const struct task_gap *x = a, *y = b;
	return u64_order(x->begin_ns, y->begin_ns);
}

static int compare_cpus(const void *a, const void *b)
{
	const struct task_gap *x = a, *y = b;
	int order = u64_order(x->cpu, y->cpu);
	return order ? order : compare_times(a, b);
}

/* Merges overlapping gaps of sorted items, and sums them. Returns the new count. */
static size_t merge_gaps(struct task_gap *items, size_t count)
{
	size_t merged = 0;
	for (size_t i = 0; i < count; i++) {
		struct task_gap *last = merged ? &items[merged - 1] : NULL;
		if (last && last->cpu == items[i].cpu && items[i].begin_ns <= last->end_ns) {
			if (last->end_ns < items[i].end_ns)
				last->end_ns = items[i].end_ns;
		} else {
			items[merged++] = items[i];
		}
	}
	for (size_t i = 1; i < merged; i++)
		if (items[i].cpu == items[i - 1].cpu)
			items[i].before_ns = items[i - 1].before_ns + items[i - 1].end_ns -
					     items[i - 1].begin_ns;
	return merged;
}

bool task_gaps_seal(struct task_gaps *gaps)
{
	size_t count = gaps->by_cpu.count;
	if (!count)
		return true;
	if (!vec_reserve(&gaps->all, count))
		return false;
	for (size_t i = 0; i < count; i++) {
		gaps->all.items[i] = gaps->by_cpu.items[i];
		gaps->all.items[i].cpu = TASK_CPU_UNKNOWN;
	}
	qsort(gaps->all.items, count, sizeof(*gaps->all.items), compare_times);
	qsort(gaps->by_cpu.items, count, sizeof(*gaps->by_cpu.items), compare_cpus);
	gaps->all.count = merge_gaps(gaps->all.items, count);
	gaps->by_cpu.count = merge_gaps(gaps->by_cpu.items, count);
	return true;
}

struct task_gap_list task_gaps_of(const struct task_gaps *gaps, uint32_t cpu)
{
	if (cpu == TASK_CPU_UNKNOWN || gaps->any_cpu || !gaps->by_cpu.count)
		return (struct task_gap_list){gaps->all.items, gaps->all.count};
	size_t begin = sorted_below(gaps->by_cpu.items, gaps->by_cpu.count, .cpu, cpu);
	size_t end = sorted_up_to(gaps->by_cpu.items, gaps->by_cpu.count, .cpu, cpu);
	return (struct task_gap_list){gaps->by_cpu.items + begin, end - begin};
}

/* Returns how much of the time before `time_ns` is in gaps. */
static uint64_t gaps_before(struct task_gap_list list, uint64_t time_ns)
{
	size_t next = sorted_below(list.items, list.count, .begin_ns, time_ns);
	const struct task_gap *gap = next ? &list.items[next - 1] : NULL;
	if (!gap)
		return 0;
	return gap->before_ns + ((time_ns < gap->end_ns ? time_ns : gap->end_ns) - gap->begin_ns);
}

uint64_t task_gaps_overlap(struct task_gap_list list, uint64_t begin_ns, uint64_t end_ns)
{
	/* Most times have no gap near them. */
	if (!list.count || end_ns <= list.items[0].begin_ns ||
	    begin_ns >= list.items[list.count - 1].end_ns)
		return 0;
	return gaps_before(list, end_ns) - gaps_before(list, begin_ns);
}

bool task_gaps_cut(struct task_gap_list list, uint64_t time_ns, uint64_t *begin_ns, uint64_t *end_ns)
{
	size_t next = sorted_up_to(list.items, list.count, .begin_ns, time_ns);
	const struct task_gap *gap = next ? &list.items[next - 1] : NULL;
	bool inside = gap && time_ns < gap->end_ns;
	uint64_t end = *end_ns;
	if (inside)
		end = gap->end_ns;
	else if (next < list.count)
		end = list.items[next].begin_ns;
	uint64_t begin = !gap ? 0 : inside ? gap->begin_ns : gap->end_ns;
	if (begin > *begin_ns)
		*begin_ns = begin;
	if (end < *end_ns)
		*end_ns = end;
	return inside;
}
