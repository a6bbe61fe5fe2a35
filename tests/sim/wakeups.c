/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares samples of wake-ups with the scheduler's: each wake-up of a recorded thread that some event
 * sampled is in the files once, whichever thread the waker is, and no other thread's.
 */
#include "found.h"

static const struct sim_found *find(const struct sim_read_back *read_back, const struct sim_truth *truth)
{
	size_t low = 0, high = read_back->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (read_back->items[middle].time_ns < truth->time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	const struct sim_found *found = &read_back->items[low];
	bool same = low < read_back->count && found->time_ns == truth->time_ns &&
		    found->type == PERF_RECORD_SAMPLE;
	return same ? found : NULL;
}

/* The records of one wake-up, which follow each other. */
struct wakeup {
	const struct sim_truth *first;
	unsigned int put, found;
	uint64_t last_ns;
};

/* Returns the index after the wake-up's last record. */
static size_t read_wakeup(const struct sim_read_back *read_back, size_t at, struct wakeup *ret)
{
	*ret = (struct wakeup){.first = &sim_perf.truth[at]};
	for (; at < sim_perf.truth_count && sim_perf.truth[at].wakeup == ret->first->wakeup; at++) {
		ret->put += sim_perf.truth[at].fate == SIM_PUT;
		ret->found += find(read_back, &sim_perf.truth[at]) != NULL;
		ret->last_ns = sim_perf.truth[at].time_ns;
	}
	return at;
}

static void check(const struct sim_scenario *scenario, const struct wakeup *wakeup, unsigned int *compared)
{
	const struct sim_truth *truth = wakeup->first;
	const struct sim_task *woken = sim_task_find(truth->woken);
	bool followed = scenario->target == SIM_SYSTEM || (woken && woken->followed);
	bool unknown = woken && (woken->uncertain || woken->process->unknown_until_ns);
	if (wakeup->found > followed)
		sim_violation("a wake-up of thread %u at %llu is there %u times", truth->woken,
			      (unsigned long long)truth->time_ns, wakeup->found);
	if (unknown || !followed || !wakeup->put || truth->time_ns < sim_result.begin_ns ||
	    wakeup->last_ns >= sim_result.stop_ns)
		return;
	++*compared;
	if (!wakeup->found)
		sim_violation("the wake-up of thread %u at %llu by thread %u is missing", truth->woken,
			      (unsigned long long)truth->time_ns, truth->tid);
}

void sim_check_wakeups(const struct sim_scenario *scenario, const struct sim_read_back *read_back)
{
	unsigned int compared = 0, sampled = 0, twice = 0;
	struct wakeup wakeup;
	for (size_t i = 0; i < sim_perf.truth_count;) {
		if (!sim_perf.truth[i].wakeup) {
			i++;
			continue;
		}
		i = read_wakeup(read_back, i, &wakeup);
		sampled += wakeup.put > 0;
		twice += wakeup.put > 1;
		check(scenario, &wakeup, &compared);
	}
	/* A recording of a few ms may have none after its begin. */
	if (!compared && sampled > 50)
		sim_violation("no wake-up was compared");
	if (scenario->thins && twice * 4 > sampled)
		sim_violation("%u of %u wake-ups have a user stack", twice, sampled);
	if (sim.verbose)
		printf("# wake-ups: %u compared, %u of %u twice\n", compared, twice, sampled);
}
