/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "symbol/line_places.h"

#include <stdlib.h>
#include "base/cleanup.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/parallel.h"

void line_places_deinit(struct line_places *places)
{
	vec_deinit(places);
	free(places->first_source);
	*places = (struct line_places){0};
}

static int compare_places(const void *a, const void *b)
{
	const struct line_place *x = a, *y = b;
	return u64_order(x->module->index, y->module->index) ?: u64_order(x->offset, y->offset);
}

const struct line_place *line_places_at(const struct line_places *places,
					const struct location *location)
{
	const struct line_place key = {.module = location->module, .offset = location->offset};
	if (!location->module || !places->count)
		return NULL;
	return bsearch(&key, places->items, places->count, sizeof(key), compare_places);
}

/* The places of one module, looked up in one call. */
struct module_lookup {
	struct line_place *places;
	size_t count;
	size_t distinct; /* number of distinct frames that were found */
	unsigned int threads;
	struct sp_error *error;
};

struct source_lookup {
	const struct source_finder *finder;
	bool lines;
	VEC(struct module_lookup);
	size_t next; /* index of the next batch to look up; atomic */
};

static struct sp_error *look_up(const struct source_lookup *lookup, struct module_lookup *batch)
{
	struct line_place *places = batch->places;
	CLEANUP_FREE uint64_t *offsets = malloc(batch->count * sizeof(*offsets));
	CLEANUP_FREE const struct source_frame **items = calloc(batch->count, sizeof(*items));
	struct source_frames found = {.items = items, .lines = lookup->lines};
	struct source_query query = {.module = places->module, .pid = places->pid, .offsets = offsets,
				     .threads = batch->threads};
	NEED(offsets && items);
	for (size_t i = 0; i < batch->count; i++)
		if (!i || places[i].offset != places[i - 1].offset)
			offsets[query.count++] = places[i].offset;
	TRY(lookup->finder->find(lookup->finder->arg, &query, &found));
	if (lookup->finder->ctx)
		ctx_add_done(lookup->finder->ctx, query.count);
	for (size_t i = 0, at = 0; i < batch->count; i++) {
		at += i && places[i].offset != places[i - 1].offset;
		places[i].innermost = items[at];
	}
	batch->distinct = found.distinct;
	return NULL;
}

static void look_up_some(void *arg, unsigned int hand)
{
	struct source_lookup *lookup = arg;
	(void)hand;
	while (true) {
		size_t next = __atomic_fetch_add(&lookup->next, 1, __ATOMIC_RELAXED);
		if (next >= lookup->count)
			return;
		lookup->items[next].error = look_up(lookup, &lookup->items[next]);
	}
}

static int compare_batches(const void *a, const void *b)
{
	const struct module_lookup *x = a, *y = b;
	return u64_order(y->count, x->count);
}

/*
 * Looks up the largest module first. Each gets threads by its share of the places, rounded up: a
 * surplus thread costs less than an idle CPU.
 */
static void look_up_all(struct source_lookup *lookup, size_t places, unsigned int threads)
{
	if (!lookup->count)
		return;
	vec_sort(lookup, compare_batches);
	vec_each (item, lookup)
		item->threads = (threads * item->count + places - 1) / places;
	parallel_run(lookup->count < threads ? (unsigned int)lookup->count : threads, look_up_some,
		     lookup);
}

static bool make_batches(struct source_lookup *lookup, struct line_places *places)
{
	for (size_t i = 0; i < places->count; i++) {
		struct line_place *place = &places->items[i];
		if (!i || place->module != place[-1].module)
			if (!vec_append(lookup, (struct module_lookup){.places = place}))
				return false;
		vec_last(lookup)->count++;
	}
	return true;
}

struct sp_error *line_places_find(struct line_places *places, const struct locked_resolver *locked,
				  bool lines, unsigned int threads)
{
	struct source_lookup lookup = {.finder = &locked->finder, .lines = lines};
	struct sp_error *error = NULL;
	places->first_source = calloc(machine_module_count(locked->machine) + 1,
				      sizeof(*places->first_source));
	NEED(places->first_source);
	vec_sort(places, compare_places);
	if (make_batches(&lookup, places))
		look_up_all(&lookup, places->count, threads);
	else
		error = error_no_memory();
	vec_each (batch, &lookup) {
		places->first_source[batch->places->module->index] = places->source_count;
		places->source_count += batch->distinct;
		error = error_first(error, batch->error);
	}
	vec_deinit(&lookup);
	return error;
}
