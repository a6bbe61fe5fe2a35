/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "symbol/kept_names.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/bytes.h"
#include "base/cleanup.h"
#include "machine/modules.h"
#include "proc/kallsyms.h"
#include "stored/stored_files.h"
#include "symbol/jitdump.h"
#include "symbol/process_perfmap.h"

/* Unused names are freed after a number of analyses, and if more modules have some. */
#define UNUSED_ANALYSES 16
#define UNUSED_MAX 256

/* Number of addresses of a module after which its lines are freed, to bound the memory. */
#define KNOWN_MAX ((size_t)1 << 20)

/* Properties that decide which names a module has. */
struct names_key {
	char *path, *symfs;
	uint8_t build_id[20];
	uint8_t build_id_size;
	uint64_t content_size, content_hash;
	bool debuginfod;
};

struct kept_module {
	struct names_key key;
	struct module_names *names;
	uint64_t used; /* sp_names.analyses when it was given back */
};

struct kept_kernel {
	uint8_t build_id[20];
	size_t build_id_size;
	struct kallsyms *kallsyms; /* NULL: none */
};

struct sp_names {
	pthread_mutex_t lock;
	uint64_t analyses; /* number of analyses that ended */
	VEC(struct kept_module) modules;
	struct kept_kernel kernel;
	struct stored_names *store; /* NULL: names are not logged */
	bool store_files;           /* files are stored, too */
	bool store_failed;          /* memory was short for `store` */
	struct u64map denied;       /* hashes of paths that this process may not read */
	struct held_files *held;    /* files that a recorder holds; NULL: none */
	struct held_maps *maps;     /* perf maps that a recorder holds; NULL: none */
	uint64_t jit_memory;
};

static void kept_module_free(struct kept_module *module)
{
	module_names_free(module->names);
	free(module->key.path);
	free(module->key.symfs);
}

struct sp_error *sp_names_new(struct sp_names **ret)
{
	struct sp_names *kept = calloc(1, sizeof(*kept));
	NEED(kept);
	pthread_mutex_init(&kept->lock, NULL);
	*ret = kept;
	return NULL;
}

void sp_names_free(struct sp_names *kept)
{
	if (!kept)
		return;
	vec_each (module, &kept->modules)
		kept_module_free(module);
	vec_deinit(&kept->modules);
	kallsyms_free(kept->kernel.kallsyms);
	u64map_deinit(&kept->denied);
	pthread_mutex_destroy(&kept->lock);
	free(kept);
}

static bool is_proven(const struct module *module)
{
	return module->kind == MODULE_FILE && (module->build_id_size || module->content_size);
}

static bool matches(const struct names_key *key, const struct source_env *env,
		    const struct module *module)
{
	return bytes_equal(key->build_id, key->build_id_size, module->build_id,
			   module->build_id_size) &&
	       key->content_size == module->content_size &&
	       key->content_hash == module->content_hash &&
	       key->debuginfod == binary_places(&env->binary).debuginfod &&
	       !strcmp(key->path, module->path) && !strcmp(key->symfs, env->binary.symfs ?: "");
}

struct module_names *kept_names_take(struct sp_names *kept, const struct source_env *env,
				     const struct module *module)
{
	struct module_names *names = NULL;
	if (!is_proven(module))
		return NULL;
	pthread_mutex_lock(&kept->lock);
	for (size_t i = 0; i < kept->modules.count && !names; i++) {
		struct kept_module *found = &kept->modules.items[i];
		if (!matches(&found->key, env, module))
			continue;
		names = take_ptr(found->names);
		kept_module_free(found);
		*found = kept->modules.items[--kept->modules.count];
	}
	pthread_mutex_unlock(&kept->lock);
	return names;
}

void kept_names_set_store(struct sp_names *kept, struct stored_names *store, bool files)
{
	kept->store = store;
	kept->store_files = files;
}

bool kept_names_are_logged(const struct sp_names *kept)
{
	return kept->store;
}

bool kept_names_stored_all(const struct sp_names *kept)
{
	return !kept->store_failed;
}

size_t kept_names_denied(const struct sp_names *kept)
{
	return kept->denied.count;
}

void kept_names_set_jit_memory(struct sp_names *kept, uint64_t memory)
{
	kept->jit_memory = memory;
}

uint64_t kept_names_jit_memory(const struct sp_names *kept)
{
	return kept->jit_memory;
}

void kept_names_set_held(struct sp_names *kept, struct held_files *held, struct held_maps *maps)
{
	kept->held = held;
	kept->maps = maps;
}

struct held_maps *kept_names_maps(const struct sp_names *kept)
{
	return kept->maps;
}

struct held_files *kept_names_held(const struct sp_names *kept)
{
	return kept->held;
}

static struct sp_error *store_jit(struct sp_names *kept, const struct source_env *env,
				  const struct module *module, struct stored_module *stored)
{
	if (modules_is_perf_map(module->path))
		return perfmap_store_timed(env, module, kept->store, stored);
	const struct jitdump_request request = {
		.ctx = env->ctx,
		.symfs = env->options.symfs,
		.host = env->binary.provenance.host,
		.module = module,
		.pid = module->pid,
		.stored = env->binary.stored,
		.files = env->jit,
	};
	return jitdump_store(&request, kept->store, stored);
}

