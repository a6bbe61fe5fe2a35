/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/metadata/host.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/cursor.h"
#include "base/format.h"
#include "proc/sysfs.h"
#include "proc/topology.h"
#include "record/secrets.h"

/* Limit of sources of events; Linux has a few dozen. */
#define PMUS_MAX 1024

static struct sp_error *add_names(struct arena *arena, struct writer_info *info)
{
	struct utsname name;
	if (uname(&name) < 0)
		return error_os(errno, "uname");
	info->hostname = arena_strdup(arena, name.nodename);
	info->osrelease = arena_strdup(arena, name.release);
	info->arch = arena_strdup(arena, name.machine);
	info->version = PACKAGE_VERSION;
	return info->hostname && info->osrelease && info->arch ? NULL : error_no_memory();
}

/* Returns the value of the first line "KEY : VALUE" of /proc/cpuinfo; "" if there is none. */
static void cpuinfo_value(const char *text, size_t size, const char *key, char *ret, size_t ret_size)
{
	struct cursor cursor = cursor_make(text, size, false, NULL, 0);
	const char *line;
	size_t length, key_length = strlen(key);
	*ret = '\0';
	while (cursor_line(&cursor, &line, &length)) {
		if (length <= key_length || memcmp(line, key, key_length))
			continue;
		const char *colon = memchr(line, ':', length);
		/* "model name" begins with "model", too. */
		size_t blanks = strspn(line + key_length, " \t");
		if (!colon || line + key_length + blanks != colon)
			continue;
		const char *value = colon + 1;
		while (value < line + length && *value == ' ')
			value++;
		snprintf(ret, ret_size, "%.*s", (int)(line + length - value), value);
		return;
	}
}

static struct sp_error *add_cpu(const struct sp_ctx *ctx, struct arena *arena,
				struct writer_info *info)
{
	CLEANUP_FREE char *text = NULL;
	size_t size;
	if (sysfs_read(ctx, "/proc/cpuinfo", &text, &size))
		return NULL;
	char vendor[64], family[32], model[32], stepping[32], description[128], id[192];
	cpuinfo_value(text, size, "model name", description, sizeof(description));
	if (*description && !(info->cpudesc = arena_strdup(arena, description)))
		return error_no_memory();
	cpuinfo_value(text, size, "vendor_id", vendor, sizeof(vendor));
	cpuinfo_value(text, size, "cpu family", family, sizeof(family));
	cpuinfo_value(text, size, "model", model, sizeof(model));
	cpuinfo_value(text, size, "stepping", stepping, sizeof(stepping));
	if (!*vendor || !*family || !*model || !*stepping)
		return NULL;
	/* Returns perf's cpuid of x86: "GenuineIntel,6,85,7". */
	snprintf(id, sizeof(id), "%s,%s,%s,%s", vendor, family, model, stepping);
	info->cpuid = arena_strdup(arena, id);
	return info->cpuid ? NULL : error_no_memory();
}

uint64_t host_memory_kb(const struct sp_ctx *ctx)
{
	CLEANUP_FREE char *text = NULL;
	size_t size;
	unsigned long long kb;
	bool found = !sysfs_read(ctx, "/proc/meminfo", &text, &size) &&
		     sscanf(text, "MemTotal: %llu kB", &kb) == 1;
	return found ? kb : 0;
}

