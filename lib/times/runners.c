/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "times/runners.h"

#include <stdlib.h>

void runners_deinit(struct runners *runners)
{
	vec_deinit(runners);
}

static int compare_edges(const void *a, const void *b)
{
	const struct runners_edge *x = a, *y = b;
	return u64_order(x->pid, y->pid) ?: u64_order(x->time_ns, y->time_ns);
}

/* A thread while its edges are made, as changes of the process's numbers. */
struct edge_builder {
	struct runners *runners;
	uint32_t pid;
	size_t first; /* its first edge */
	bool failed;  /* out of memory */
};

static void add_edges(void *arg, const struct task_interval *interval)
{
	struct edge_builder *maker = arg;
	struct runners *to = maker->runners;
	int32_t count = could_run(interval), unknown = interval->state == TASK_UNKNOWN;
	struct runners_edge *last = to->count > maker->first ? vec_last(to) : NULL;
	if (!count && !unknown)
		return;
	/* A preempted thread still could run. */
	if (last && last->time_ns == interval->begin_ns && last->count == -count) {
		last->time_ns = interval->end_ns;
		return;
	}
	if (!vec_reserve(to, to->count + 2)) {
		maker->failed = true;
		return;
	}
	*vec_push(to) = (struct runners_edge){interval->begin_ns, maker->pid, count, unknown};
	*vec_push(to) = (struct runners_edge){interval->end_ns, maker->pid, -count, -unknown};
}

bool runners_make(struct runners *runners, const struct task_states *states)
{
	int32_t count = 0, unknown = 0;
	for (size_t i = 0; i < task_states_count(states); i++) {
		const struct task_totals *of = task_states_totals(states, i);
		struct edge_builder maker = {
			.runners = runners, .pid = of->pid, .first = runners->count};
		task_states_each(states, i, of->begin_ns, of->end_ns, add_edges, &maker);
		if (maker.failed)
			return false;
	}
	vec_sort(runners, compare_edges);
	vec_each (runner, runners) {
		runner->count = count += runner->count;
		runner->unknown = unknown += runner->unknown;
	}
	return true;
}

size_t runners_after(const struct runners *runners, uint32_t pid, uint64_t time_ns)
{
	size_t low = 0, high = runners->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct runners_edge *edge = &runners->items[middle];
		if (edge->pid < pid || (edge->pid == pid && edge->time_ns <= time_ns))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t runners_number(const struct runners *runners, uint32_t pid, uint64_t time_ns)
{
	size_t next = runners_after(runners, pid, time_ns);
	const struct runners_edge *now = next ? &runners->items[next - 1] : NULL;
	return now && now->pid == pid ? (uint32_t)(now->count ?: now->unknown > 0) : 0;
}

double runners_latency(const struct runners *runners, uint32_t pid, uint64_t from_ns,
		       uint64_t until_ns)
{
	double sum = 0;
	size_t next = runners_after(runners, pid, from_ns);
	for (uint64_t at = from_ns, end; at < until_ns; at = end, next++) {
		end = runners->items[next].time_ns;
		end = end < until_ns ? end : until_ns;
		sum += (double)(end - at) / runners->items[next - 1].count;
	}
	return sum;
}

void runners_each_idle(const struct runners *runners, uint32_t pid, uint64_t from_ns,
		       uint64_t until_ns,
		       void (*visit)(void *arg, uint64_t begin_ns, uint64_t end_ns, bool unknown),
		       void *arg)
{
	size_t next = runners_after(runners, pid, from_ns);
	for (uint64_t at = from_ns, end; at < until_ns; at = end, next++) {
		const struct runners_edge *now = next ? &runners->items[next - 1] : NULL;
		bool known = now && now->pid == pid; /* no thread could run before the first */
		bool last = next == runners->count || runners->items[next].pid != pid;
		end = last ? until_ns : runners->items[next].time_ns;
		if (end > until_ns)
			end = until_ns;
		if (end > at && !(known && now->count))
			visit(arg, at, end, known && now->unknown);
	}
}
