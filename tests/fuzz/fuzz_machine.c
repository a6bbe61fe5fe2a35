/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mappings of processes over time: a byte (bit 0: of a 32-bit machine), then side-band records as
 * they are in a file, with {pid, tid, time, cpu, id} after each. They go into a machine, and into
 * live address spaces. Both are queried for the edges of mappings, at the times of the records.
 * Their answers must equal those of a simple model: lists of mappings, replayed up to that time.
 * If the model has none, they may know a mapping that the process made later (it changed no ip's
 * meaning).
 * Processes outside the recorder's PID namespace have no mappings.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "base/cleanup.h"
#include "base/cursor.h"
#include "base/vec.h"
#include "fuzz.h"
#include "machine/live.h"
#include "machine/machine.h"
#include "machine/modules.h"
#include "record/decode.h"
#include "record/types.h"

#define RECORDS_MAX 200
#define QUERIES_MAX 4000

#define PROT_JIT_SYMFILE_MAP 0x4000 /* simpleperf's */

#define need(condition) ((condition) ? (void)0 : abort())

static const uint64_t ids[] = {1};
static const struct sp_event events[] = {
	{.name = "event", .ids = ids, .id_count = 1,
	 .attr = {.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
				 PERF_SAMPLE_IDENTIFIER,
		  .sample_id_all = 1}},
};

enum model_kind { MODEL_MAP, MODEL_START, MODEL_FORK };

struct model_event {
	enum model_kind kind;
	uint64_t time_ns;
	size_t sequence;
	uint32_t pid, parent;
	uint64_t start, last, file_offset; /* MAP only; `last` is inclusive */
	char *filename;
	bool is_guest;  /* set by perf inject -B, never by the kernel */
	bool is_memory; /* without a file */
	bool is_jit;    /* simpleperf's flag for JIT code with names by ip */
};

/* Events, by index, that made a process's mappings; later ones are on top. */
struct model_space {
	uint32_t pid;
	VEC(size_t) maps;
};

struct model {
	struct { VEC(struct model_event); } events;
	struct { VEC(struct model_space); } spaces;
	bool has_exit;
};

static void model_reset(struct model *model)
{
	for (size_t i = 0; i < model->spaces.count; i++)
		vec_deinit(&model->spaces.items[i].maps);
	model->spaces.count = 0;
}

static void model_deinit(struct model *model)
{
	model_reset(model);
	for (size_t i = 0; i < model->events.count; i++)
		free(model->events.items[i].filename);
	vec_deinit(&model->events);
	vec_deinit(&model->spaces);
}

static struct model_space *space_of(struct model *model, uint32_t pid)
{
	for (size_t i = 0; i < model->spaces.count; i++)
		if (model->spaces.items[i].pid == pid)
			return &model->spaces.items[i];
	struct model_space *space = vec_push(&model->spaces);
	need(space);
	*space = (struct model_space){.pid = pid};
	return space;
}

static bool is_memory(const struct sp_mmap *mmap)
{
	struct modules modules = {0};
	const struct module *module = modules_add_user(&modules, mmap, false);
	need(module);
	bool ret = modules_may_be_jit(module);
	modules_deinit(&modules);
	return ret;
}

static void model_add(struct model *model, const struct sp_record *record)
{
	struct model_event event = {.time_ns = record->id.time_ns,
				    .sequence = model->events.count};
	uint16_t cpumode = record->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	const struct sp_mmap *mmap = &record->mmap;
	model->has_exit |= record->type == PERF_RECORD_EXIT;
	if (record->type == PERF_RECORD_MMAP || record->type == PERF_RECORD_MMAP2) {
		if (!mmap->size || modules_is_outside(mmap->pid) ||
		    cpumode == PERF_RECORD_MISC_KERNEL || cpumode == PERF_RECORD_MISC_GUEST_KERNEL)
			return;
		event.is_guest = cpumode == PERF_RECORD_MISC_GUEST_USER;
		event.kind = MODEL_MAP;
		event.pid = mmap->pid;
		event.start = mmap->start;
		/* The end of all addresses belongs to nothing. */
		if (__builtin_add_overflow(mmap->start, mmap->size - 1, &event.last) ||
		    event.last == UINT64_MAX)
			event.last = UINT64_MAX - 1;
		if (event.last < event.start)
			return;
		event.file_offset = mmap->file_offset;
		event.is_memory = is_memory(mmap);
		event.is_jit = mmap->prot & PROT_JIT_SYMFILE_MAP;
		event.filename = strdup(mmap->filename);
		need(event.filename);
	} else if (record->type == PERF_RECORD_COMM &&
		   record->misc & PERF_RECORD_MISC_COMM_EXEC) {
		event.kind = MODEL_START;
		event.pid = record->comm.pid;
	} else if (record->type == PERF_RECORD_FORK && record->task.pid != record->task.ppid &&
		   !modules_is_outside(record->task.pid)) {
		event.kind = record->misc & PERF_RECORD_MISC_FORK_EXEC ? MODEL_START : MODEL_FORK;
		event.pid = record->task.pid;
		event.parent = record->task.ppid;
		if (!(record->id.present & PERF_SAMPLE_TIME))
			event.time_ns = record->task.time_ns;
	} else {
		return;
	}
	struct model_event *slot = vec_push(&model->events);
	need(slot);
	*slot = event;
}