/* Lists the sources of events, with their numbers in attr.type. */
static struct sp_error *add_pmus(const struct sp_ctx *ctx, struct arena *arena,
				 struct writer_info *info)
{
	static const char folder[] = "/sys/bus/event_source/devices";
	CLEANUP_FREE char *path = format_text("%s%s", ctx_root(ctx), folder);
	NEED(path);
	CLEANUP(cleanup_closedir) DIR *dir = opendir(path);
	struct writer_pmu *pmus = dir ? arena_alloc(arena, PMUS_MAX * sizeof(*pmus)) : NULL;
	if (!dir)
		return NULL;
	NEED(pmus);
	info->pmus = pmus;
	const struct dirent *entry;
	while ((entry = readdir(dir)) && info->pmu_count < PMUS_MAX) {
		char file[sizeof(folder) + sizeof(entry->d_name) + 8];
		int64_t type;
		if (entry->d_name[0] == '.')
			continue;
		snprintf(file, sizeof(file), "%s/%s/type", folder, entry->d_name);
		struct sp_error *error = sysfs_read_i64(ctx, file, &type);
		sp_error_free(error);
		if (error || type < 0 || type > UINT32_MAX)
			continue;
		const char *name = arena_strdup(arena, entry->d_name);
		NEED(name);
		pmus[info->pmu_count++] = (struct writer_pmu){(uint32_t)type, name};
	}
	return NULL;
}

static struct sp_error *add_nodes(const struct sp_ctx *ctx, struct arena *arena,
				  struct writer_info *info)
{
	struct sp_numa_node *nodes;
	struct sp_error *error = topology_read_nodes(ctx, arena, &nodes, &info->numa_node_count);
	if (!error)
		info->numa_nodes = nodes;
	return error;
}

static uint64_t to_ns(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec;
}

/* Reads both clocks at one moment. */
static void add_clock(clockid_t clock, struct writer_info *info)
{
	struct timespec resolution, wall, now;
	if (clock_getres(clock, &resolution) || clock_gettime(CLOCK_REALTIME, &wall) ||
	    clock_gettime(clock, &now))
		return;
	info->clock_id = clock;
	info->clock_resolution_ns = to_ns(&resolution);
	info->clock_wall_ns = to_ns(&wall);
	info->clock_ns = to_ns(&now);
}

/* Copies the recorder's command line without secrets, also those of the command's arguments. */
static struct sp_error *add_cmdline(const char *const *cmdline, struct arena *arena,
				    struct writer_info *info)
{
	struct record_buffer text = {0};
	struct secrets secrets = {0};
	size_t count = 0;
	while (cmdline && cmdline[count])
		count++;
	const char **words = arena_alloc(arena, (count + 1) * sizeof(*words));
	bool done = words;
	for (size_t i = 0; done && i < count; i++) {
		struct stat status;
		bool file = !stat(cmdline[i], &status) && S_ISREG(status.st_mode);
		text.count = 0;
		done = secrets_cut(&secrets, cmdline[i], file, &text) &&
		       (words[i] = arena_copy_string(arena, (const char *)text.items,
						     text.count - 1));
	}
	vec_deinit(&text);
	if (done)
		words[count] = NULL;
	info->cmdline = cmdline ? words : NULL;
	return done ? NULL : error_no_memory();
}

struct sp_error *host_info(const struct sp_ctx *ctx, const char *const *cmdline, clockid_t clock,
			   struct arena *arena, struct writer_info *ret)
{
	struct writer_info info = {0};
	long available = sysconf(_SC_NPROCESSORS_CONF), online = sysconf(_SC_NPROCESSORS_ONLN);
	/* Numbers of CPUs may have holes: the count is the highest number + 1. */
	info.cpus_available = topology_cpu_limit(ctx);
	if (!info.cpus_available && available > 0)
		info.cpus_available = available;
	info.cpus_online = online > 0 ? (uint32_t)online : 0;
	info.total_memory_kb = host_memory_kb(ctx);
	add_clock(clock, &info);
	struct sp_error *error = add_cmdline(cmdline, arena, &info);
	if (!error)
		error = add_names(arena, &info);
	if (!error)
		error = add_cpu(ctx, arena, &info);
	if (!error)
		error = topology_read_cpus(ctx, info.cpus_available, arena, &info.topology);
	if (!error)
		error = add_nodes(ctx, arena, &info);
	if (!error)
		error = add_pmus(ctx, arena, &info);
	if (!error)
		*ret = info;
	return error;
}
