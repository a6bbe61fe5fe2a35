/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the counters, and sums the counts by places. */
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "count/stat.h"

/* Reading interval: the kernel rotates events each 4 ms by default (perf_event_mux_interval_ms). */
#define PERIOD_MS 20

/* Interval if the only change to expect is a CPU that goes offline. */
#define CPUS_MS 500

/* Number of descriptors for each PERIOD_MS of the interval. */
#define EASILY_READ 64

/* If no event was multiplexed so far, readings are less frequent. */
#define FIRST_READINGS 3

/* Limit of attempts to read a group while a child ends, 1 ms apart. */
#define GROUP_TRIES 20

/* A sum of counts in work. */
struct sum {
	double known_enabled, value, variance;
	uint64_t observations, units, scaled, without_interval;
};

/* Adds a unit's reading: its differences are observations. */
static void observe(struct sp_stat *stat, struct count_unit *unit, struct count_reading now)
{
	now.value += unit->before.value;
	now.enabled_ns += unit->before.enabled_ns;
	now.running_ns += unit->before.running_ns;
	uint64_t n = now.value - unit->now.value, run_ns = now.running_ns - unit->now.running_ns;
	observations_add(&unit->since_start, n, run_ns);
	observations_add(&unit->since_mark, n, run_ns);
	stat->multiplexed |= now.running_ns < now.enabled_ns;
	unit->now = now;
}

/*
 * Reads the leader's group: number of values, times enabled and running, then values in the order
 * of opening.
 */
static struct sp_error *read_group(struct sp_stat *stat, size_t leader, size_t unit)
{
	struct counter *counters = stat->counters;
	size_t last = leader, want = 3, i;
	for (i = leader; i < stat->counter_count && counters[i].leader == leader; i++) {
		last = i;
		want += unit < counters[i].unit_count && counters[i].units[unit].fd >= 0;
	}
	ssize_t size;
	/* A child that ends removes its members one by one; the kernel then refuses (Linux 6.6). */
	for (int tries = 0; (size = read(counters[leader].units[unit].fd, stat->buffer,
					 want * sizeof(uint64_t))) < 0 &&
			    errno == ECHILD && tries < GROUP_TRIES; tries++)
		usleep(1000);
	/* A group in an error state (it was pinned, and did not fit) reads 0 bytes. */
	if (size == 0)
		return NULL;
	if (size < 0 || (size_t)size < 3 * sizeof(uint64_t))
		return error_os(size < 0 ? errno : EIO, "cannot read %s",
				stat->events[leader].name);
	size_t at = 3;
	for (i = leader; i <= last && at < (size_t)size / sizeof(uint64_t); i++)
		if (unit < counters[i].unit_count && counters[i].units[unit].fd >= 0)
			observe(stat, &counters[i].units[unit],
				     (struct count_reading){stat->buffer[at++], stat->buffer[1],
							    stat->buffer[2]});
	return NULL;
}

static struct sp_error *read_alone(struct sp_stat *stat, size_t index, size_t unit)
{
	struct count_unit *at = &stat->counters[index].units[unit];
	struct count_reading now;
	ssize_t size = read(at->fd, &now, sizeof(now));
	if (size == 0) /* pinned, and never scheduled */
		return NULL;
	if (size != sizeof(now))
		return error_os(size < 0 ? errno : EIO, "cannot read %s", stat->events[index].name);
	observe(stat, at, now);
	return NULL;
}

/* Sets values that come from no descriptor. */
static void read_tool(struct sp_stat *stat, struct counter *counter)
{
	uint64_t user_ns = 0, system_ns = 0, elapsed_ns = sp_stat_elapsed_ns(stat);
	bool have = sp_stat_times(stat, &user_ns, &system_ns);
	uint64_t value = counter->spec->tool == EVENT_TOOL_DURATION_TIME ? elapsed_ns
			 : counter->spec->tool == EVENT_TOOL_USER_TIME   ? user_ns
									 : system_ns;
	have |= counter->spec->tool == EVENT_TOOL_DURATION_TIME;
	if (counter->unit_count && have)
		counter->units[0].now = (struct count_reading){value, elapsed_ns, elapsed_ns};
}

struct sp_error *sp_stat_read(struct sp_stat *stat)
{
	struct sp_error *error = NULL;
	stat->read_ns = stat_now_ns();
	stat->readings++;
	for (size_t i = 0; i < stat->counter_count && !error; i++) {
		struct counter *counter = &stat->counters[i];
		if (counter->spec->tool)
			read_tool(stat, counter);
		if (!counter_is_leader(stat, i) && stat->counters[counter->leader].group_read)
			continue; /* read with its leader */
		for (size_t u = 0; u < counter->unit_count && !error; u++)
			if (counter->units[u].fd >= 0)
				error = counter->group_read ? read_group(stat, i, u)
							    : read_alone(stat, i, u);
	}
	return error ? error : stat_check_cpus(stat);
}

void sp_stat_mark(struct sp_stat *stat)
{
	for (size_t i = 0; i < stat->counter_count; i++)
		for (size_t u = 0; u < stat->counters[i].unit_count; u++) {
			struct count_unit *unit = &stat->counters[i].units[u];
			unit->mark = unit->now;
			unit->since_mark = (struct observations){0};
		}
}

