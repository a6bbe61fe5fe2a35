/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "script/places.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/vec.h"

struct sp_error *place_sources_init(struct place_sources *shared, const struct sp_file_info *info,
				    const struct machine *machine, struct resolver *resolver,
				    const struct sp_script_options *options)
{
	const struct source_finder finder = source_finder_of(resolver, NULL);
	*shared = (struct place_sources){
		.info = info,
		.inlines = options->inlines != SP_OFF,
		.lines = options->lines,
	};
	bool wanted = shared->inlines || shared->lines;
	return locked_resolver_init(&shared->locked, machine, resolver, wanted ? &finder : NULL);
}

void place_sources_deinit(struct place_sources *shared)
{
	locked_resolver_deinit(&shared->locked);
	line_places_deinit(&shared->sources);
}

bool place_sources_are_needed(struct place_sources *shared)
{
	struct locked_resolver *locked = &shared->locked;
	for (size_t i = 0; i < machine_module_count(locked->machine); i++) {
		const struct module *module = machine_module(locked->machine, i);
		pthread_mutex_t *lock = locked_resolver_lock(locked, module);
		bool found = locked_resolver_has_sources(locked, module, module->pid);
		pthread_mutex_unlock(lock);
		if (found)
			return true;
	}
	return false;
}

/* Returns whether the file header has a build-id of the kernel module: perf then shows its path. */
static bool is_listed(const struct place_sources *shared, const struct module *module)
{
	for (size_t i = 0; i < shared->info->build_id_count; i++)
		if (!strcmp(sp_file_build_id(shared->info, i)->filename, module->path))
			return true;
	return false;
}

/*
 * Returns the dso's name as perf shows it: for JIT code the path of its perf map, else the module's
 * path or name.
 */
static const char *dso_of(struct places *places, const struct module *module)
{
	char path[48];
	if (!module)
		return "[unknown]";
	bool anonymous = module->kind == MODULE_ANONYMOUS && module->path[0] != '[' &&
			 strncmp(module->path, "anon_inode:", 11) &&
			 strncmp(module->path, "/SYSV", 5) &&
			 (module->is_generated || strncmp(module->path, "/dev/zero", 9));
	if (anonymous) {
		int length = snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)module->pid);
		return arena_copy_string(&places->arena, path, length);
	}
	bool listed = module->kind == MODULE_KERNEL_MODULE && is_listed(places->shared, module);
	bool by_path = module->kind == MODULE_FILE || module->kind == MODULE_JIT || listed;
	return by_path ? module->path : module->name;
}

/* Makes the place's frames: functions inlined there, and the function that contains them. */
static bool make_frames(struct places *places, struct place *place, uint64_t shown,
			const struct source_frame *source)
{
	const struct place_sources *shared = places->shared;
	const struct symbol *symbol = place->symbol;
	const struct source_frame *innermost = source;
	size_t count = 1;
	for (const struct source_frame *up = source; up && up->caller && shared->inlines;
	     up = up->caller)
		count++;
	struct sp_place_frame *frames = arena_alloc(&places->arena, count * sizeof(*frames));
	if (!frames)
		return false;
	for (size_t i = 0; i < count; i++) {
		bool last = i + 1 == count;
		const struct source_frame *lined = shared->inlines ? source : innermost;
		frames[i].inlined = !last;
		if (last && (symbol_is_named(symbol) || !source || !source->name)) {
			frames[i].name = symbol ? symbol->name : NULL;
			frames[i].from_cfi = symbol && symbol->from_cfi;
		} else {
			frames[i].name = source->name;
		}
		/* Relative to the shown address, which may be a return address. */
		frames[i].offset = symbol ? shown - symbol->start : shown;
		if (lined && shared->lines) {
			frames[i].file = lined->file;
			frames[i].line = lined->line;
		}
		source = source ? source->caller : NULL;
	}
	place->shown.frames = frames;
	place->shown.frame_count = count;
	return true;
}

/* Adds a location to the places to look up in debug information; false when out of memory. */
static bool collect(struct places *places, const struct location *location)
{
	return vec_append(&places->wanted, (struct line_place){location->module, location->offset,
							       location->pid, 0, NULL});
}

