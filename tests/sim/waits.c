/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares samples of waits and of preempted threads with the switches that the kernel recorded.
 * The threshold for preempted threads is the recorder's: only their periods state it.
 */
#include <stdlib.h>
#include <string.h>
#include <sprof/record.h>
#include "base/hash.h"
#include "found.h"

/* Default threshold of the recorder. */
#define THIN_NS SIM_MS

/*
 * If one of N switches is sampled, N is at most EACH_MAX, and waits have a snapshot after some
 * time.
 */
#define EACH_MAX 100
#define SNAPSHOT_AGE_NS (50 * SIM_MS)

/* Shorter recordings need not have a wait that is over. */
#define SHORTEST_NS (100 * SIM_MS)

static const struct perf_event_attr *attr_of(uint64_t id)
{
	for (size_t i = 0; i < sim_perf.event_count; i++)
		if (sim_perf.events[i]->id == id)
			return &sim_perf.events[i]->attr;
	return NULL;
}

bool sim_is_wait(uint64_t id)
{
	const struct perf_event_attr *attr = attr_of(id);
	return attr && attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES;
}

bool sim_is_waking(uint64_t id)
{
	const struct perf_event_attr *attr = attr_of(id);
	return attr && attr->type == PERF_TYPE_TRACEPOINT;
}

