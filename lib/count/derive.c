/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Figures derived from several counts, as in perf stat. A table states which event is divided by
 * which. Both must be of one control group and one kind of CPU, and exclude the same modes
 * (cycles:u and instructions:u). CPU time may be any clock's.
 */
#include <sprof/stat.h>

#include <string.h>
#include "record/types.h"

#include "base/vec.h"

#define CACHE(cache, operation, result)                                       \
	(PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_##operation << 8 |  \
	 PERF_COUNT_HW_CACHE_RESULT_##result << 16)

struct event_identity {
	uint32_t type;
	uint64_t config;
};

/* Divides `event` by `whole`. `percent`: `event` is a part of `whole`. */
static const struct ratio {
	struct event_identity event, whole;
	enum sp_stat_derived_kind kind;
	bool percent;
} ratios[] = {
	{{PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
	 {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES}, SP_STAT_INSN_PER_CYCLE, false},
	{{PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
	 {PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS}, SP_STAT_BRANCH_MISSES, true},
	{{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
	 {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES}, SP_STAT_CACHE_MISSES, true},
	{{PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
	 {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES}, SP_STAT_FRONTEND_IDLE, true},
	{{PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
	 {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES}, SP_STAT_BACKEND_IDLE, true},
	{{PERF_TYPE_HW_CACHE, CACHE(L1D, READ, MISS)},
	 {PERF_TYPE_HW_CACHE, CACHE(L1D, READ, ACCESS)}, SP_STAT_L1D_MISSES, true},
	{{PERF_TYPE_HW_CACHE, CACHE(L1I, READ, MISS)},
	 {PERF_TYPE_HW_CACHE, CACHE(L1I, READ, ACCESS)}, SP_STAT_L1I_MISSES, true},
	{{PERF_TYPE_HW_CACHE, CACHE(DTLB, READ, MISS)},
	 {PERF_TYPE_HW_CACHE, CACHE(DTLB, READ, ACCESS)}, SP_STAT_DTLB_MISSES, true},
	{{PERF_TYPE_HW_CACHE, CACHE(ITLB, READ, MISS)},
	 {PERF_TYPE_HW_CACHE, CACHE(ITLB, READ, ACCESS)}, SP_STAT_ITLB_MISSES, true},
	{{PERF_TYPE_HW_CACHE, CACHE(LL, READ, MISS)},
	 {PERF_TYPE_HW_CACHE, CACHE(LL, READ, ACCESS)}, SP_STAT_LLC_MISSES, true},
};

struct derivation {
	const struct sp_stat_event *const *events;
	const struct sp_stat_row *const *rows;
	size_t count, index;
};

/* On hybrid machines, the upper half of config is the type of the PMU. */
static bool is_code(const struct sp_stat_event *event, struct event_identity code)
{
	return event->type == code.type && (uint32_t)event->config == code.config;
}

static bool is_clock(const struct sp_stat_event *event)
{
	return record_is_clock(event->type, event->config);
}

static bool same_group(const char *one, const char *other)
{
	return one == other || (one && other && !strcmp(one, other));
}

/* Returns the value of an event with the same modes, control group and PMU; 0: there is none. */
static double part(const struct derivation *derivation, struct event_identity code)
{
	const struct sp_stat_event *event = derivation->events[derivation->index];
	for (size_t i = 0; i < derivation->count; i++) {
		const struct sp_stat_event *other = derivation->events[i];
		if (derivation->rows[i]->counted && is_code(other, code) &&
		    other->config >> 32 == event->config >> 32 &&
		    other->modes == event->modes && same_group(other->cgroup, event->cgroup))
			return derivation->rows[i]->value;
	}
	return 0;
}

/* Returns the CPU time in ns; 0: not counted. */
static double clock_ns(const struct derivation *derivation)
{
	const char *cgroup = derivation->events[derivation->index]->cgroup;
	for (size_t i = 0; i < derivation->count; i++)
		if (derivation->rows[i]->counted && is_clock(derivation->events[i]) &&
		    same_group(derivation->events[i]->cgroup, cgroup))
			return derivation->rows[i]->value;
	return 0;
}

static struct sp_stat_derived divide(enum sp_stat_derived_kind kind, double value, double by)
{
	return (struct sp_stat_derived){.kind = kind, .known = by > 0, .value = by > 0 ? value / by : 0};
}

/* Stalled cycles for each instruction, at the end of the pipeline with more of them. */
static size_t add_stalled(const struct derivation *derivation, double instructions,
			  struct sp_stat_derived *ret)
{
	double front =
		part(derivation, (struct event_identity){PERF_TYPE_HARDWARE,
							 PERF_COUNT_HW_STALLED_CYCLES_FRONTEND});
	double back =
		part(derivation, (struct event_identity){PERF_TYPE_HARDWARE,
							 PERF_COUNT_HW_STALLED_CYCLES_BACKEND});
	double stalled = front > back ? front : back;
	if (!(stalled > 0) || !(instructions > 0))
		return 0;
	*ret = divide(SP_STAT_STALLED_PER_INSN, stalled, instructions);
	return 1;
}

size_t sp_stat_derive(const struct sp_stat_event *const *events,
		      const struct sp_stat_row *const *rows, size_t count, size_t index,
		      double elapsed_ns, struct sp_stat_derived ret[2])
{
	const struct derivation derivation = {events, rows, count, index};
	const struct sp_stat_event *event = events[index];
	double value = rows[index]->value, time = clock_ns(&derivation);
	if (!rows[index]->counted)
		return 0;
	for (size_t i = 0; i < count_of(ratios); i++) {
		if (!is_code(event, ratios[i].event))
			continue;
		ret[0] = divide(ratios[i].kind, ratios[i].percent ? 100 * value : value,
				part(&derivation, ratios[i].whole));
		/* Multiplexed counters may count more misses than accesses. */
		ret[0].known &= !ratios[i].percent || ret[0].value <= 100;
		return ratios[i].kind == SP_STAT_INSN_PER_CYCLE
			       ? 1 + add_stalled(&derivation, value, &ret[1]) : 1;
	}
	if (is_clock(event))
		ret[0] = divide(SP_STAT_CPUS_UTILIZED, value, elapsed_ns);
	else if (is_code(event,
			 (struct event_identity){PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES}))
		ret[0] = divide(SP_STAT_GHZ, value, time);
	else if (time > 0)
		ret[0] = divide(SP_STAT_RATE, 1e9 * value, time);
	else
		return 0;
	return 1;
}
