/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Namespaces of tasks, and the existing control groups. */
#include <sys/stat.h>
#include "base/cleanup.h"
#include "base/format.h"
#include "capture/metadata/synth_internal.h"
#include "proc/cgroup.h"

/* In the order of the kernel's records (NET_NS_INDEX and so on). */
static const char *const namespaces[] = {"net", "uts", "ipc", "pid", "user", "mnt", "cgroup"};
#define NAMESPACE_COUNT (count_of(namespaces))

struct sp_error *synth_namespaces(struct synth *synth, uint32_t pid, uint32_t tid)
{
	struct sp_namespace found[NAMESPACE_COUNT] = {0};
	struct sp_record record = {
		.type = PERF_RECORD_NAMESPACES,
		.namespaces = {.pid = pid,
			       .tid = tid,
			       .namespaces = found,
			       .count = NAMESPACE_COUNT},
	};
	size_t count = 0;
	if (!synth->attr.namespaces)
		return NULL;
	for (size_t i = 0; i < NAMESPACE_COUNT; i++) {
		struct stat stat_buffer;
		CLEANUP_FREE char *path = format_text(
			"%s/proc/%u/task/%u/ns/%s", ctx_root(synth->ctx), pid, tid, namespaces[i]);
		NEED(path);
		/* Kernels without such a namespace lack the file, and have 0 in their records. */
		if (stat(path, &stat_buffer))
			continue;
		found[i] = (struct sp_namespace){stat_buffer.st_dev, stat_buffer.st_ino};
		count++;
	}
	return count ? synth_put(synth, &record, pid, tid) : NULL;
}

struct sp_error *synth_cgroups(struct synth *synth)
{
	CLEANUP(cgroup_list_deinit) struct cgroup_list list = {0};
	struct cgroup_hierarchy hierarchy;
	if (!synth->attr.cgroup)
		return NULL;
	struct sp_error *error = cgroup_hierarchy_find(synth->ctx, &hierarchy);
	if (error && sp_error_code(error) == SP_ERROR_NOT_FOUND) {
		sp_error_free(error);
		return NULL;
	}
	if (error)
		return error;
	error = cgroup_list_all(synth->ctx, &hierarchy, &list);
	for (size_t i = 0; i < list.count && !error; i++) {
		struct sp_record record = {
			.type = PERF_RECORD_CGROUP,
			.cgroup = {.id = list.items[i].id, .path = list.items[i].path},
		};
		error = synth_put(synth, &record, 0, 0);
	}
	cgroup_hierarchy_deinit(&hierarchy);
	return error;
}

struct sp_error *synth_put(struct synth *synth, struct sp_record *record, uint32_t pid,
			   uint32_t tid)
{
	uint64_t time_ns =
		synth->is_new && synth->time_ns < synth->new_ns ? synth->new_ns : synth->time_ns;
	record->id =
		(struct sp_sample_id){.pid = pid, .tid = tid, .id = synth->id, .time_ns = time_ns};
	return record_encode(synth->buffer, record, &synth->attr);
}