/* Stores a module's file, unless an earlier analysis did. Only jitdumps need no `store_files`. */
static struct sp_error *store_file(struct sp_names *kept, const struct source_env *env,
				   const struct module *module)
{
	const struct stored_key key = binary_stored_key(module);
	struct stored_module *stored = stored_names_find(kept->store, &key);
	CLEANUP(cleanup_image_free) struct image *image = NULL;
	if (!stored || stored->file)
		return NULL;
	if (module->kind == MODULE_JIT)
		return store_jit(kept, env, module, stored);
	if (module->kind != MODULE_FILE || !kept->store_files)
		return NULL;
	struct binary_env files = env->binary;
	struct sp_error *error = binary_open_code(&files, module, module->pid, &image);
	return error || !image ? error : stored_file_add(kept->store, stored, image);
}

void kept_names_store(struct sp_names *kept, const struct source_env *env, struct module_names *names)
{
	struct sp_error *error = NULL;
	pthread_mutex_lock(&kept->lock);
	bool found = names->log.points.count || names->diagnosis.problem == RESOLVER_TOO_LARGE;
	const struct stored_key key = binary_stored_key(names->module);
	bool good = !found || name_log_store(&names->log, &key, &names->diagnosis,
					     &names->lines_diagnosis, kept->store);
	if (good)
		error = store_file(kept, env, names->module);
	const struct module *module = names->module;
	if (module->kind == MODULE_FILE && !names->opened &&
	    faccessat(AT_FDCWD, module->path, R_OK, AT_EACCESS) && errno == EACCES)
		good &= u64map_put(&kept->denied, hash_bytes(module->path, strlen(module->path)), 0,
				   NULL) != NULL;
	kept->store_failed |= !good || error;
	sp_error_free(error);
	pthread_mutex_unlock(&kept->lock);
	name_log_deinit(&names->log);
}

void kept_names_give(struct sp_names *kept, const struct source_env *env,
		     const struct module *module, struct module_names *names)
{
	struct kept_module made = {
		.key = {
			.path = strdup(module->path),
			.symfs = strdup(env->binary.symfs ?: ""),
			.build_id_size = module->build_id_size,
			.content_size = module->content_size,
			.content_hash = module->content_hash,
			.debuginfod = binary_places(&env->binary).debuginfod,
		},
		.names = names,
	};
	memcpy(made.key.build_id, module->build_id, module->build_id_size);
	struct kept_module *slot = NULL;
	if (is_proven(module) && names->opened && names->source->by_content && made.key.path &&
	    made.key.symfs) {
		/* Frees what a later analysis does not need, or would let the memory grow. */
		if (names->known.frames.count > KNOWN_MAX)
			module_names_drop_lines(names);
		pthread_mutex_lock(&kept->lock);
		made.used = kept->analyses;
		slot = vec_push(&kept->modules);
		if (slot)
			*slot = made;
		pthread_mutex_unlock(&kept->lock);
	}
	if (!slot)
		kept_module_free(&made);
}

struct kallsyms *kept_names_take_kernel(struct sp_names *kept, const struct source_env *env)
{
	struct kept_kernel *kernel = &kept->kernel;
	struct kallsyms *kallsyms = NULL;
	pthread_mutex_lock(&kept->lock);
	if (kernel->kallsyms && bytes_equal(kernel->build_id, kernel->build_id_size,
					    env->options.kernel_build_id,
					    env->options.kernel_build_id_size))
		kallsyms = take_ptr(kernel->kallsyms);
	pthread_mutex_unlock(&kept->lock);
	return kallsyms;
}

void kept_names_give_kernel(struct sp_names *kept, const struct source_env *env,
			    struct kallsyms *kallsyms)
{
	struct kept_kernel made = {
		.build_id_size = env->options.kernel_build_id_size,
		.kallsyms = kallsyms,
	};
	if (!kallsyms || made.build_id_size == 0 || made.build_id_size > sizeof(made.build_id)) {
		kallsyms_free(kallsyms);
		return;
	}
	memcpy(made.build_id, env->options.kernel_build_id, made.build_id_size);
	pthread_mutex_lock(&kept->lock);
	struct kallsyms *before = kept->kernel.kallsyms;
	kept->kernel = made;
	pthread_mutex_unlock(&kept->lock);
	kallsyms_free(before);
}

/* Counts the modules that were last used 1 to `age_max` analyses ago. */
static size_t count_unused(const struct sp_names *kept, uint64_t age_max)
{
	size_t count = 0;
	vec_each (module, &kept->modules) {
		uint64_t age = kept->analyses - module->used;
		count += age && age <= age_max;
	}
	return count;
}

void kept_names_expire(struct sp_names *kept)
{
	pthread_mutex_lock(&kept->lock);
	/* Frees the longest unused ones first, until few enough are left. */
	uint64_t age_max = UNUSED_ANALYSES;
	while (age_max && count_unused(kept, age_max) > UNUSED_MAX)
		age_max--;
	size_t left = 0;
	vec_each (module, &kept->modules) {
		if (kept->analyses - module->used > age_max)
			kept_module_free(module);
		else
			kept->modules.items[left++] = *module;
	}
	kept->modules.count = left;
	kept->analyses++;
	pthread_mutex_unlock(&kept->lock);
}