/*
 * Sets ELF address, symbol and frames of a place. While collecting, it gets no symbol, and its
 * location is listed instead. False when out of memory.
 */
static bool look_up(struct places *places, struct place *place, const struct location *location,
		    bool caller)
{
	struct place_sources *shared = places->shared;
	struct locked_resolver *locked = &shared->locked;
	if (location->module) {
		pthread_mutex_t *lock = locked_resolver_lock(locked, location->module);
		bool sourced = locked_resolver_has_sources(locked, location->module, location->pid);
		if (!shared->collecting)
			place->symbol = locked_resolver_symbol(locked, location, caller);
		place->shown.has_elf_address = resolver_vaddr(locked->resolver, location,
							      &place->shown.elf_address);
		place->shown.elf_address += place->shown.ip - location->ip;
		pthread_mutex_unlock(lock);
		if (!place->symbol && resolver_no_memory(locked->resolver))
			return false;
		if (sourced && shared->collecting && !collect(places, location))
			return false;
	}
	const struct line_place *source =
		shared->collecting ? NULL : line_places_at(&shared->sources, location);
	return make_frames(places, place, place->shown.file_offset,
			   source ? source->innermost : NULL);
}

/* Callback of the address cache: makes the place of a new address and returns its number. */
static uint32_t make(void *arg, const struct code_address *address)
{
	struct places *places = arg;
	const struct locked_resolver *locked = &places->shared->locked;
	struct location location =
		resolver_locate(locked->resolver, locked->machine, address);
	struct place *place = arena_alloc(&places->arena, sizeof(*place));
	struct place **item = place ? vec_push(&places->items) : NULL;
	if (!item)
		return ADDRESS_CACHE_FAILED;
	place->module = location.module;
	place->symbol = NULL;
	place->shown = (struct sp_place){
		.ip = address->ip,
		.number = (uint32_t)places->items.count - 1,
		.cpumode = address->cpumode,
		.is_mapped = location.module,
		.dso = dso_of(places, location.module),
		.dso_name = location.module ? location.module->name : "[unknown]",
		.file_offset = location.module ? location.offset + (address->ip - location.ip) :
						 address->ip,
	};
	*item = place;
	bool done = place->shown.dso &&
		    look_up(places, place, &location, location.ip != address->ip);
	return done ? place->shown.number : ADDRESS_CACHE_FAILED;
}

void places_init(struct places *places, struct place_sources *shared)
{
	*places = (struct places){
		.shared = shared,
		.cache = {.machine = shared->locked.machine, .make = make, .arg = places},
	};
}

void places_deinit(struct places *places)
{
	arena_deinit(&places->arena);
	vec_deinit(&places->items);
	address_cache_deinit(&places->cache);
	line_places_deinit(&places->wanted);
}

struct place *places_find(struct places *places, struct code_address address)
{
	uint32_t number = address_cache_find(&places->cache, address);
	return number == ADDRESS_CACHE_FAILED ? NULL : places->items.items[number];
}

DEFINE_GETTER(sp_place_frame, sp_place_frame, sp_place, frames, frame_count)

bool place_sources_read_code(struct place_sources *shared, const struct location *location,
			     void *ret, size_t size, uint16_t *machine_ret)
{
	if (!location->module)
		return false;
	pthread_mutex_t *lock = locked_resolver_lock(&shared->locked, location->module);
	bool read = resolver_read_code(shared->locked.resolver, location, 0, size, ret,
				       machine_ret);
	pthread_mutex_unlock(lock);
	return read;
}

struct sp_error *place_sources_find(struct place_sources *shared, struct places *const *places,
				    size_t count, unsigned int threads)
{
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; places[i] && j < places[i]->wanted.count; j++)
			NEED(vec_append(&shared->sources, places[i]->wanted.items[j]));
	struct sp_error *error =
		line_places_find(&shared->sources, &shared->locked, shared->lines, threads);
	shared->collecting = false;
	return error;
}
