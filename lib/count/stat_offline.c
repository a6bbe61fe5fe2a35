/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * CPU hotplug while counting: the kernel removes the counters of an offline CPU for good, as it
 * does with events that sample (event_control/cpu_hotplug.h). Their enabled time stops, although
 * they were not disabled. They are opened again as soon as the kernel accepts them, and continue
 * from the earlier counts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "capture/event_control/cpu_hotplug.h"
#include "count/stat.h"

/* Limit on notes about CPUs that were offline. */
#define TOLD_MAX 32

/* The first of the counters on that CPU; they are on, or not, all together. */
static const struct unit *unit_of(const struct sp_stat *stat, size_t target)
{
	for (size_t i = 0; i < stat->counter_count; i++) {
		const struct counter *counter = &stat->counters[i];
		/* A counter of some CPUs only has other indexes. */
		bool all = counter->unit_count == stat->targets.count && !counter->spec->cpus;
		if (all && counter_is_leader(stat, i) && counter->cgroup_fd < 0 &&
		    counter->units[target].fd >= 0)
			return &counter->units[target];
	}
	return NULL;
}

void stat_cpus_switched(struct sp_stat *stat, bool on)
{
	uint64_t now_ns = stat_now_ns();
	stat->counts = on;
	if (!stat->cpu_wide || !on)
		return;
	if (!stat->cpu_states)
		stat->cpu_states = calloc(stat->targets.count + 1, sizeof(*stat->cpu_states));
	for (size_t i = 0; stat->cpu_states && i < stat->targets.count; i++) {
		const struct unit *unit = unit_of(stat, i);
		stat->cpu_states[i].seen_ns = now_ns;
		stat->cpu_states[i].enabled_ns = unit ? unit->now.enabled_ns : 0;
	}
}

static double since_start(const struct sp_stat *stat, uint64_t ns)
{
	return ns > stat->start_ns ? (double)(ns - stat->start_ns) / 1e9 : 0;
}

/* `back_ns`: 0: not yet. */
static struct sp_error *say(struct sp_stat *stat, size_t target, uint64_t back_ns)
{
	const struct stat_cpu *cpu = &stat->cpu_states[target];
	char what[64], done[160];
	if (stat->absences++ >= TOLD_MAX)
		return NULL;
	snprintf(what, sizeof(what), "CPU %d", stat->targets.items[target].cpu);
	if (back_ns)
		snprintf(done, sizeof(done), "it is not counted from %.2f s to %.2f s",
			 since_start(stat, cpu->gone_ns), since_start(stat, back_ns));
	else
		snprintf(done, sizeof(done), "it is not counted from %.2f s on, until it is back",
			 since_start(stat, cpu->gone_ns));
	return event_notes_add(&stat->notes, what, done, "it was offline", NULL);
}

/* Time of the last reading; after the end, when counters are off, the time of the end. */
static uint64_t looked_ns(const struct sp_stat *stat)
{
	return stat->stopped && stat->end_ns < stat->read_ns ? stat->end_ns : stat->read_ns;
}

/* Standing still means: now, too. */
static bool has_gone(const struct sp_stat *stat, const struct unit *unit, struct stat_cpu *cpu)
{
	struct offline_cpu seen = {.seen_ns = cpu->seen_ns, .time_on_ns = cpu->enabled_ns};
	uint64_t since_ns, values[2], now_ns = looked_ns(stat);
	if (now_ns <= cpu->seen_ns || !offline_cpu_is_short(&seen, now_ns, unit->now.enabled_ns, &since_ns))
		return false;
	/* The value, or how many there are, and then the time. */
	if (read(unit->fd, stat->buffer, 3 * sizeof(uint64_t)) < (ssize_t)sizeof(values) ||
	    stat->buffer[1] + unit->before.enabled_ns != unit->now.enabled_ns)
		return false;
	cpu->gone_ns = since_ns;
	return true;
}

/* Leaders are before their members, which follow them. */
static int open_again(struct sp_stat *stat, size_t target)
{
	int errnum = 0;
	for (size_t i = 0; i < stat->counter_count && !errnum; i++) {
		struct counter *counter = &stat->counters[i];
		for (size_t u = 0; u < counter->unit_count && !errnum; u++)
			if (counter->units[u].cpu == stat->targets.items[target].cpu &&
			    counter->units[u].fd >= 0)
				errnum = stat_open_again(stat, i, &stat->targets.items[target], u);
	}
	for (size_t i = 0; i < stat->counter_count && !errnum; i++) {
		const struct counter *counter = &stat->counters[i];
		for (size_t u = 0; u < counter->unit_count && counter_is_leader(stat, i); u++)
			if (counter->units[u].cpu == stat->targets.items[target].cpu &&
			    counter->units[u].fd >= 0)
				(void)!ioctl(counter->units[u].fd, PERF_EVENT_IOC_ENABLE, 0);
	}
	return errnum;
}

static struct sp_error *check_cpu(struct sp_stat *stat, size_t target)
{
	struct stat_cpu *cpu = &stat->cpu_states[target];
	const struct unit *unit = unit_of(stat, target);
	if (!unit)
		return NULL;
	bool goes = !cpu->gone && has_gone(stat, unit, cpu);
	cpu->gone |= goes;
	if (!cpu->gone) {
		cpu->seen_ns = stat->read_ns;
		cpu->enabled_ns = unit->now.enabled_ns;
		return NULL;
	}
	if (stat->stopped || open_again(stat, target))
		return goes ? say(stat, target, 0) : NULL;
	cpu->gone = false;
	cpu->seen_ns = stat_now_ns();
	cpu->enabled_ns = unit->now.enabled_ns;
	return say(stat, target, cpu->seen_ns);
}

struct sp_error *stat_check_cpus(struct sp_stat *stat)
{
	struct sp_error *error = NULL;
	for (size_t i = 0; stat->cpu_states && stat->counts && i < stat->targets.count && !error; i++)
		error = check_cpu(stat, i);
	return error;
}
