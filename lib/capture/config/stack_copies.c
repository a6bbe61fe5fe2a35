/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/config/stack_copies.h"

#include "capture/config/plan_facts.h"

/* A ring holds at least this number of copies, and the copies of this time without a reader. */
#define RING_COPIES 6
#define RING_NS 6000000
#define ROOMY_NS 50000000

/* Limit of bytes copied per second on a CPU. */
#define BYTES_PER_S 200000000

uint32_t stack_copies_largest(uint64_t ring_bytes, uint64_t freq_hz, uint32_t small)
{
	uint64_t hz = freq_hz ? freq_hz : 1, most = SP_STACK_BYTES_MAX;
	uint64_t limits[] = {ring_bytes / RING_COPIES,
			     (uint64_t)((double)ring_bytes * 1e9 / RING_NS / (double)hz),
			     BYTES_PER_S / hz};
	for (unsigned int i = 0; i < count_of(limits); i++)
		most = limits[i] < most ? limits[i] : most;
	most &= ~UINT64_C(7);
	return most >= 2 * (uint64_t)small ? (uint32_t)most : 0;
}

bool stack_copies_are_roomy(uint64_t ring_bytes, uint64_t freq_hz, uint32_t large)
{
	return (double)large * (double)freq_hz * ROOMY_NS <= (double)ring_bytes * 1e9;
}

struct stack_copies stack_copies_choose(const struct call_graph *graph, const struct event_plan *plan,
					bool is_command, uint64_t ring_bytes)
{
	struct stack_copies copies = {0};
	uint64_t rate_hz = plan_rate_hz(plan);
	if (!plan_is_unwound(plan, graph->live) || plan->cpu_wide || graph->fixed_size || !rate_hz ||
	    event_plan_has_groups(plan))
		return copies;
	if (!is_command) {
		copies.bytes = stack_copies_largest(ring_bytes / 2, rate_hz, graph->stack_bytes);
		return copies;
	}
	uint32_t size = stack_copies_largest(ring_bytes, rate_hz, graph->stack_bytes);
	copies.alternates_begin = size && plan->samples[0].attr.enable_on_exec &&
				  stack_copies_are_roomy(ring_bytes, rate_hz, size);
	return copies;
}
