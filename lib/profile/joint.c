/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Joins the rows of several events that have equal keys. */
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "profile/profile.h"
#include "profile/ratio.h"

/* A row of several events: its tally in each event, TALLY_NONE if the event has none. */
struct joint {
	uint32_t first; /* the first event that has this row */
	uint32_t *tallies;
};

struct joining {
	const struct profile_source *sources;
	size_t events;
	VEC(struct joint);
	struct index_set index_of;
	struct arena *arena;
};

static uint64_t identity(const struct profile_source *source, const struct tally *tally)
{
	const struct group *group = &source->groups[tally->group];
	uint64_t hash = hash_pair((uintptr_t)group->comm, tally->function);
	hash = hash_pair(hash, key_of_pair(group->pid, group->tid));
	hash = hash_pair(hash, (uint32_t)group->cpu);
	for (size_t i = 0; i < source->values.count; i++)
		hash = hash_pair(hash, details_words(source->details, group->detail)[i]);
	return hash;
}

static bool is_same(const struct profile_source *x, const struct tally *a,
		    const struct profile_source *y, const struct tally *b)
{
	const struct group *f = &x->groups[a->group], *g = &y->groups[b->group];
	size_t width = x->values.count;
	if (a->function != b->function || f->comm != g->comm || f->pid != g->pid ||
	    f->tid != g->tid || f->cpu != g->cpu)
		return false;
	return !width || !memcmp(details_words(x->details, f->detail),
				 details_words(y->details, g->detail), width * sizeof(uint64_t));
}

static const struct tally *tally_of(const struct joining *joining, const struct joint *joint,
				    size_t event)
{
	uint32_t index = joint->tallies[event];
	return index == TALLY_NONE ? NULL : &joining->sources[event].tallies->items[index];
}

/* Returns the joint row with a tally's keys, added if new; NULL when out of memory. */
static struct joint *joint_of(struct joining *joining, uint32_t event, const struct tally *tally)
{
	const struct profile_source *source = &joining->sources[event];
	if (!index_set_reserve(&joining->index_of))
		return NULL;
	struct index_probe probe = index_set_probe(&joining->index_of, identity(source, tally));
	for (uint32_t i; index_set_next(&joining->index_of, &probe, &i);) {
		struct joint *joint = &joining->items[i];
		if (is_same(&joining->sources[joint->first],
			    tally_of(joining, joint, joint->first), source, tally))
			return joint;
	}
	struct joint *joint = vec_push(joining);
	size_t size = joining->events * sizeof(*joint->tallies);
	uint32_t *tallies = joint ? arena_alloc(joining->arena, size) : NULL;
	if (!tallies)
		return NULL;
	memset(tallies, 0xff, size); /* TALLY_NONE */
	*joint = (struct joint){event, tallies};
	index_set_add(&joining->index_of, &probe, joint - joining->items);
	return joint;
}

static bool join(struct joining *joining)
{
	for (uint32_t event = 0; event < joining->events; event++) {
		const struct profile_source *source = &joining->sources[event];
		for (uint32_t i = 0; i < source->tallies->count; i++) {
			const struct tally *tally = &source->tallies->items[i];
			if (!profile_has_row(source, tally))
				continue;
			struct joint *joint = joint_of(joining, event, tally);
			if (!joint)
				return false;
			joint->tallies[event] = i;
		}
	}
	return true;
}

static struct sp_ratio ratio_of(const struct joining *joining, const struct joint *joint,
				const struct sp_ratio_kind *kind, bool total)
{
	static const struct replicate_sums none;
	const struct replicate_sums *sums[2] = {&none, &none};
	size_t events[2] = {kind->numerator, kind->denominator};
	for (int i = 0; i < 2; i++)
		if (joint->tallies[events[i]] != TALLY_NONE)
			sums[i] = &joining->sources[events[i]]
					   .replicates[joint->tallies[events[i]]];
	struct sp_ratio ratio = total ? ratio_estimate(sums[0]->total, sums[1]->total)
				      : ratio_estimate(sums[0]->self, sums[1]->self);
	return kind->percent ? ratio_limit(ratio) : ratio;
}

