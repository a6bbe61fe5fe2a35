/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "script/places.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"

struct sp_error *atlas_init(struct atlas *atlas, const struct sp_file_info *info,
			    const struct machine *machine, struct resolver *resolver,
			    const struct sp_script_options *options)
{
	*atlas = (struct atlas){
		.machine = machine,
		.info = info,
		.resolver = resolver,
		.inlines = options->inlines != SP_OFF,
		.lines = options->lines,
	};
	for (size_t i = 0; i < PLACE_LOCKS; i++)
		pthread_mutex_init(&atlas->locks[i], NULL);
	atlas->has_sources = calloc(machine_module_count(machine) + 1, 1);
	return atlas->has_sources ? NULL : error_no_memory();
}

void atlas_deinit(struct atlas *atlas)
{
	if (!atlas->machine)
		return;
	for (size_t i = 0; i < PLACE_LOCKS; i++)
		pthread_mutex_destroy(&atlas->locks[i]);
	free(atlas->has_sources);
	vec_deinit(&atlas->sources);
}

static pthread_mutex_t *lock_of(struct atlas *atlas, const struct module *module)
{
	return &atlas->locks[module->index % PLACE_LOCKS];
}

/* Under the module's lock. */
static bool has_sources(struct atlas *atlas, const struct module *module, uint32_t pid)
{
	uint8_t *known = &atlas->has_sources[module->index];
	if (!atlas->inlines && !atlas->lines)
		return false;
	if (!*known)
		*known = 1 + resolver_has_sources(atlas->resolver, module, pid);
	return *known == 2;
}

bool atlas_needs_sources(struct atlas *atlas)
{
	for (size_t i = 0; i < machine_module_count(atlas->machine); i++) {
		const struct module *module = machine_module(atlas->machine, i);
		pthread_mutex_t *lock = lock_of(atlas, module);
		pthread_mutex_lock(lock);
		bool found = has_sources(atlas, module, module->pid);
		pthread_mutex_unlock(lock);
		if (found)
			return true;
	}
	return false;
}

void places_free(struct places *places)
{
	arena_deinit(&places->arena);
	vec_deinit(&places->items);
	ip_maps_deinit(&places->maps);
	vec_deinit(&places->wanted);
}

static int compare_sourced(const void *a, const void *b)
{
	const struct sourced *x = a, *y = b;
	return u64_order(x->module->index, y->module->index) ?: u64_order(x->offset, y->offset);
}

static const struct source_frame *source_at(const struct atlas *atlas,
					    const struct location *location)
{
	const struct sourced key = {.module = location->module, .offset = location->offset};
	if (!location->module || !atlas->sources.count)
		return NULL;
	const struct sourced *found = bsearch(&key, atlas->sources.items, atlas->sources.count,
					      sizeof(key), compare_sourced);
	return found ? found->innermost : NULL;
}

/* Whether the header has the build-id of a kernel's module: then perf has it by its path. */
static bool is_listed(const struct atlas *atlas, const struct module *module)
{
	for (size_t i = 0; i < atlas->info->build_id_count; i++)
		if (!strcmp(atlas->info->build_ids[i].filename, module->path))
			return true;
	return false;
}

/* perf has JIT code in the file that may name it, and all else by its path. */
static const char *dso_of(struct places *places, const struct module *module)
{
	char path[48];
	if (!module)
		return "[unknown]";
	bool anonymous = module->kind == MODULE_ANONYMOUS && module->path[0] != '[' &&
			 strncmp(module->path, "anon_inode:", 11) &&
			 strncmp(module->path, "/SYSV", 5);
	if (anonymous) {
		int length = snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)module->pid);
		return arena_copy_string(&places->arena, path, (size_t)length);
	}
	bool listed = module->kind == MODULE_KERNEL_MODULE && is_listed(places->atlas, module);
	bool by_path = module->kind == MODULE_FILE || module->kind == MODULE_JIT || listed;
	return by_path ? module->path : module->name;
}

/* The functions at a place: those inlined there, and the symbol's. */
static bool make_frames(struct places *places, struct place *place, uint64_t shown,
			const struct source_frame *source)
{
	const struct atlas *atlas = places->atlas;
	const struct symbol *symbol = place->symbol;
	const struct source_frame *innermost = source;
	size_t count = 1;
	for (const struct source_frame *up = source; up && up->caller && atlas->inlines;
	     up = up->caller)
		count++;
	struct sp_place_frame *frames = arena_alloc(&places->arena, count * sizeof(*frames));
	if (!frames)
		return false;
	for (size_t i = 0; i < count; i++) {
		bool last = i + 1 == count;
		const struct source_frame *lined = atlas->inlines ? source : innermost;
		frames[i].inlined = !last;
		if (last && (symbol_is_named(symbol) || !source || !source->name)) {
			frames[i].name = symbol ? symbol->name : NULL;
			frames[i].from_cfi = symbol && symbol->from_cfi;
		} else {
			frames[i].name = source->name;
		}
		/* Relative to the shown address, which may be a return address. */
		frames[i].offset = symbol ? shown - symbol->start : shown;
		if (lined && atlas->lines) {
			frames[i].file = lined->file;
			frames[i].line = lined->line;
		}
		source = source ? source->caller : NULL;
	}
	place->shown.frames = frames;
	place->shown.frame_count = count;
	return true;
}

