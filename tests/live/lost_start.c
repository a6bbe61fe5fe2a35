/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Preloaded, simulates a recording that lost the records of its command's start: no sample, lost
 * records, and the CPU time CPU_MS.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <sprof/capture.h>

const struct sp_capture_stats *sp_capture_stats(struct sp_capture *capture)
{
	static struct sp_capture_stats stats;
	const struct sp_capture_stats *(*next)(struct sp_capture *capture);
	*(void **)&next = dlsym(RTLD_NEXT, "sp_capture_stats");
	stats = *next(capture);
	stats.samples = 0;
	stats.lost_sideband = 1234;
	stats.cpu_wide = true;
	stats.cpu_ns = strtoull(getenv("CPU_MS"), NULL, 10) * 1000000;
	return &stats;
}
