/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "symbol/kernel_tables.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/ctx.h"
#include "base/format.h"
#include "base/regular_file.h"
#include "proc/kernel_cache.h"
#include "proc/loaded_modules.h"
#include "proc/sysfs.h"

#define GIVE_ONE "use --vmlinux FILE or --kallsyms FILE of the recorded kernel, or report where it runs"

enum origin {
	ORIGIN_NONE,
	ORIGIN_GIVEN, /* the user gave the file by --kallsyms */
	ORIGIN_KEPT,  /* from the cache, by build-id: the kernel without modules */
	ORIGIN_LIVE,  /* the running kernel, with the recorded build-id */
	ORIGIN_ALIKE, /* the running kernel, with the recorded release */
};

/* A symbol table and its origin. It is searched once and does not change after that. */
struct origin_table {
	bool tried;
	enum origin origin;
	struct kallsyms *kallsyms; /* NULL: none; `diagnosis` has the reason */
	struct diagnosis diagnosis;
};

struct kernel_tables {
	pthread_mutex_t lock;          /* held while a table is searched */
	struct origin_table here;      /* the given table or /proc/kallsyms, which takes 50 ms to read */
	struct origin_table core;      /* cached table of the kernel alone */
	struct kernel_modules modules; /* loaded modules of the running kernel */
};

struct sp_error *kernel_tables_new(struct kernel_tables **ret)
{
	struct kernel_tables *kernel = calloc(1, sizeof(*kernel));
	NEED(kernel);
	pthread_mutex_init(&kernel->lock, NULL);
	*ret = kernel;
	return NULL;
}

void kernel_tables_free(struct kernel_tables *kernel)
{
	if (!kernel)
		return;
	kallsyms_free(kernel->here.kallsyms);
	kallsyms_free(kernel->core.kallsyms);
	diagnosis_clear(&kernel->here.diagnosis);
	diagnosis_clear(&kernel->core.diagnosis);
	kernel_modules_deinit(&kernel->modules);
	pthread_mutex_destroy(&kernel->lock);
	free(kernel);
}

void kernel_tables_set_cached(struct kernel_tables *kernel, struct kallsyms *kallsyms)
{
	kernel->core = (struct origin_table){true, ORIGIN_KEPT, kallsyms, {0}};
}

struct kallsyms *kernel_tables_take_cached(struct kernel_tables *kernel)
{
	return take_ptr(kernel->core.kallsyms);
}

static bool same_release(struct sp_ctx *ctx, const char *osrelease)
{
	CLEANUP_FREE char *here = osrelease ? sysfs_line(ctx, "/proc/sys/kernel/osrelease") : NULL;
	return here && !strcmp(here, osrelease);
}

static enum host host_of(struct sp_ctx *ctx, const struct resolver_options *options)
{
	CLEANUP_FREE char *here =
		options->hostname ? sysfs_line(ctx, "/proc/sys/kernel/hostname") : NULL;
	if (!here)
		return HOST_UNKNOWN;
	return strcmp(here, options->hostname) ? HOST_OTHER : HOST_SAME;
}

/*
 * Compares the recorded kernel with the running one: ORIGIN_LIVE, ORIGIN_ALIKE, or ORIGIN_NONE if they
 * differ.
 */
static enum origin running_kernel(struct sp_ctx *ctx, const struct resolver_options *options)
{
	uint8_t build_id[20];
	size_t size = 0;
	CLEANUP(cleanup_sp_error_free) struct sp_error *error =
		sysfs_kernel_build_id(ctx, build_id, &size);
	if (!error && size > 0 && options->kernel_build_id_size > 0)
		return bytes_equal(build_id, size, options->kernel_build_id,
				   options->kernel_build_id_size)
			       ? ORIGIN_LIVE
			       : ORIGIN_NONE;
	return same_release(ctx, options->osrelease) && host_of(ctx, options) != HOST_OTHER ?
		       ORIGIN_ALIKE : ORIGIN_NONE;
}

