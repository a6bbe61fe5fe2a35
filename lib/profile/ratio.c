/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile/ratio.h"

#include <math.h>
#include <stdlib.h>

#include "base/vec.h"

/* Student's t for 95 %, by degrees of freedom, from 1. */
static const double students_t[REPLICATES - 1] = {
	12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060,
	2.2622,  2.2281, 2.2010, 2.1788, 2.1604, 2.1448, 2.1314,
};

struct sp_ratio ratio_estimate(const uint64_t numerator[REPLICATES],
			       const uint64_t denominator[REPLICATES])
{
	struct sp_ratio ratio = {0};
	double above = 0, below = 0, sum = 0, squares = 0;
	int hands = 0;
	for (int i = 0; i < REPLICATES; i++) {
		above += (double)numerator[i];
		below += (double)denominator[i];
		hands += numerator[i] || denominator[i];
	}
	if (!(below > 0))
		return ratio;
	ratio.value = ratio.low = ratio.high = above / below;
	ratio.known = true;
	if (hands < 2 || !(above > 0))
		return ratio;
	for (int i = 0; i < REPLICATES; i++) {
		double n = above - (double)numerator[i], d = below - (double)denominator[i];
		if (!numerator[i] && !denominator[i])
			continue;
		if (!(n > 0 && d > 0))
			return ratio; /* one group has all the weight: no interval */
		double without = log(n / d);
		sum += without;
		squares += without * without;
	}
	double variance = (squares - sum * sum / hands) * (hands - 1) / hands;
	double half = students_t[hands - 2] * sqrt(fmax(variance, 0));
	ratio.low = ratio.value * exp(-half);
	ratio.high = ratio.value * exp(half);
	ratio.bounded = true;
	return ratio;
}

struct sp_ratio ratio_limit(struct sp_ratio ratio)
{
	if (ratio.low > 1)
		return (struct sp_ratio){0};
	ratio.value = fmin(ratio.value, 1);
	ratio.high = fmin(ratio.high, 1);
	return ratio;
}

/* Identification of a hardware or cache event in its attr. */
struct event_key {
	uint32_t type;
	uint64_t config;
};

#define HARDWARE(name) {PERF_TYPE_HARDWARE, PERF_COUNT_HW_##name}
#define CACHE(cache, op, result)                                                              \
	{PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_##op << 8 | \
				     PERF_COUNT_HW_CACHE_RESULT_##result << 16}
#define CACHE_RATIO(name, cache, op)                                                          \
	{name, true, CACHE(cache, op, MISS), CACHE(cache, op, ACCESS)}

static const struct {
	const char *name;
	bool percent;
	struct event_key numerator, denominator;
} known_ratios[] = {
	{"IPC", false, HARDWARE(INSTRUCTIONS), HARDWARE(CPU_CYCLES)},
	{"cache-miss-rate", true, HARDWARE(CACHE_MISSES), HARDWARE(CACHE_REFERENCES)},
	{"branch-miss-rate", true, HARDWARE(BRANCH_MISSES), HARDWARE(BRANCH_INSTRUCTIONS)},
	{"stalled-frontend", true, HARDWARE(STALLED_CYCLES_FRONTEND), HARDWARE(CPU_CYCLES)},
	{"stalled-backend", true, HARDWARE(STALLED_CYCLES_BACKEND), HARDWARE(CPU_CYCLES)},
	CACHE_RATIO("L1-dcache-load-miss-rate", L1D, READ),
	CACHE_RATIO("L1-icache-load-miss-rate", L1I, READ),
	CACHE_RATIO("LLC-load-miss-rate", LL, READ),
	CACHE_RATIO("LLC-store-miss-rate", LL, WRITE),
	CACHE_RATIO("dTLB-load-miss-rate", DTLB, READ),
	CACHE_RATIO("dTLB-store-miss-rate", DTLB, WRITE),
	CACHE_RATIO("iTLB-load-miss-rate", ITLB, READ),
	CACHE_RATIO("branch-load-miss-rate", BPU, READ),
};

#define KNOWN_RATIOS (count_of(known_ratios))

/*
 * Returns the index of an event; `count` if there is none. On hybrid machines the upper half of config
 * is the PMU.
 */
static size_t find_event(const struct perf_event_attr *const *attrs, size_t count,
			 const struct event_key *key)
{
	size_t i = 0;
	while (i < count && !(attrs[i]->type == key->type &&
			      (attrs[i]->config & 0xffffffff) == key->config))
		i++;
	return i;
}

struct sp_ratio_kind *ratio_kinds(const struct perf_event_attr *const *attrs, size_t count,
				  size_t *count_ret)
{
	struct sp_ratio_kind *kinds = calloc(KNOWN_RATIOS, sizeof(*kinds));
	*count_ret = 0;
	for (size_t i = 0; kinds && i < KNOWN_RATIOS; i++) {
		size_t above = find_event(attrs, count, &known_ratios[i].numerator);
		size_t below = find_event(attrs, count, &known_ratios[i].denominator);
		if (above < count && below < count)
			kinds[(*count_ret)++] = (struct sp_ratio_kind){
				known_ratios[i].name, known_ratios[i].percent, above, below};
	}
	return kinds;
}