/* Names what is at a location; false when out of memory. */
static bool look_up(struct places *places, struct place *place, const struct location *location,
		    bool caller)
{
	struct atlas *atlas = places->atlas;
	const struct module *module = location->module;
	if (module) {
		pthread_mutex_t *lock = lock_of(atlas, module);
		pthread_mutex_lock(lock);
		bool sourced = has_sources(atlas, module, location->pid);
		if (!atlas->collecting)
			place->symbol = caller ? resolver_find_caller(atlas->resolver, location) :
						 resolver_find(atlas->resolver, location);
		pthread_mutex_unlock(lock);
		if (!place->symbol && resolver_no_memory(atlas->resolver))
			return false;
		struct sourced *wanted = sourced && atlas->collecting ? vec_push(&places->wanted) :
									NULL;
		if (sourced && atlas->collecting && !wanted)
			return false;
		if (wanted)
			*wanted = (struct sourced){module, location->offset, location->pid, NULL};
	}
	return make_frames(places, place, place->shown.address, source_at(atlas, location));
}

static struct place *make(struct places *places, uint32_t view, uint16_t cpumode, uint64_t ip,
			  bool caller)
{
	const struct atlas *atlas = places->atlas;
	struct location location =
		resolver_locate(atlas->resolver, atlas->machine, view, cpumode, ip, caller);
	struct place *place = arena_alloc(&places->arena, sizeof(*place));
	struct place **item = place ? vec_push(&places->items) : NULL;
	if (!item)
		return NULL;
	place->module = location.module;
	place->shown = (struct sp_place){
		.ip = ip,
		.number = (uint32_t)places->items.count - 1,
		.cpumode = cpumode,
		.is_mapped = location.module,
		.dso = dso_of(places, location.module),
		.dso_name = location.module ? location.module->name : "[unknown]",
		.address = location.module ? location.offset + (ip - location.ip) : ip,
	};
	*item = place;
	if (!place->shown.dso || !look_up(places, place, &location, location.ip != ip))
		return NULL;
	return place;
}

struct place *places_find(struct places *places, uint32_t view, uint16_t cpumode, uint64_t ip,
			  bool caller)
{
	struct u64map *map = ip_maps_find(&places->maps, places->atlas->machine, view, cpumode, caller);
	if (!map)
		return NULL;
	const uint32_t *known = u64map_find(map, ip);
	if (known)
		return places->items.items[*known];
	struct place *place = make(places, view, cpumode, ip, caller);
	if (!place || !u64map_put(map, ip, place->shown.number, NULL))
		return NULL;
	return place;
}

bool places_code(struct places *places, uint32_t view, uint16_t cpumode, uint64_t ip, size_t size,
		 void *ret, uint16_t *machine_ret)
{
	struct atlas *atlas = places->atlas;
	struct location location = machine_locate(atlas->machine, view, cpumode, ip);
	if (!location.module)
		return false;
	pthread_mutex_t *lock = lock_of(atlas, location.module);
	pthread_mutex_lock(lock);
	bool read = resolver_read_code(atlas->resolver, &location, 0, size, ret, machine_ret);
	pthread_mutex_unlock(lock);
	return read;
}

/* The places [begin, end) of one module. */
static struct sp_error *ask_module(struct atlas *atlas, size_t begin, size_t end,
				   unsigned int threads)
{
	struct sourced *items = atlas->sources.items + begin;
	size_t count = end - begin;
	CLEANUP_FREE uint64_t *offsets = malloc(count * sizeof(*offsets));
	CLEANUP_FREE const struct source_frame **found = calloc(count, sizeof(*found));
	if (!offsets || !found)
		return error_no_memory();
	for (size_t i = 0; i < count; i++)
		offsets[i] = items[i].offset;
	struct source_frames frames = {.items = found, .lines = atlas->lines};
	struct sp_error *error = resolver_sources(atlas->resolver, items->module, items->pid,
						  offsets, count, threads, &frames);
	for (size_t i = 0; !error && i < count; i++)
		items[i].innermost = found[i];
	return error;
}

struct sp_error *atlas_ask(struct atlas *atlas, struct places *places, size_t count,
			   unsigned int threads)
{
	size_t kept = 0;
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < places[i].wanted.count; j++) {
			struct sourced *sourced = vec_push(&atlas->sources);
			if (!sourced)
				return error_no_memory();
			*sourced = places[i].wanted.items[j];
		}
	}
	struct sourced *items = atlas->sources.items;
	if (atlas->sources.count)
		qsort(items, atlas->sources.count, sizeof(*items), compare_sourced);
	for (size_t i = 0; i < atlas->sources.count; i++)
		if (!kept || compare_sourced(&items[kept - 1], &items[i]))
			items[kept++] = items[i];
	atlas->sources.count = kept;
	struct sp_error *error = NULL;
	for (size_t begin = 0, end; !error && begin < kept; begin = end) {
		for (end = begin + 1; end < kept && items[end].module == items[begin].module;)
			end++;
		error = ask_module(atlas, begin, end, threads);
	}
	atlas->collecting = false;
	return error;
}
