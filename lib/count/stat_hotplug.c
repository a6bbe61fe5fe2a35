/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * CPU hotplug while counting: the kernel removes the counters of an offline CPU for good, as it
 * does with events that sample (event_control/cpu_hotplug.h). Their enabled time stops, although
 * they were not disabled. They are opened again as soon as the kernel accepts them, and continue
 * from the earlier counts.
 */
#include "count/stat.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "capture/event_control/cpu_hotplug.h"

/* Limit on notes about CPUs that were offline. */
#define NOTES_MAX 32

/*
 * Returns an open unit on the target's CPU; NULL: none. Any does: all of a CPU's counters have been
 * enabled for the same time.
 */
static const struct count_unit *find_unit(const struct sp_stat *stat, size_t target)
{
	for (size_t i = 0; i < stat->counter_count; i++) {
		const struct counter *counter = &stat->counters[i];
		/* A counter of some CPUs has other indexes. */
		bool all = counter->unit_count == stat->targets.count && !counter->spec->cpus;
		if (all && counter_is_leader(stat, i) && counter->cgroup_fd < 0 &&
		    counter->units[target].fd >= 0)
			return &counter->units[target];
	}
	return NULL;
}

void stat_watch_cpus(struct sp_stat *stat, bool on)
{
	uint64_t now_ns = stat_now_ns();
	stat->counts = on;
	if (!stat->cpu_wide || !on)
		return;
	if (!stat->cpu_states)
		stat->cpu_states = calloc(stat->targets.count + 1, sizeof(*stat->cpu_states));
	for (size_t i = 0; stat->cpu_states && i < stat->targets.count; i++) {
		const struct count_unit *unit = find_unit(stat, i);
		stat->cpu_states[i].read_ns = now_ns;
		stat->cpu_states[i].enabled_ns = unit ? unit->now.enabled_ns : 0;
	}
}

static double since_start(const struct sp_stat *stat, uint64_t ns)
{
	return ns > stat->start_ns ? (double)(ns - stat->start_ns) / 1e9 : 0;
}

/* Notes that a CPU was offline until `back_ns`; 0: it still is. */
static struct sp_error *note_offline(struct sp_stat *stat, size_t target, uint64_t back_ns)
{
	const struct stat_cpu *cpu = &stat->cpu_states[target];
	char what[64], done[160];
	if (stat->offline_notes++ >= NOTES_MAX)
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

/*
 * Returns the time of the last reading; after the end, when counters are disabled, the time of the
 * end.
 */
static uint64_t last_reading_ns(const struct sp_stat *stat)
{
	return stat->stopped && stat->end_ns < stat->read_ns ? stat->end_ns : stat->read_ns;
}

/*
 * Returns whether the CPU has gone offline, and then sets its gone_ns. The enabled time must be too
 * small, and must not change between two reads.
 */
static bool is_offline(const struct sp_stat *stat, const struct count_unit *unit,
		       struct stat_cpu *cpu)
{
	const struct hotplug_cpu last = {.read_ns = cpu->read_ns, .enabled_ns = cpu->enabled_ns};
	uint64_t since_ns, now_ns = last_reading_ns(stat);
	if (now_ns <= cpu->read_ns ||
	    !hotplug_cpu_stopped(&last, now_ns, unit->now.enabled_ns, &since_ns))
		return false;
	/* Value (or number of values), and enabled time. A short read of a group fails. */
	size_t most = (stat->counter_count + 3) * sizeof(uint64_t);
	if (read(unit->fd, stat->buffer, most) < (ssize_t)(2 * sizeof(uint64_t)) ||
	    stat->buffer[1] + unit->before.enabled_ns != unit->now.enabled_ns)
		return false;
	cpu->gone_ns = since_ns;
	return true;
}

/*
 * Opens all counters of the target's CPU again, leaders before their members, and enables them.
 * Returns 0, or the errno.
 */
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
	const struct count_unit *unit = find_unit(stat, target);
	if (!unit)
		return NULL;
	bool went_offline = !cpu->gone && is_offline(stat, unit, cpu);
	cpu->gone |= went_offline;
	if (!cpu->gone) {
		cpu->read_ns = stat->read_ns;
		cpu->enabled_ns = unit->now.enabled_ns;
		return NULL;
	}
	if (stat->stopped || open_again(stat, target))
		return went_offline ? note_offline(stat, target, 0) : NULL;
	cpu->gone = false;
	cpu->read_ns = stat_now_ns();
	cpu->enabled_ns = unit->now.enabled_ns;
	return note_offline(stat, target, cpu->read_ns);
}

struct sp_error *stat_check_cpus(struct sp_stat *stat)
{
	struct sp_error *error = NULL;
	for (size_t i = 0; stat->cpu_states && stat->counts && i < stat->targets.count && !error;
	     i++)
		error = check_cpu(stat, i);
	return error;
}
