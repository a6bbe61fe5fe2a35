/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sideband/timed_code.h"

#include <stdlib.h>
#include <sys/stat.h>
#include "base/cleanup.h"
#include "base/cursor.h"
#include "base/io.h"
#include "machine/modules.h"
#include "stored/stored.h"

static struct sp_error *add(struct machine *machine, const struct machine_jitdump *mark,
			    const struct perfmap_timed *timed)
{
	return machine_add_jit(machine, mark, timed->time_ns, timed->start, timed->size,
			       timed->offset);
}

/* Adds the code of a map that the recorder holds. */
static struct sp_error *add_held(const struct process_perfmap *process, struct machine *machine)
{
	CLEANUP(diagnosis_clear) struct diagnosis why = {0};
	const struct perfmap *map = NULL;
	TRY(process_perfmap_open(process, &why, &map));
	size_t count = map ? perfmap_timed_count(map) : 0;
	if (!count)
		return NULL;
	const struct machine_jitdump mark = machine_mark_perf_map(machine, process->pid);
	NEED(mark.module);
	for (size_t i = 0; i < count; i++) {
		const struct perfmap_timed timed = perfmap_timed(map, i);
		TRY(add(machine, &mark, &timed));
	}
	return NULL;
}

/* Adds the code of a module that the recording stores. */
static struct sp_error *add_stored(const struct sideband *sideband, const struct stored_key *key)
{
	CLEANUP_CLOSE int fd = -1;
	CLEANUP_FREE uint8_t *bytes = NULL;
	struct perfmap_timed timed;
	struct stat status;
	size_t size;
	TRY(stored_open_fd(sideband->stored, key, &fd));
	if (fd < 0 || fstat(fd, &status))
		return NULL;
	bytes = malloc((size_t)status.st_size + 1);
	NEED(bytes);
	if (io_pread(fd, bytes, status.st_size, 0, &size))
		return NULL;
	const struct machine_jitdump mark = machine_mark_perf_map(sideband->machine, key->pid);
	NEED(mark.module);
	bool swap = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	struct cursor at = cursor_make(bytes, size, swap, NULL, 0);
	while (perfmap_read_timed(&at, &timed))
		TRY(add(sideband->machine, &mark, &timed));
	return NULL;
}

struct sp_error *timed_code_add(const struct process_perfmap *process,
				const struct sideband *sideband)
{
	const struct held_maps *held_maps = jit_files_held(process->files);
	if (sideband->by_offset)
		return NULL;
	for (size_t i = 0; i < held_maps_count(held_maps); i++) {
		const struct held_map *held = held_maps_get(held_maps, i);
		struct process_perfmap one = *process;
		one.pid = held->pid;
		bool is_last = held_maps_find(held_maps, held->pid) == held;
		if (is_last && held->found && (held->inherited || held->marks.count > 1))
			TRY(add_held(&one, sideband->machine));
	}
	const struct stored_names *names =
		sideband->stored && !held_maps ? stored_names_of(sideband->stored) : NULL;
	for (size_t i = 0; names && i < names->count; i++) {
		const struct stored_module *module = &names->items[i];
		if (module->key.kind == MODULE_JIT && module->file &&
		    modules_is_perf_map(module->key.path))
			TRY(add_stored(sideband, &module->key));
	}
	return NULL;
}