struct provenance resolver_provenance(struct sp_ctx *ctx, const struct resolver_options *options)
{
	return (struct provenance){
		.same_kernel = running_kernel(ctx, options) != ORIGIN_NONE,
		.host = host_of(ctx, options),
		.arch = options->arch,
		.until_ns = options->until_ns,
	};
}

/*
 * Stores a table that was read, or the reason why it was not. Frees `error`, except when out of memory.
 */
static struct sp_error *take(struct origin_table *table, struct sp_error *error,
			     struct kallsyms *kallsyms, enum origin origin, const char *remedy)
{
	if (error && sp_error_code(error) == SP_ERROR_NO_MEMORY)
		return error;
	if (error) {
		CLEANUP(cleanup_sp_error_free) struct sp_error *why = error;
		diagnosis_set(&table->diagnosis, RESOLVER_MISSING_FILE, remedy, "%s",
			      sp_error_message(why));
	} else if (kallsyms_hidden(kallsyms)) {
		kallsyms_free(kallsyms);
		diagnosis_set(&table->diagnosis, RESOLVER_KERNEL_HIDDEN, remedy,
			      "every address in kallsyms is 0");
	} else {
		table->kallsyms = kallsyms;
		table->origin = origin;
	}
	return NULL;
}

/* Reads the running kernel's list of modules. */
static struct sp_error *load_modules(struct kernel_tables *kernel, const struct source_env *env)
{
	struct sp_error *error = kernel_modules_read(env->ctx, NULL, &kernel->modules);
	if (error)
		ctx_log(env->ctx, SP_LOG_WARNING, "%s", sp_error_message(error));
	return error_if_no_memory(error);
}

static bool is_given(const struct source_env *env)
{
	return env->options.kallsyms && *env->options.kallsyms;
}

/* Caches a table that took 50 ms to read, for the next report. A write error is not reported. */
static struct sp_error *save_to_cache(const struct source_env *env, const struct kallsyms *kallsyms)
{
	struct sp_error *error = kernel_cache_save_read(env->ctx, kallsyms);
	if (error)
		ctx_log(env->ctx, SP_LOG_DEBUG, "kernel symbols are not kept: %s",
			sp_error_message(error));
	return error_if_no_memory(error);
}

/*
 * Returns the remedy for hidden addresses. The kernel shows them to CAP_SYSLOG at kptr_restrict <=
 * 1, and to others at kptr_restrict 0 and perf_event_paranoid <= 1.
 */
static const char *unhide(const struct sp_ctx *ctx)
{
	int64_t kptr = 0, paranoid = 0;
	sp_error_free(sysfs_read_i64(ctx, "/proc/sys/kernel/kptr_restrict", &kptr));
	sp_error_free(sysfs_read_i64(ctx, "/proc/sys/kernel/perf_event_paranoid", &paranoid));
	if (kptr > 0 && paranoid > 1)
		return "sudo sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1";
	return paranoid > 1 ? "sudo sysctl kernel.perf_event_paranoid=1, or report as root" :
			      "sudo sysctl kernel.kptr_restrict=0";
}

static struct sp_error *load_here(struct kernel_tables *kernel, const struct source_env *env)
{
	struct origin_table *here = &kernel->here;
	struct kallsyms *kallsyms = NULL;
	struct sp_error *error;
	if (is_given(env)) {
		error = kallsyms_read(env->ctx, env->options.kallsyms, &kallsyms);
		return take(here, error, kallsyms, ORIGIN_GIVEN,
			    "copy it as root: sudo cat /proc/kallsyms >FILE");
	}
	enum origin running = running_kernel(env->ctx, &env->options);
	if (running == ORIGIN_NONE) {
		const char *release = env->options.osrelease;
		diagnosis_set(&here->diagnosis, RESOLVER_KERNEL_OTHER, GIVE_ONE,
			      "another kernel%s%s%s was recorded",
			      release ? " (" : "", release ?: "", release ? ")" : "");
		return NULL;
	}
	error = kallsyms_read(env->ctx, NULL, &kallsyms);
	error = take(here, error, kallsyms, running, unhide(env->ctx));
	if (!error && here->kallsyms)
		error = save_to_cache(env, here->kallsyms);
	return error ?: load_modules(kernel, env);
}

