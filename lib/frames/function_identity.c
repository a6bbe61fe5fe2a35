/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "frames/function_identity.h"

#include <string.h>

void identities_deinit(struct identities *identities)
{
	vec_deinit(identities);
	u64map_deinit(&identities->by_file);
	u64map_deinit(&identities->by_start);
}

static uint32_t root_of(struct identities *identities, uint32_t index)
{
	struct identity *items = identities->items;
	while (items[index].parent != index) {
		items[index].parent = items[items[index].parent].parent;
		index = items[index].parent;
	}
	return index;
}

/*
 * Returns the index of the function that has this key. A new key gets a new function. Returns
 * UINT32_MAX when out of memory.
 */
static uint32_t body_at(struct identities *identities, struct u64map *map, uint64_t key)
{
	bool added;
	if (!vec_reserve(identities, identities->count + 1))
		return UINT32_MAX;
	uint32_t *index = u64map_put(map, key, identities->count, &added);
	if (!index)
		return UINT32_MAX;
	if (added)
		*vec_push(identities) = (struct identity){.parent = *index, .start = UINT64_MAX};
	return root_of(identities, *index);
}

/* Returns the lesser text; NULL is greater than all others. */
static const char *lesser(const char *a, const char *b)
{
	return a == b || !b ? a : !a || strcmp(b, a) < 0 ? b : a;
}

/*
 * Merges the facts of two pieces. The names are those of the piece with code, or else the lesser
 * ones, so that they do not depend on the order of pieces.
 */
static void merge(struct identity *into, const struct identity *from)
{
	bool code = into->start != UINT64_MAX, other = from->start != UINT64_MAX;
	bool better = !into->name;
	if (!better && into->raw != from->raw)
		better = code != other ? other :
			 !into->raw || (from->raw && strcmp(from->raw, into->raw) < 0);
	if (better) {
		into->dso = from->dso;
		into->name = from->name;
		into->raw = from->raw;
	}
	into->object = lesser(into->object, from->object);
	into->home = lesser(into->home, from->home);
	if (!into->declared || (from->declared && from->declared < into->declared))
		into->declared = from->declared;
	if (from->start < into->start)
		into->start = from->start;
}

uint32_t identities_add(struct identities *identities, const struct function_piece *piece)
{
	uint32_t index = UINT32_MAX;
	/* Inlined code has no address: its name identifies it, even without a file. */
	if (piece->file || piece->start == UINT64_MAX) {
		uint64_t key = hash_pair(piece->code, (uintptr_t)piece->source);
		key = hash_pair(key, piece->declared);
		key = hash_pair(key, (uintptr_t)piece->file);
		index = body_at(identities, &identities->by_file, key);
		if (index == UINT32_MAX)
			return UINT32_MAX;
	}
	if (piece->start != UINT64_MAX) {
		/*
		 * Code without a symbol has other addresses. Generated code and rows of time
		 * without a stack have none.
		 */
		uint64_t name = piece->raw && piece->start ? 0 : (uintptr_t)piece->name;
		uint32_t other = body_at(identities, &identities->by_start,
					 hash_pair(hash_pair(piece->code, name), piece->start));
		if (other == UINT32_MAX)
			return UINT32_MAX;
		if (index != UINT32_MAX && index != other) {
			merge(&identities->items[index], &identities->items[other]);
			identities->items[other].parent = index;
		}
		index = index == UINT32_MAX ? other : index;
	}
	merge(&identities->items[index], &(struct identity){
		.declared = piece->declared,
		.dso = piece->dso,
		.name = piece->name,
		.raw = piece->raw,
		.object = piece->object,
		.home = piece->file,
		.start = piece->start,
	});
	return index;
}

static uint64_t name_hash(const struct identity *identity)
{
	return hash_pair((uintptr_t)identity->dso, (uintptr_t)identity->raw);
}

static const char *without_folders(const char *file)
{
	const char *slash = file ? strrchr(file, '/') : NULL;
	return slash ? slash + 1 : file;
}

const char *identity_file(const struct identity *identity)
{
	bool whole = !identity->object || (identity->home && !strcmp(identity->object,
					   without_folders(identity->home)));
	return whole ? identity->home : identity->object;
}

/*
 * Returns the hash of a name and the function's file, without folders: symbol tables do not have
 * them, and those of another build may differ. 0 without a file.
 */
static uint64_t file_hash(const struct identity *identity)
{
	const char *file = without_folders(identity->object ?: identity->home);
	return file ? hash_pair(name_hash(identity), hash_bytes(file, strlen(file))) : 0;
}

/* Returns whether an identity represents one of several functions of its name. */
static bool is_several(const struct identities *identities, uint32_t index,
		       const struct u64map *several)
{
	const struct identity *identity = &identities->items[index];
	return several->count && identity->parent == index && identity->raw &&
	       u64map_find(several, name_hash(identity));
}

bool identities_place(struct identities *identities, struct u64map *several)
{
	struct u64map names = {0}, files = {0};
	bool done = u64map_reserve(&names, identities->count), added;
	for (uint32_t i = 0; i < identities->count && done; i++) {
		const struct identity *identity = &identities->items[i];
		if (identity->parent != i || !identity->raw)
			continue;
		done = u64map_put(&names, name_hash(identity), 0, &added) &&
		       (added || u64map_put(several, name_hash(identity), 0, NULL));
	}
	for (uint32_t i = 0; i < identities->count && done; i++) {
		const struct identity *identity = &identities->items[i];
		uint32_t *count = is_several(identities, i, several) ?
					  u64map_put(&files, file_hash(identity), 0, NULL) : NULL;
		if (count)
			++*count;
	}
	for (uint32_t i = 0; i < identities->count && done; i++) {
		struct identity *identity = &identities->items[i];
		if (!is_several(identities, i, several))
			continue;
		uint64_t file = file_hash(identity);
		const uint32_t *count = u64map_find(&files, file);
		uint64_t declared = hash_pair((uintptr_t)identity->home, identity->declared);
		uint64_t at = identity->start == UINT64_MAX ? declared : identity->start;
		done = count;
		identity->place = file && done && *count == 1 ? file : hash_pair(1, at);
	}
	u64map_deinit(&names);
	u64map_deinit(&files);
	return done;
}

const struct identity *identities_find(struct identities *identities, uint32_t index)
{
	return &identities->items[root_of(identities, index)];
}
