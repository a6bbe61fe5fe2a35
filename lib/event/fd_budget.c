/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "event/fd_budget.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/capability.h>
#include "base/cleanup.h"
#include "proc/sysfs.h"

#define ROLES 2 /* ring buffers of each CPU: samples and metadata */
#define EVENT_BYTES 1670

/* Files of this process other than events. */
#define OTHER_FILES 128

uint64_t demand_files(const struct event_demand *demand)
{
	return ROLES * demand->cpus + demand->tasks * demand->cpus * demand->events;
}

uint64_t demand_kernel_bytes(const struct event_demand *demand)
{
	return demand_files(demand) * EVENT_BYTES;
}

static uint64_t read_nr_open(const struct sp_ctx *ctx)
{
	int64_t number;
	CLEANUP(cleanup_sp_error_free) struct sp_error *error =
		sysfs_read_i64(ctx, "/proc/sys/fs/nr_open", &number);
	return error || number < 0 ? 0 : (uint64_t)number;
}

static uint64_t read_available(const struct sp_ctx *ctx)
{
	CLEANUP_FREE char *text = NULL;
	if (sysfs_read(ctx, "/proc/meminfo", &text, NULL))
		return 0;
	const char *line = strstr(text, "MemAvailable:");
	return line ? strtoull(line + strlen("MemAvailable:"), NULL, 10) * 1024 : 0;
}

struct demand_limits demand_limits_read(const struct sp_ctx *ctx, const struct rights *rights)
{
	struct demand_limits limits = {
		.files = rights->files_max,
		.nr_open = read_nr_open(ctx),
		.available_bytes = read_available(ctx),
	};
	if (rights->capabilities >> CAP_SYS_RESOURCE & 1 && limits.nr_open > limits.files)
		limits.files = limits.nr_open;
	return limits;
}

/* Writes the remedy: CPU-wide events, which need fewer descriptors, and how to get them. */
static void whole_cpus_remedy(const struct event_demand *demand, const struct rights *rights,
			      char *text, size_t size)
{
	const struct event_demand whole = {1, demand->cpus, demand->events};
	snprintf(text, size, "use -a: whole CPUs need %llu files "
			"(%s)", (unsigned long long)demand_files(&whole),
		 rights_cpu_wide(rights) ? "--scope cpu" :
					   "needs CAP_PERFMON: sudo setcap cap_perfmon+ep "
					   "$(command -v sprof)");
}

static struct sp_error *too_many_files(const struct event_demand *demand,
				       const struct demand_limits *limits,
				       const struct rights *rights)
{
	unsigned long long need = demand_files(demand) + OTHER_FILES;
	char whole[160], sysctl[64] = "";
	whole_cpus_remedy(demand, rights, whole, sizeof(whole));
	if (limits->nr_open && limits->nr_open < need)
		snprintf(sysctl, sizeof(sysctl), "sudo sysctl fs.nr_open=%llu && ", need);
	return error_set_remedy(
		error_new(SP_ERROR_LIMIT,
			  "%llu threads on %llu CPUs with %llu events need %llu open files; the "
			  "limit is %llu", (unsigned long long)demand->tasks,
			  (unsigned long long)demand->cpus, (unsigned long long)demand->events, need,
			  (unsigned long long)limits->files),
		"%s; or fewer CPUs (-C); or %ssudo prlimit --pid $$ --nofile=%llu:%llu (of a "
		"service: LimitNOFILE=)", whole, sysctl, need, need);
}

static struct sp_error *too_much_memory(const struct event_demand *demand,
					const struct demand_limits *limits,
					const struct rights *rights)
{
	char whole[160];
	whole_cpus_remedy(demand, rights, whole, sizeof(whole));
	return error_set_remedy(
		error_new(SP_ERROR_LIMIT,
			  "%llu threads on %llu CPUs with %llu events need %llu MB of "
			  "kernel memory; %llu MB are available", (unsigned long long)demand->tasks,
			  (unsigned long long)demand->cpus, (unsigned long long)demand->events,
			  (unsigned long long)(demand_kernel_bytes(demand) / 1000000),
			  (unsigned long long)(limits->available_bytes / 1000000)),
		"%s; or fewer CPUs (-C)", whole);
}

struct sp_error *demand_check(const struct event_demand *demand, const struct demand_limits *limits,
			      const struct rights *rights)
{
	if (demand_files(demand) + OTHER_FILES > limits->files)
		return too_many_files(demand, limits, rights);
	if (limits->available_bytes && demand_kernel_bytes(demand) > limits->available_bytes)
		return too_much_memory(demand, limits, rights);
	return NULL;
}
