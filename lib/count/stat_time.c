/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Times of a run: elapsed, at the last reading, and the command's CPU time. */
#include "base/clock.h"
#include "count/stat.h"

uint64_t stat_now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
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
