/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "frames/namesakes.h"

#include <stdlib.h>
#include "base/cleanup.h"
#include "base/error.h"
#include "frames/generated.h"
#include "symbol/module_namesakes.h"

struct namesake_search {
	const struct names *names;
	const struct line_places *places;
	VEC(struct namesake_query) modules;
	uint32_t *number_of;   /* by module: index in `modules` + 1; 0: none */
	struct u64map symbols; /* addresses of the frames' symbols */
};

static void search_deinit(struct namesake_search *search)
{
	vec_each (module, &search->modules)
		namesake_query_deinit(module);
	vec_deinit(&search->modules);
	free(search->number_of);
	u64map_deinit(&search->symbols);
}

/* Adds the name of a function at a frame. Returns false when out of memory. */
static bool add_name(struct namesake_search *search, const struct frame *frame, const char *name,
		     const char *raw_name)
{
	uint32_t *number = &search->number_of[frame->module->index];
	if (!*number) {
		struct namesake_query *query = vec_push(&search->modules);
		if (!query)
			return false;
		*query = (struct namesake_query){.module = frame->module, .pid = frame->pid,
						 .sourced = frame->sourced,
						 .symbols = &search->symbols};
		*number = search->modules.count;
	}
	return namesake_query_add(&search->modules.items[*number - 1], name, raw_name);
}

/* Adds the names of symbols, each once. */
static bool add_symbols(struct namesake_search *search)
{
	const struct names *names = search->names;
	const struct symbol *last = NULL;
	vec_each (frame, &names->frames) {
		bool added;
		if (frame->symbol == last || !frame->module || !symbol_is_named(frame->symbol) ||
		    generated_has(frame))
			continue;
		last = frame->symbol;
		if (!u64map_put(&search->symbols, (uintptr_t)last, 0, &added) ||
		    (added && !add_name(search, frame, last->name, last->raw_name)))
			return false;
	}
	return true;
}

/* Adds the names of functions of debug information, each once. */
static bool add_sources(struct namesake_search *search, const struct line_places *places)
{
	CLEANUP_FREE bool *is_added = calloc(places->source_count + 1, sizeof(*is_added));
	for (size_t i = 0; i < places->count && is_added; i++) {
		const struct line_place *place = &places->items[i];
		const struct source_frame *source = place->innermost;
		for (; source; source = source->caller) {
			size_t number = line_places_number(places, place->module, source);
			if (is_added[number])
				break;
			is_added[number] = true;
			if (source->raw_name &&
			    !add_name(search, &search->names->frames.items[place->number],
				      source->name, source->raw_name))
				return false;
		}
	}
	return is_added;
}

/* Returns whether the samples have the function, or the functions at the place. */
static bool is_sampled(struct namesake_search *search, const struct namesake *namesake,
		       const struct location *location, bool *good)
{
	bool added = true;
	if (!namesake->symbol)
		return line_places_at(search->places, location);
	*good &= u64map_put(&search->symbols, (uintptr_t)namesake->symbol, 0, &added) != NULL;
	return !added;
}

/* Adds functions, unless they have samples. Returns false when out of memory. */
static bool add_namesake(struct namesake_search *search, const struct namesake_query *query,
			 const struct namesake *namesake, struct frame_namesakes *ret)
{
	const struct location location = {.module = query->module, .offset = namesake->offset,
					  .ip = namesake->offset, .pid = query->pid};
	bool good = true, by_source = query->sourced && (!namesake->symbol || namesake->same_raw);
	if (is_sampled(search, namesake, &location, &good))
		return true;
	struct frame *frame = vec_push(ret);
	struct line_place *place = frame && by_source ? vec_push(&ret->places) : NULL;
	if (!good || !frame || (by_source && !place))
		return false;
	/* The search for the symbol adds it to the stored names, too. */
	*frame = (struct frame){
		.module = query->module, .sourced = query->sourced,
		.cpumode = PERF_RECORD_MISC_USER,
		.symbol = resolver_find(search->names->locked.resolver, &location),
	};
	if (place)
		*place = (struct line_place){query->module, namesake->offset, query->pid,
					     (uint32_t)ret->count - 1, NULL};
	return true;
}

static struct sp_error *search_module(struct namesake_search *search, struct namesake_query *query,
				      struct frame_namesakes *ret)
{
	CLEANUP(namesakes_deinit) struct namesakes found = {0};
	TRY(resolver_list_namesakes(search->names->locked.resolver, query, &found));
	vec_each (item, &found)
		NEED(add_namesake(search, query, item, ret));
	return NULL;
}

struct sp_error *frame_namesakes_find(const struct names *names, const struct line_places *places,
				      bool lines, unsigned int threads, struct frame_namesakes *ret)
{
	CLEANUP(search_deinit) struct namesake_search search = {.names = names, .places = places};
	const struct machine *machine = names->locked.machine;
	search.number_of = calloc(machine_module_count(machine) + 1, sizeof(*search.number_of));
	NEED(search.number_of && add_symbols(&search) && add_sources(&search, places));
	for (size_t i = 0; i < search.modules.count; i++)
		TRY(search_module(&search, &search.modules.items[i], ret));
	return line_places_find(&ret->places, &names->locked, lines, threads);
}

void frame_namesakes_deinit(struct frame_namesakes *namesakes)
{
	vec_deinit(namesakes);
	line_places_deinit(&namesakes->places);
}
