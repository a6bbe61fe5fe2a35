/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "symbolizer/code_names.h"

#include <sprof/analysis.h>
#include "base/error.h"

/*
 * Number of modules with debug information that stays open: small calls need not inflate it again.
 */
#define OPEN_LINES_MAX 64

struct sp_error *code_names_init(struct code_names *names, struct sp_ctx *ctx,
				 const struct resolver_options *options)
{
	*names = (struct code_names){.ctx = ctx, .modules = {.is_64bit = sizeof(void *) == 8}};
	pthread_mutex_init(&names->lock, NULL);
	for (size_t i = 0; i < CODE_NAMES_LOCKS; i++)
		pthread_mutex_init(&names->locks[i], NULL);
	struct resolver_options own = *options;
	TRY(sp_names_new(&names->found));
	own.names = names->found;
	own.open_lines_max = OPEN_LINES_MAX;
	return resolver_new(ctx, &own, &names->resolver);
}

void code_names_deinit(struct code_names *names)
{
	if (!names->ctx)
		return;
	resolver_free(names->resolver);
	sp_names_free(names->found);
	modules_deinit(&names->modules);
	vec_deinit(&names->has_lines);
	for (size_t i = 0; i < CODE_NAMES_LOCKS; i++)
		pthread_mutex_destroy(&names->locks[i]);
	pthread_mutex_destroy(&names->lock);
	*names = (struct code_names){0};
}

/* Adds the module, and room for its state. False when out of memory. */
static bool add(struct code_names *names, enum code_kind kind, const struct sp_mmap *mmap,
		struct module **ret)
{
	switch (kind) {
	case CODE_USER:
		*ret = modules_add_user(&names->modules, mmap, true);
		break;
	case CODE_JITDUMP:
		if (!modules_add_jit(&names->modules, mmap, ret))
			return false;
		if (!*ret)
			return true;
		break;
	case CODE_KERNEL:
		*ret = modules_add_kernel(&names->modules, mmap, false);
		break;
	}
	while (*ret && names->has_lines.count <= (*ret)->index)
		if (!vec_append(&names->has_lines, 0))
			return false;
	return *ret;
}

struct sp_error *code_names_add(struct code_names *names, enum code_kind kind,
				const struct sp_mmap *mmap, const struct module **ret,
				struct mapping *mapping_ret)
{
	struct module *module = NULL;
	pthread_mutex_lock(&names->lock);
	bool added = add(names, kind, mmap, &module);
	pthread_mutex_unlock(&names->lock);
	NEED(added);
	if (module)
		*mapping_ret = modules_mapping(module, mmap);
	*ret = module;
	return NULL;
}

pthread_mutex_t *code_names_lock(struct code_names *names, const struct module *module)
{
	pthread_mutex_t *lock = &names->locks[module->index % CODE_NAMES_LOCKS];
	pthread_mutex_lock(lock);
	return lock;
}

static uint8_t known_lines(struct code_names *names, const struct module *module)
{
	pthread_mutex_lock(&names->lock);
	uint8_t known = names->has_lines.items[module->index];
	pthread_mutex_unlock(&names->lock);
	return known;
}

struct sp_error *code_names_sources(struct code_names *names, const struct source_query *query,
				    struct source_frames *ret)
{
	const struct module *module = query->module;
	uint8_t known = known_lines(names, module);
	if (known == 1)
		return NULL;
	if (!known) {
		known = resolver_has_sources(names->resolver, module, query->pid) ? 2 : 1;
		pthread_mutex_lock(&names->lock);
		names->has_lines.items[module->index] = known;
		pthread_mutex_unlock(&names->lock);
	}
	/* Without debug information, the first call makes the resolver note the cause. */
	return resolver_sources(names->resolver, query, ret);
}