size_t sim_truth_from(uint64_t time_ns)
{
	size_t low = 0, high = sim_perf.truth_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (sim_perf.truth[middle].time_ns < time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Whether the kernel has sampled the thread at that time. */
static bool is_sampled(uint64_t time_ns, uint32_t tid)
{
	size_t index = sim_truth_from(time_ns);
	const struct sim_truth *truth = &sim_perf.truth[index];
	return index < sim_perf.truth_count && truth->time_ns == time_ns && truth->tid == tid &&
	       truth->type == PERF_RECORD_SAMPLE;
}

bool sim_is_made(const struct sim_read_back *read_back, const struct sim_found *found)
{
	if (found->type != PERF_RECORD_SAMPLE || !(found->is_wait || found->is_preempted))
		return false;
	return found->misc & SP_MISC_SNAPSHOT ||
	       (read_back->files > 1 && !is_sampled(found->time_ns, found->tid));
}

uint64_t sim_next_file_ns(const struct sim_read_back *read_back, uint64_t after_ns)
{
	uint64_t next_ns = UINT64_MAX;
	for (size_t i = 0; i < read_back->split_count; i++)
		if (read_back->splits[i] > after_ns && read_back->splits[i] < next_ns)
			next_ns = read_back->splits[i];
	return next_ns;
}

bool sim_is_of_part(uint64_t duration_ns, uint64_t all_ns, uint64_t period_ns)
{
	double late = ((double)duration_ns - SNAPSHOT_AGE_NS) / (SNAPSHOT_AGE_NS / 2);
	double found = late < 0 ? 0 : late > 1 ? 1 : late;
	for (int each = 2; each <= EACH_MAX; each++) {
		double wanted = (double)all_ns / (1.0 / each + (1 - 1.0 / each) * found);
		if ((double)period_ns > wanted - 1 && (double)period_ns < wanted + 1)
			return true;
	}
	return false;
}

struct sums {
	double blocked_ns, written_ns, variance;
	uint64_t waits, written, missing;
	double preempted_ns, preempted_written_ns, preempted_variance;
	uint64_t preempted, preempted_samples;
	bool parts; /* one of N switches was sampled */
	uint64_t rests; /* written parts of waits that began in earlier files */
};

/* The next switch of the thread; NULL: there is none. */
static const struct sim_truth *next_switch(size_t from, uint32_t tid)
{
	for (size_t i = from; i < sim_perf.truth_count; i++) {
		const struct sim_truth *truth = &sim_perf.truth[i];
		bool is_switch = truth->type == PERF_RECORD_SWITCH ||
				 truth->type == PERF_RECORD_SWITCH_CPU_WIDE;
		if (is_switch && truth->tid == tid)
			return truth;
	}
	return NULL;
}

/* The thread's sample of a wait at that time. */
static const struct sim_found *find(const struct sim_read_back *read_back, uint64_t time_ns, uint32_t tid)
{
	size_t low = 0, high = read_back->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (read_back->items[middle].time_ns < time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < read_back->count && read_back->items[low].time_ns == time_ns; low++)
		if (read_back->items[low].type == PERF_RECORD_SAMPLE && read_back->items[low].tid == tid)
			return &read_back->items[low];
	return NULL;
}

/* Part of a wait in one file; all of it, if no file ended meanwhile. */
struct part {
	uint32_t tid;
	uint64_t begin_ns, end_ns;
	uint64_t sample_ns; /* time of its sample */
};

static void check_part(const struct sim_read_back *read_back, const struct part *part, struct sums *sums)
{
	const struct sim_found *found = find(read_back, part->sample_ns, part->tid);
	uint64_t duration_ns = part->end_ns - part->begin_ns;
	uint64_t hash = hash_pair(part->tid, part->begin_ns) >> 32;
	bool due = duration_ns >= THIN_NS || hash * THIN_NS < duration_ns << 32;
	/* Dropped samples are counted. */
	if (due && !found && ++sums->missing <= read_back->dropped_waits + sim_result.stats.shed)
		return;
	if (due != (found != NULL)) {
		sim_violation("the wait of %llu ns of thread %u at %llu is%s written",
			      (unsigned long long)duration_ns, part->tid,
			      (unsigned long long)part->sample_ns, found ? "" : " not");
		return;
	}
	uint64_t period = duration_ns > THIN_NS ? duration_ns : THIN_NS;
	if (found && found->is_preempted)
		sim_violation("the wait of thread %u at %llu is preempted time", part->tid,
			      (unsigned long long)part->sample_ns);
	sums->parts |= found && found->period != period;
	if (found && found->period != period && !sim_is_of_part(duration_ns, period, found->period))
		sim_violation("the wait of %llu ns of thread %u at %llu has a period of %llu",
			      (unsigned long long)duration_ns, part->tid,
			      (unsigned long long)part->sample_ns, (unsigned long long)found->period);
	sums->waits++;
	sums->written += found != NULL;
	sums->rests += found && part->sample_ns == part->begin_ns;
	sums->blocked_ns += (double)duration_ns;
	sums->written_ns += found ? (double)period : 0;
	if (duration_ns < THIN_NS)
		sums->variance += (double)duration_ns * (double)(THIN_NS - duration_ns);
}

static void check_preempted(const struct sim_read_back *read_back, const struct part *part,
			    struct sums *sums)
{
	const struct sim_found *found = find(read_back, part->sample_ns, part->tid);
	double duration = (double)(part->end_ns - part->begin_ns);
	sums->preempted++;
	sums->preempted_ns += duration;
	if (!found)
		return;
	double period = (double)found->period;
	if (!found->is_preempted)
		sim_violation("preempted time of thread %u at %llu is a wait", part->tid,
			      (unsigned long long)part->sample_ns);
	if (period < duration || period < (double)THIN_NS)
		sim_violation("%.0f ns of preempted time of thread %u at %llu have period %.0f",
			      duration, part->tid, (unsigned long long)part->sample_ns, period);
	sums->preempted_samples++;
	sums->preempted_written_ns += period;
	/* Estimate by Horvitz and Thompson: the probability is duration / period. */
	sums->preempted_variance += period * (period - duration);
}

/* Checks the time off the CPU from `out` to `in`, with the sample `truth`. */
static void check_off(const struct sim_read_back *read_back, const struct sim_truth *truth,
		      const struct sim_truth *out, const struct sim_truth *in, struct sums *sums)
{
	bool preempted = out->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
	struct part part = {.tid = truth->tid, .begin_ns = out->time_ns, .sample_ns = truth->time_ns};
	do {
		uint64_t split_ns = sim_next_file_ns(read_back, part.begin_ns);
		part.end_ns = split_ns < in->time_ns ? split_ns : in->time_ns;
		(preempted ? check_preempted : check_part)(read_back, &part, sums);
		part.begin_ns = part.sample_ns = part.end_ns;
	} while (part.end_ns < in->time_ns);
}

/* Whether all records of the wait are in the ring buffers, and the recorder has read them. */
static bool is_known(const struct sim_truth *truth, const struct sim_truth *out,
		     const struct sim_truth *in)
{
	return in && truth->fate == SIM_PUT && out->fate == SIM_PUT && in->fate == SIM_PUT &&
	       truth->time_ns >= sim_result.begin_ns && in->time_ns < sim_result.stop_ns;
}

void sim_check_waits(const struct sim_scenario *scenario, const struct sim_read_back *read_back)
{
	struct sums sums = {0};
	uint64_t samples = 0; /* by the kernel */
	for (size_t i = 0; i < sim_perf.truth_count; i++) {
		const struct sim_truth *truth = &sim_perf.truth[i];
		if (truth->type != PERF_RECORD_SAMPLE || !sim_is_wait(truth->id))
			continue;
		samples++;
		const struct sim_task *task = sim_task_find(truth->tid);
		if (!task || task->uncertain || (scenario->target != SIM_SYSTEM && !task->followed))
			continue;
		const struct sim_truth *out = next_switch(i, truth->tid);
		if (!out || !(out->misc & PERF_RECORD_MISC_SWITCH_OUT))
			continue;
		const struct sim_truth *in = next_switch((size_t)(out - sim_perf.truth) + 1, truth->tid);
		if (is_known(truth, out, in) && !(in->misc & PERF_RECORD_MISC_SWITCH_OUT))
			check_off(read_back, truth, out, in, &sums);
	}
	double difference = sums.written_ns - sums.blocked_ns;
	/* Five standard deviations. Dropped waits that are not due are unknown. */
	if (!sums.missing && difference * difference > 25 * sums.variance)
		sim_violation("periods sum to %.3f ms, waits to %.3f ms", sums.written_ns / 1e6,
			      sums.blocked_ns / 1e6);
	/* Few samples do not show their variance. */
	difference = sums.preempted_written_ns - sums.preempted_ns;
	if (sums.preempted_samples > 50 && !sums.missing && !sums.parts &&
	    difference * difference > 25 * sums.preempted_variance)
		sim_violation("periods of preempted threads sum to %.3f ms, these times to %.3f ms",
			      sums.preempted_written_ns / 1e6, sums.preempted_ns / 1e6);
	bool is_short = sim_result.stop_ns - sim_result.begin_ns <= SHORTEST_NS;
	if (!sums.waits && samples && !scenario->may_drop && !is_short)
		sim_violation("no wait was compared");
	if (sim.verbose)
		printf("# waits: %llu of %llu written; %.3f ms, blocked %.3f ms\n"
		       "# preempted: %llu of %llu written; %.3f ms of %.3f ms\n",
		       (unsigned long long)sums.written, (unsigned long long)sums.waits,
		       sums.written_ns / 1e6, sums.blocked_ns / 1e6,
		       (unsigned long long)sums.preempted_samples,
		       (unsigned long long)sums.preempted, sums.preempted_written_ns / 1e6,
		       sums.preempted_ns / 1e6);
}