static int by_time(const void *a, const void *b)
{
	const struct model_event *x = a, *y = b;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

static void model_apply(struct model *model, size_t index)
{
	const struct model_event *event = &model->events.items[index];
	struct model_space *space = space_of(model, event->pid);
	if (event->kind == MODEL_MAP) {
		size_t *slot = vec_push(&space->maps);
		need(slot);
		*slot = index;
		return;
	}
	space->maps.count = 0;
	if (event->kind != MODEL_FORK || event->parent == event->pid)
		return;
	struct model_space *parent = space_of(model, event->parent);
	space = space_of(model, event->pid); /* it may have moved */
	need(vec_reserve(&space->maps, parent->maps.count + 1));
	for (size_t i = 0; i < parent->maps.count; i++)
		*vec_push(&space->maps) = parent->maps.items[i];
}

static bool holds(const struct model_event *map, uint64_t ip)
{
	return ip >= map->start && ip <= map->last;
}

static const struct model_event *model_find(struct model *model, uint32_t pid, uint64_t ip,
					    bool guests)
{
	const struct model_space *space = space_of(model, pid);
	for (size_t i = space->maps.count; i-- > 0;)
		if (holds(&model->events.items[space->maps.items[i]], ip) &&
		    (guests || !model->events.items[space->maps.items[i]].is_guest))
			return &model->events.items[space->maps.items[i]];
	return NULL;
}

/* Whether an ip leads there by that mapping. */
static bool leads(const struct model_event *map, const struct location *location)
{
	const struct module *module = location->module;
	bool is_vdso = module->kind == MODULE_VDSO;
	if (!holds(map, location->ip) ||
	    (is_vdso ? !strstr(map->filename, "[vdso") : strcmp(module->path, map->filename) != 0))
		return false;
	if ((map->is_jit || modules_is_memory(module)) && location->offset == location->ip)
		return true;
	return location->offset == location->ip - map->start + (is_vdso ? 0 : map->file_offset);
}

/* Whether a file's code stays at an ip in memory without a file: a program may move its code. */
static bool is_moved(struct model *model, const struct model_event *memory,
		     const struct location *location, uint32_t pid)
{
	const struct model_space *space = space_of(model, pid);
	if (!memory->is_memory || location->module->kind != MODULE_FILE)
		return false;
	for (size_t i = 0; i < space->maps.count; i++)
		if (leads(&model->events.items[space->maps.items[i]], location))
			return true;
	return false;
}

static void check_user(struct model *model, const struct location *location, uint32_t pid,
		       uint64_t time_ns, bool guests)
{
	const struct model_event *wanted = model_find(model, pid, location->ip, guests);
	if (wanted) {
		need(location->module &&
		     (leads(wanted, location) ||
		      (guests && is_moved(model, wanted, location, pid))));
		return;
	}
	bool found = !location->module;
	for (size_t i = 0; i < model->events.count && !found; i++)
		found = model->events.items[i].kind == MODEL_MAP &&
			model->events.items[i].pid == pid &&
			model->events.items[i].time_ns > time_ns &&
			(guests || !model->events.items[i].is_guest) &&
			leads(&model->events.items[i], location);
	need(found);
}

static void check_kernel(const struct machine *machine, uint32_t view, uint16_t cpumode,
			 uint64_t ip)
{
	struct location location = machine_locate(machine, view, cpumode, ip);
	if (!location.module)
		return;
	need(location.module->start <= ip && ip <= location.module->end);
	need(location.offset == ip || location.module->kind == MODULE_FILE || location.module->start);
	need(machine_module(machine, location.module->index) == location.module);
}

static void ask(struct model *model, const struct machine *machine, struct live *live,
		uint32_t pid, uint64_t time_ns, uint64_t ip)
{
	struct machine_span span = machine_span(machine, pid, pid, time_ns);
	need(span.from_ns <= time_ns && (time_ns < span.until_ns || span.until_ns == UINT64_MAX));
	need(span.view < machine_view_count(machine));
	need(span.view == machine_view(machine, pid, time_ns));
	struct location location = machine_locate(machine, span.view, PERF_RECORD_MISC_USER, ip);
	uint32_t user = machine_view_of_mode(machine, span.view, PERF_RECORD_MISC_USER);
	struct location again = machine_locate(machine, user, PERF_RECORD_MISC_USER, ip);
	need(location.module == again.module && location.offset == again.offset);
	need(!location.module ||
	     machine_module(machine, location.module->index) == location.module);
	check_user(model, &location, pid, time_ns, true);
	check_kernel(machine, span.view, PERF_RECORD_MISC_KERNEL, ip);
	check_kernel(machine, span.view, PERF_RECORD_MISC_GUEST_KERNEL, ip);
	/* Ended processes are not known while recording. */
	location = live_locate(live, live_view(live, pid, time_ns), ip);
	if (!model->has_exit)
		check_user(model, &location, pid, time_ns, false);
}

/* All processes, at the edges of all mappings, each time that something has happened. */
static void ask_all(struct model *model, const struct machine *machine, struct live *live)
{
	size_t count = model->events.count, queries = 0;
	const struct model_event *all = model->events.items;
	for (size_t now = 0; now < count; now++) {
		model_apply(model, now);
		if (now + 1 < count && all[now + 1].time_ns == all[now].time_ns)
			continue;
		for (size_t i = 0; i < count && queries < QUERIES_MAX; i++) {
			const struct model_event *map = &all[i];
			if (map->kind != MODEL_MAP)
				continue;
			const uint64_t ips[] = {map->start, map->last, map->last + 1, map->start - 1,
						map->start + (map->last - map->start) / 2};
			for (size_t j = 0; j < 5; j++, queries++)
				if (ips[j] != UINT64_MAX)
					ask(model, machine, live, all[(i + j) % count].pid,
					    all[now].time_ns, ips[j]);
		}
	}
}

static void add_all(struct model *model, struct machine *machine, struct live *live,
		    struct cursor *cursor)
{
	CLEANUP(cleanup_decoder_free) struct decoder *decoder = NULL;
	struct record_layout layout = {events, 1, false, "input"};
	need(!decoder_new(&layout, &decoder));
	uint32_t type;
	uint16_t misc, size;
	for (size_t i = 0; i < RECORDS_MAX && cursor_left(cursor) >= 8; i++) {
		struct cursor at = *cursor;
		struct sp_record record;
		if (!cursor_u32(&at, &type) || !cursor_u16(&at, &misc) || !cursor_u16(&at, &size))
			return;
		if (size < 8 || size > cursor_left(cursor))
			return;
		struct raw_record raw = {.type = type, .misc = misc, .size = size,
					 .bytes = cursor->pos, .offset = cursor_offset(cursor)};
		cursor->pos += size;
		struct sp_error *error = decoder_decode(decoder, &raw, &record);
		if (error) {
			sp_error_free(error);
			continue;
		}
		need(!machine_add(machine, &record));
		need(!live_add(live, &record));
		model_add(model, &record);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct model model = {0};
	struct machine *machine;
	struct live *live;
	struct cursor cursor = cursor_make(data, size, false, "input", 0);
	uint8_t flags;
	if (!cursor_u8(&cursor, &flags))
		return 0;
	need(!machine_new(&machine));
	need(!live_new(!(flags & 1), &live));
	machine_set_arch(machine, flags & 1 ? "armv7l" : "x86_64");
	add_all(&model, machine, live, &cursor);
	need(!machine_seal(machine));
	need(!live_apply(live));
	if (model.events.count)
		qsort(model.events.items, model.events.count, sizeof(*model.events.items), by_time);
	ask_all(&model, machine, live);
	if (model.events.count) {
		const struct model_event *middle = &model.events.items[model.events.count / 2];
		need(!live_expire(live, middle->time_ns));
		live_locate(live, live_view(live, middle->pid, UINT64_MAX), middle->start);
	}
	live_free(live);
	machine_free(machine);
	model_deinit(&model);
	return 0;
}
