/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aggregate/source_lookup.h"

#include <stdlib.h>
#include "base/cleanup.h"
#include "base/parallel.h"

void source_places_deinit(struct source_places *places)
{
	vec_deinit(places);
	free(places->first_source);
	*places = (struct source_places){0};
}

static int compare_places(const void *a, const void *b)
{
	const struct source_place *x = a, *y = b;
	return u64_order(x->module, y->module) ?: u64_order(x->offset, y->offset);
}

/* The places of one module. */
struct batch {
	struct source_place *places;
	size_t count;
	size_t distinct; /* frames of sources that were found */
	unsigned int threads;
	struct sp_error *error;
};

struct source_lookup {
	const struct names *names;
	bool lines;
	VEC(struct batch);
	size_t next; /* atomic */
};

static struct sp_error *look_up(const struct source_lookup *lookup, struct batch *batch)
{
	const struct names *names = lookup->names;
	const struct name_sources *sources = &names->sources;
	struct source_place *places = batch->places;
	const struct frame *first = &names->frames.items[places->frame];
	CLEANUP_FREE uint64_t *offsets = malloc(batch->count * sizeof(*offsets));
	CLEANUP_FREE const struct source_frame **items = calloc(batch->count, sizeof(*items));
	struct source_frames found = {.items = items, .lines = lookup->lines};
	size_t distinct = 0;
	if (!offsets || !items)
		return error_no_memory();
	for (size_t i = 0; i < batch->count; i++)
		if (!i || places[i].offset != places[i - 1].offset)
			offsets[distinct++] = places[i].offset;
	struct sp_error *error = sources->find(sources->arg, first->module, first->pid, offsets,
					       distinct, batch->threads, &found);
	for (size_t i = 0, at = 0; !error && i < batch->count; i++) {
		at += i && places[i].offset != places[i - 1].offset;
		places[i].innermost = items[at];
	}
	batch->distinct = found.distinct;
	return error;
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
	const struct batch *x = a, *y = b;
	return u64_order(y->count, x->count);
}

/*
 * The largest module first, and with most of the threads: by its share of the places, rounded
 * up, since a thread too many costs less than a processor that has nothing to do.
 */
static void look_up_all(struct source_lookup *lookup, size_t places, unsigned int threads)
{
	if (!lookup->count)
		return;
	qsort(lookup->items, lookup->count, sizeof(*lookup->items), compare_batches);
	for (size_t i = 0; i < lookup->count; i++)
		lookup->items[i].threads =
			(unsigned int)((threads * lookup->items[i].count + places - 1) / places);
	parallel_run(lookup->count < threads ? (unsigned int)lookup->count : threads, look_up_some,
		     lookup);
}

static bool make_batches(struct source_lookup *lookup, struct source_places *places)
{
	for (size_t i = 0; i < places->count; i++) {
		struct source_place *place = &places->items[i];
		if (!i || place->module != place[-1].module) {
			struct batch *batch = vec_push(lookup);
			if (!batch)
				return false;
			*batch = (struct batch){.places = place};
		}
		vec_last(lookup)->count++;
	}
	return true;
}

static bool list_places(struct source_places *places, const struct names *names)
{
	places->first_source = calloc(machine_module_count(names->machine) + 1,
				      sizeof(*places->first_source));
	if (!places->first_source)
		return false;
	for (uint32_t i = 0; i < names->frames.count; i++) {
		const struct frame *frame = &names->frames.items[i];
		struct source_place *place = frame->sourced ? vec_push(places) : NULL;
		if (frame->sourced && !place)
			return false;
		if (place)
			*place = (struct source_place){frame->module->index, i, frame->offset, NULL};
	}
	if (places->count)
		qsort(places->items, places->count, sizeof(*places->items), compare_places);
	return true;
}

struct sp_error *source_places_find(struct source_places *places, const struct names *names,
				    bool lines, unsigned int threads)
{
	struct source_lookup lookup = {.names = names, .lines = lines};
	struct sp_error *error = NULL;
	if (list_places(places, names) && make_batches(&lookup, places))
		look_up_all(&lookup, places->count, threads);
	else
		error = error_no_memory();
	for (size_t i = 0; i < lookup.count; i++) {
		struct batch *batch = &lookup.items[i];
		places->first_source[batch->places->module] = places->source_count;
		places->source_count += batch->distinct;
		error = error_first(error, batch->error);
	}
	vec_deinit(&lookup);
	return error;
}
