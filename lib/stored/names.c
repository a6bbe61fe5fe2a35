/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stored/names.h"

#include <string.h>
#include "base/bytes.h"

static void module_deinit(struct stored_module *module)
{
	vec_deinit(&module->symbols);
	vec_deinit(&module->frames);
	vec_deinit(&module->points);
	vec_deinit(&module->codes);
}

void stored_names_deinit(struct stored_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		module_deinit(&names->items[i]);
	vec_deinit(names);
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

struct stored_module *stored_names_find(const struct stored_names *names,
					const struct stored_key *key)
{
	for (size_t i = 0; i < names->count; i++)
		if (same_key(&names->items[i].key, key))
			return &names->items[i];
	return NULL;
}

struct stored_module *stored_names_add(struct stored_names *names, const struct stored_key *key)
{
	const char *path = strtab_add(&names->texts, key->path);
	struct stored_module *module = path ? vec_push(names) : NULL;
	if (!module)
		return NULL;
	*module = (struct stored_module){.key = *key};
	module->key.path = path;
	return module;
}

const struct stored_point *stored_module_point(const struct stored_module *module, uint64_t offset)
{
	size_t at = sorted_below(module->points.items, module->points.count, .offset, offset);
	bool found = at < module->points.count && module->points.items[at].offset == offset;
	return found ? &module->points.items[at] : NULL;
}
