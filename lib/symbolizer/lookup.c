/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "symbolizer/lookup.h"

#include <stdlib.h>
#include "base/cleanup.h"
#include "base/parallel.h"

void lookup_deinit(struct lookup *lookup)
{
	vec_each (group, &lookup->groups) {
		diagnosis_clear(&group->symbols);
		diagnosis_clear(&group->lines);
	}
	vec_deinit(&lookup->groups);
	vec_deinit(&lookup->places);
}

static int compare_places(const void *a, const void *b)
{
	const struct lookup_place *x = a, *y = b;
	return u64_order((uintptr_t)x->at.names, (uintptr_t)y->at.names) ?:
	       u64_order(x->at.location.module->index, y->at.location.module->index) ?:
	       u64_order(x->at.location.offset, y->at.location.offset);
}

/* Returns whether the place's offset is that of the place before. */
static bool is_repeated(const struct lookup_group *group, size_t i)
{
	return i && group->places[i].at.location.offset == group->places[i - 1].at.location.offset;
}

/* Finds symbols; the module is locked. */
static struct sp_error *find_symbols(struct lookup_group *group)
{
	struct resolver *resolver = group->places->at.names->resolver;
	for (size_t i = 0; i < group->count; i++) {
		struct lookup_place *place = &group->places[i];
		if (is_repeated(group, i)) {
			place->symbol = place[-1].symbol;
			place->vaddr = place[-1].vaddr;
			continue;
		}
		place->symbol = resolver_find(resolver, &place->at.location);
		if (!place->symbol && resolver_no_memory(resolver))
			return error_no_memory();
		if (!resolver_vaddr(resolver, &place->at.location, &place->vaddr))
			place->vaddr = UINT64_MAX;
	}
	return NULL;
}

/* Finds functions and lines in debug information; the module is locked. */
static struct sp_error *find_sources(const struct lookup *lookup, struct lookup_group *group)
{
	const struct space_place *first = &group->places->at;
	CLEANUP_FREE uint64_t *offsets = malloc(group->count * sizeof(*offsets));
	CLEANUP_FREE const struct source_frame **items = calloc(group->count, sizeof(*items));
	struct source_frames found = {.items = items, .lines = lookup->symbolizer->lines};
	struct source_query query = {.module = first->location.module, .pid = first->location.pid,
				     .offsets = offsets, .threads = group->threads};
	NEED(offsets && items);
	for (size_t i = 0; i < group->count; i++)
		if (!is_repeated(group, i))
			offsets[query.count++] = group->places[i].at.location.offset;
	struct sp_error *error = code_names_sources(first->names, &query, &found);
	for (size_t i = 0, at = 0; i < group->count && !error; i++) {
		at += i && !is_repeated(group, i);
		group->places[i].source = items[at];
	}
	return error;
}

/* Copies the causes of what is missing; the module is locked. */
static void copy_problems(struct lookup_group *group)
{
	const struct space_place *first = &group->places->at;
	const char *text, *remedy;
	unsigned int problem =
		resolver_problem(first->names->resolver, first->location.module, &text, &remedy);
	if (problem != RESOLVER_OK && text)
		diagnosis_set(&group->symbols, problem, remedy, "%s", text);
	problem = resolver_sources_problem(first->names->resolver, first->location.module, &text,
					   &remedy);
	if (problem != RESOLVER_OK && text)
		diagnosis_set(&group->lines, problem, remedy, "%s", text);
}

static void symbolize_some(void *arg, unsigned int hand)
{
	struct lookup *lookup = arg;
	(void)hand;
	while (true) {
		size_t next = __atomic_fetch_add(&lookup->next, 1, __ATOMIC_RELAXED);
		if (next >= lookup->groups.count)
			return;
		struct lookup_group *group = &lookup->groups.items[next];
		const struct space_place *first = &group->places->at;
		pthread_mutex_t *lock = code_names_lock(first->names, first->location.module);
		struct sp_error *error = find_symbols(group);
		if (!error && (lookup->symbolizer->inlines || lookup->symbolizer->lines))
			error = find_sources(lookup, group);
		if (!error)
			copy_problems(group);
		pthread_mutex_unlock(lock);
		lookup->groups.items[next].error = error;
	}
}

static bool make_groups(struct lookup *lookup)
{
	const struct lookup_place *before = NULL;
	vec_each (place, &lookup->places) {
		bool same = before && before->at.names == place->at.names &&
			    before->at.location.module == place->at.location.module;
		struct lookup_group *group = same ? vec_last(&lookup->groups) : vec_push(&lookup->groups);
		if (!group)
			return false;
		if (!same)
			*group = (struct lookup_group){.places = place};
		group->count++;
		before = place;
	}
	return true;
}

static int compare_groups(const void *a, const void *b)
{
	const struct lookup_group *x = a, *y = b;
	return u64_order(y->count, x->count);
}

struct sp_error *lookup_run(struct lookup *lookup)
{
	size_t count = lookup->places.count, threads = lookup->symbolizer->threads;
	struct sp_error *error = NULL;
	if (!count)
		return NULL;
	qsort(lookup->places.items, count, sizeof(*lookup->places.items), compare_places);
	NEED(make_groups(lookup));
	/* The largest group is first. Threads are given by the share of places, rounded up. */
	struct lookup_group *groups = lookup->groups.items;
	qsort(groups, lookup->groups.count, sizeof(*groups), compare_groups);
	for (size_t i = 0; i < lookup->groups.count; i++)
		groups[i].threads = (threads * groups[i].count + count - 1) / count;
	parallel_run((unsigned int)(lookup->groups.count < threads ? lookup->groups.count : threads),
		     symbolize_some, lookup);
	for (size_t i = 0; i < lookup->groups.count; i++)
		error = error_first(error, groups[i].error);
	return error;
}