/*
 * Reads ~/.debug/.build-id/1f/2e…/kallsyms if the file belongs to root or this user: with `sudo -E`,
 * HOME may be another user's.
 */
static struct sp_error *load_perf_cache(struct origin_table *core, const struct source_env *env)
{
	const uint8_t *id = env->options.kernel_build_id;
	size_t size = env->options.kernel_build_id_size;
	char hex[2 * 20 + 1];
	if (!env->binary.build_id_cache || size < 2 || size > 20)
		return NULL;
	bytes_to_hex(id, size, hex);
	CLEANUP_FREE char *path = format_text("%s/.build-id/%.2s/%s/kallsyms",
					      env->binary.build_id_cache, hex, hex + 2);
	NEED(path);
	struct kallsyms *kallsyms = NULL;
	struct stat status;
	CLEANUP_CLOSE int fd = -1;
	struct sp_error *error = regular_file_open(NULL, path, 0, &fd, &status);
	if (!error && status.st_uid != 0 && status.st_uid != geteuid())
		return NULL;
	if (!error)
		error = kallsyms_read_fd(fd, path, &kallsyms);
	return take(core, error, kallsyms, ORIGIN_KEPT, NULL);
}

static struct sp_error *load_core(struct origin_table *core, const struct source_env *env)
{
	struct kallsyms *kallsyms = NULL;
	TRY(kernel_cache_load(env->ctx, KERNEL_CACHE_KERNEL, env->options.kernel_build_id,
			      env->options.kernel_build_id_size, &kallsyms));
	if (kallsyms)
		TRY(take(core, NULL, kallsyms, ORIGIN_KEPT, NULL));
	if (!core->kallsyms)
		TRY(load_perf_cache(core, env));
	return NULL;
}

/* Returns the table that includes modules: the given or live one. */
static struct sp_error *get_here(struct kernel_tables *kernel, const struct source_env *env,
				 struct origin_table **ret)
{
	*ret = &kernel->here;
	if (kernel->here.tried)
		return NULL;
	kernel->here.tried = true;
	return load_here(kernel, env);
}

/* Returns the table for the kernel itself: the given, cached or live one. */
static struct sp_error *get_core(struct kernel_tables *kernel, const struct source_env *env,
				 struct origin_table **ret)
{
	*ret = &kernel->core;
	if (!kernel->core.tried && !is_given(env)) {
		kernel->core.tried = true;
		TRY(load_core(&kernel->core, env));
	}
	return kernel->core.kallsyms ? NULL : get_here(kernel, env, ret);
}

/*
 * Computes the recorded address minus the table's address of the reference symbol (KASLR). False if the
 * table or the recording lacks that symbol.
 */
static bool measure_shift(const struct kallsyms *kallsyms, const struct module *module,
			  uint64_t *ret)
{
	struct kallsyms_symbol symbol;
	if (!module->reference_symbol || module->reference == 0 ||
	    !kallsyms_find_name(kallsyms, module->reference_symbol, &symbol))
		return false;
	*ret = module->reference - symbol.address;
	return true;
}

static void find_core(const struct origin_table *table, const struct module *module,
		      struct diagnosis *diagnosis, struct kernel_symbols *ret)
{
	uint64_t shift = 0;
	bool measured = measure_shift(table->kallsyms, module, &shift);
	if (table->origin == ORIGIN_ALIKE && (!measured || shift != 0)) {
		diagnosis_set(diagnosis, RESOLVER_KERNEL_OTHER, GIVE_ONE,
			      "the kernel was restarted and may be another build: the recording "
			      "has no kernel build-id");
		return;
	}
	/* The kernel may have been restarted at another address (KASLR). */
	if (!measured && table->origin != ORIGIN_GIVEN) {
		diagnosis_set(diagnosis, RESOLVER_KERNEL_OTHER, GIVE_ONE,
			      "the recording has no kernel address (KASLR)");
		return;
	}
	ret->kallsyms = table->kallsyms;
	ret->shift = shift;
}