uint32_t sp_stat_period_ms(const struct sp_stat *stat)
{
	if (!stat->may_multiplex)
		return stat->cpu_wide ? CPUS_MS : 0;
	size_t descriptors = stat->counter_count * (stat->targets.count + 1);
	uint32_t period = PERIOD_MS * (uint32_t)(1 + descriptors / EASILY_READ);
	return stat->multiplexed || stat->readings < FIRST_READINGS ? period : 10 * period;
}

static void add_unit(const struct sp_stat *stat, const struct counter *counter,
		     const struct count_unit *unit, enum sp_stat_span span, struct sp_stat_row *row,
		     struct sum *sum)
{
	struct count_reading from =
		span == SP_STAT_SINCE_MARK ? unit->mark : (struct count_reading){0};
	/* A level (temperature, occupancy) is not summed: its last value counts. */
	if (counter->spec->snapshot)
		from.value = 0;
	uint64_t n = unit->now.value - from.value;
	uint64_t enabled_ns = unit->now.enabled_ns - from.enabled_ns;
	uint64_t running_ns = unit->now.running_ns - from.running_ns;
	const struct observations *observations =
		span == SP_STAT_SINCE_MARK ? &unit->since_mark : &unit->since_start;
	double variance = 0;
	row->members++;
	row->raw += n;
	row->enabled_ns += enabled_ns;
	row->running_ns += running_ns;
	if (!enabled_ns)
		return;
	bool scaled = running_ns < enabled_ns;
	sum->scaled += scaled;
	if (running_ns) {
		sum->known_enabled += (double)enabled_ns;
		sum->value += stat->options.events.scale == SP_OFF || !scaled
				      ? (double)n
				      : (double)n * ((double)enabled_ns / (double)running_ns);
	}
	if (!scaled)
		return;
	if (observations_variance(observations, n, enabled_ns, running_ns, &variance)) {
		sum->variance += variance;
		sum->observations += observations->count;
		sum->units++;
	} else {
		sum->without_interval++;
	}
}

static void finish_row(const struct sp_stat *stat, struct sp_stat_row *row, const struct sum *sum)
{
	row->counted = row->enabled_ns && row->running_ns;
	if (!row->counted)
		return;
	row->value = sum->value;
	/* CPUs on which it never ran count as busy as the others. */
	if (sum->known_enabled < (double)row->enabled_ns && stat->options.events.scale != SP_OFF)
		row->value *= (double)row->enabled_ns / sum->known_enabled;
	row->low = row->high = row->value;
	if (!sum->scaled || sum->without_interval || stat->options.events.scale == SP_OFF)
		return;
	row->interval_known = true;
	row->observations = sum->observations;
	row->error = sqrt(sum->variance);
	double half = interval_half(sum->observations - sum->units + 1, sum->variance);
	/* Observed counts are certain; unobserved time can only add to them. */
	row->low = fmin(fmax(row->value - half, row->raw), row->value);
	row->high = row->value + half;
}

const struct sp_stat_row *sp_stat_row(const struct sp_stat *stat, size_t place, size_t event)
{
	assert(stat->rows && place < stat->places.count && event < stat->counter_count);
	return &stat->rows[place * stat->counter_count + event];
}

struct sp_error *sp_stat_sum(struct sp_stat *stat, enum sp_stat_span span)
{
	size_t count = stat->counter_count * stat->places.count;
	if (!stat->rows)
		stat->rows = calloc(count + 1, sizeof(*stat->rows));
	struct sum *sums = calloc(count + 1, sizeof(*sums));
	if (!stat->rows || !sums) {
		free(sums);
		return error_no_memory();
	}
	memset(stat->rows, 0, count * sizeof(*stat->rows));
	for (size_t i = 0; i < stat->counter_count; i++)
		for (size_t u = 0; u < stat->counters[i].unit_count; u++) {
			const struct count_unit *unit = &stat->counters[i].units[u];
			size_t at = unit->place * stat->counter_count + i;
			if (unit->present)
				add_unit(stat, &stat->counters[i], unit, span, &stat->rows[at],
					 &sums[at]);
		}
	for (size_t i = 0; i < count; i++)
		finish_row(stat, &stat->rows[i], &sums[i]);
	free(sums);
	return NULL;
}

uint64_t sp_stat_elapsed_ns(const struct sp_stat *stat)
{
	if (!stat->start_ns)
		return 0;
	return (stat->end_ns ? stat->end_ns : stat_now_ns()) - stat->start_ns;
}

uint64_t sp_stat_read_ns(const struct sp_stat *stat)
{
	uint64_t end_ns = stat->end_ns ? stat->end_ns : stat->read_ns;
	return end_ns > stat->start_ns ? end_ns - stat->start_ns : 0;
}

static uint64_t timeval_ns(struct timeval time)
{
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_usec * 1000;
}

bool sp_stat_times(const struct sp_stat *stat, uint64_t *user_ns_ret, uint64_t *system_ns_ret)
{
	if (!stat->workload.ended)
		return false;
	*user_ns_ret = timeval_ns(stat->workload.usage.ru_utime);
	*system_ns_ret = timeval_ns(stat->workload.usage.ru_stime);
	return true;
}
