/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Processes that may have a perf map, by metadata records. */
#include <sys/mman.h>
#include "binary/held_maps.h"
#include "capture/recorder.h"
#include "machine/modules.h"

/* Returns whether a mapping may have code that its process generates, in memory. */
static bool is_generated(const char *path)
{
	static const char *const names[] = {"//", "[anon", "[heap", "[stack", "/memfd:",
					    "/dev/zero", "/anon_hugepage", "/SYSV"};
	for (size_t i = 0; i < count_of(names); i++)
		if (!strncmp(path, names[i], strlen(names[i])))
			return true;
	return false;
}

static bool on_mapping(struct held_maps *maps, const struct metadata_mapping *mapping,
		       uint64_t time_ns)
{
	if (!mapping->path || !(mapping->prot & PROT_EXEC))
		return true;
	if (modules_is_jitdump(mapping->path))
		return held_maps_add_dump(maps, mapping->pid, mapping->path, mapping->inode);
	return !is_generated(mapping->path) || held_maps_watch(maps, mapping->pid, time_ns);
}

struct sp_error *capture_follow_maps(struct sp_capture *capture,
				     const struct metadata_record *record, uint64_t now_ns)
{
	struct held_maps *maps = capture->maps;
	const struct task_change *change = &record->change;
	struct metadata_mapping mapping;
	if (metadata_mapping(record, &mapping))
		NEED(on_mapping(maps, &mapping, record->time_ns));
	else if (change->kind == TASK_FORKED && change->is_process)
		NEED(held_maps_fork(maps, change->parent_pid, change->pid, change->time_ns));
	else if (change->kind == TASK_EXECED || (change->kind == TASK_ENDED && change->is_process))
		held_maps_end(maps, change->pid, now_ns);
	return NULL;
}