/* Returns the loaded module of that name if it is certainly the recorded one, or NULL. */
static const struct kernel_module *find_loaded(const struct kernel_tables *kernel,
					       const struct module *module, const char *name)
{
	vec_each (live, &kernel->modules) {
		if (strcmp(live->name, name) || live->start == 0)
			continue;
		bool same = module->build_id_size && live->build_id_size ?
				    bytes_equal(module->build_id, module->build_id_size,
						live->build_id, live->build_id_size) :
				    kernel->here.origin == ORIGIN_LIVE ||
					    live->start == module->start;
		return same ? live : NULL;
	}
	return NULL;
}

static void find_module(const struct source_env *env, const struct module *module,
			const char *name, struct diagnosis *diagnosis, struct kernel_symbols *ret)
{
	const struct kernel_tables *kernel = env->kernel;
	const struct module *recorded = env->options.kernel;
	const struct kernel_module *live = find_loaded(kernel, module, name);
	uint64_t moved = 0;
	if (!live && kernel->here.origin != ORIGIN_GIVEN) {
		diagnosis_set(diagnosis, RESOLVER_KERNEL_OTHER, GIVE_ONE,
			      "kernel module %s is not loaded here", name);
		return;
	}
	/* A copy of kallsyms does not state where modules begin: it must be of that boot. */
	if (!live && recorded && measure_shift(kernel->here.kallsyms, recorded, &moved) && moved) {
		diagnosis_set(diagnosis, RESOLVER_KERNEL_OTHER,
			      "use a copy of /proc/kallsyms of the recorded boot",
			      "%s is of another boot: kernel modules were elsewhere",
			      env->options.kallsyms);
		return;
	}
	ret->kallsyms = kernel->here.kallsyms;
	ret->within = name;
	ret->shift = live ? module->start - live->start : 0;
}

/*
 * Reads a module's cached symbols. The cache has them per module, so the kernel's table is not needed.
 */
static struct sp_error *find_kept_module(const struct source_env *env, const struct module *module,
					 struct kernel_symbols *ret)
{
	struct sp_error *error = kernel_cache_load(env->ctx, KERNEL_CACHE_MODULE, module->build_id,
						   module->build_id_size, &ret->owned);
	ret->kallsyms = ret->owned;
	ret->shift = module->start - KERNEL_CACHE_MODULE_BASE;
	return error;
}

struct sp_error *kernel_symbols_find(const struct source_env *env, const struct module *module,
				     const char *name, struct diagnosis *diagnosis,
				     struct kernel_symbols *ret)
{
	struct kernel_tables *kernel = env->kernel;
	struct sp_error *error = NULL;
	struct origin_table *table;
	bool is_core = module->kind == MODULE_KERNEL;
	*ret = (struct kernel_symbols){0};
	if (!is_core && !is_given(env)) {
		error = find_kept_module(env, module, ret);
		if (error || ret->kallsyms)
			return error;
	}
	pthread_mutex_lock(&kernel->lock);
	error = (is_core ? get_core : get_here)(kernel, env, &table);
	pthread_mutex_unlock(&kernel->lock);
	if (error)
		return error;
	if (!table->kallsyms)
		diagnosis_set(diagnosis, table->diagnosis.problem, table->diagnosis.remedy, "%s",
			      table->diagnosis.text ?: "out of memory");
	else if (is_core)
		find_core(table, module, diagnosis, ret);
	else
		find_module(env, module, name, diagnosis, ret);
	return NULL;
}