static bool make_ratios(const struct joining *joining, const struct joint *joint,
			const struct sp_group *group, struct sp_joint_row *row)
{
	size_t size = group->ratio_count * sizeof(struct sp_ratio);
	struct sp_ratio *self = arena_alloc(joining->arena, size + 1);
	struct sp_ratio *total = arena_alloc(joining->arena, size + 1);
	if (!self || !total)
		return false;
	for (size_t i = 0; i < group->ratio_count; i++) {
		self[i] = ratio_of(joining, joint, sp_group_ratio(group, i), false);
		total[i] = self[i];
		if (joining->sources->children)
			total[i] = ratio_of(joining, joint, sp_group_ratio(group, i), true);
	}
	row->ratios = self;
	row->total_ratios = total;
	return true;
}

static bool make_row(const struct joining *joining, const struct joint *joint,
		     const struct sp_group *group, struct sp_joint_row *row)
{
	struct sp_weight *self = arena_alloc(joining->arena, joining->events * sizeof(*self));
	struct sp_weight *total = arena_alloc(joining->arena, joining->events * sizeof(*total));
	const struct tally *first = tally_of(joining, joint, joint->first);
	const char *comm = joining->sources[joint->first].groups[first->group].comm;
	struct sp_row *keys = arena_alloc(joining->arena, sizeof(*keys));
	if (!self || !total || !keys)
		return false;
	for (size_t i = 0; i < joining->events; i++) {
		static const struct tally none;
		const struct tally *tally = tally_of(joining, joint, i);
		profile_weigh(&joining->sources[i], comm, tally ?: &none, &self[i], &total[i]);
	}
	row->self = self;
	row->total = total;
	keys->self = self[joint->first];
	keys->total = total[joint->first];
	if (!profile_name_row(&joining->sources[joint->first], first, joining->arena, keys))
		return false;
	keys->self = self[0];
	keys->total = total[0];
	row->row = keys;
	return make_ratios(joining, joint, group, row);
}

/* A row and the context of its comparison, because qsort() passes none. */
struct ranked_row {
	struct sp_joint_row row;
	const struct joining *joining;
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked_row *x = a, *y = b;
	const struct joining *joining = x->joining;
	bool by_total = joining->sources->children && !joining->sources->order_by_self;
	int order = 0;
	for (size_t i = 0; !order && i < joining->events; i++)
		order = by_total ? profile_compare_weights(&x->row.total[i], &y->row.total[i])
				 : profile_compare_weights(&x->row.self[i], &y->row.self[i]);
	for (size_t i = 0; !order && i < joining->events; i++)
		order = profile_compare_weights(&x->row.self[i], &y->row.self[i]);
	return order ? order : profile_compare_names(x->row.row, y->row.row);
}

/*
 * Sets the group's rows, heaviest first: by the first event, then by the next ones, then by name.
 * They are in the arena. Returns false when out of memory.
 */
static bool make_rows(struct joining *joining, struct sp_group *group)
{
	struct sp_joint_row *rows = arena_alloc(joining->arena,
						joining->count * sizeof(*rows) + 1);
	CLEANUP_FREE struct ranked_row *ranked = calloc(joining->count + 1, sizeof(*ranked));
	if (!rows || !ranked)
		return false;
	for (size_t i = 0; i < joining->count; i++) {
		ranked[i].joining = joining;
		if (!make_row(joining, &joining->items[i], group, &ranked[i].row))
			return false;
	}
	qsort(ranked, joining->count, sizeof(*ranked), compare_ranked);
	for (size_t i = 0; i < joining->count; i++)
		rows[i] = ranked[i].row;
	group->rows = rows;
	group->row_count = joining->count;
	return true;
}

bool profile_join(const struct profile_source *sources, size_t count, struct arena *arena,
		  struct sp_group *group)
{
	struct joining joining = {.sources = sources, .events = count, .arena = arena};
	bool done = join(&joining) && make_rows(&joining, group);
	vec_deinit(&joining);
	index_set_deinit(&joining.index_of);
	return done;
}
