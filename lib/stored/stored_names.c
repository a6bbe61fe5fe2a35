/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stored/stored_names.h"

#include <string.h>
#include "base/bytes.h"

void stored_names_deinit(struct stored_names *names)
{
	vec_each (name, names) {
		vec_deinit(&name->symbols);
		vec_deinit(&name->frames);
		vec_deinit(&name->points);
		vec_deinit(&name->codes);
	}
	vec_deinit(names);
	u64map_deinit(&names->index_of);
	strtab_deinit(&names->texts);
	arena_deinit(&names->code);
	vec_deinit(&names->files);
	free(names->data);
	*names = (struct stored_names){0};
}

static bool same_key(const struct stored_key *a, const struct stored_key *b)
{
	return a->kind == b->kind && a->ino == b->ino && a->maj == b->maj && a->min == b->min &&
	       a->pid == b->pid && !strcmp(a->path, b->path) &&
	       bytes_equal(a->build_id, a->build_id_size, b->build_id, b->build_id_size);
}

static uint64_t hash_of(const struct stored_key *key)
{
	uint64_t hash = hash_pair(hash_bytes(key->path, strlen(key->path)), key->ino);
	hash = hash_pair(hash, hash_bytes(key->build_id, key->build_id_size));
	return hash_pair(hash, (uint64_t)key->pid << 32 | key->kind);
}

struct stored_module *stored_names_find(const struct stored_names *names,
					const struct stored_key *key)
{
	const uint32_t *index = u64map_find(&names->index_of, hash_of(key));
	return index && same_key(&names->items[*index].key, key) ? &names->items[*index] : NULL;
}

bool stored_names_index(struct stored_names *names)
{
	return u64map_put(&names->index_of, hash_of(&vec_last(names)->key),
			  (uint32_t)names->count - 1, NULL);
}

struct stored_module *stored_names_add(struct stored_names *names, const struct stored_key *key)
{
	const char *path = strtab_add(&names->texts, key->path);
	struct stored_module *module = path ? vec_push(names) : NULL;
	if (!module)
		return NULL;
	*module = (struct stored_module){.key = *key};
	module->key.path = path;
	return stored_names_index(names) ? module : NULL;
}

const struct stored_point *stored_module_point(const struct stored_module *module, uint64_t offset)
{
	size_t at = sorted_below(module->points.items, module->points.count, .offset, offset);
	bool found = at < module->points.count && module->points.items[at].offset == offset;
	return found ? &module->points.items[at] : NULL;
}
