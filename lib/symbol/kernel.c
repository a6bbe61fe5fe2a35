/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "symbol/kernel.h"

#include <pthread.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/ctx.h"
#include "proc/sysfs.h"

struct kernel_names {
	pthread_mutex_t lock;
	bool tried;
	struct kallsyms *kallsyms;
	struct diagnosis diagnosis;
};

struct sp_error *kernel_names_new(struct kernel_names **ret)
{
	struct kernel_names *kernel = calloc(1, sizeof(*kernel));
	if (!kernel)
		return error_no_memory();
	pthread_mutex_init(&kernel->lock, NULL);
	*ret = kernel;
	return NULL;
}

void kernel_names_free(struct kernel_names *kernel)
{
	if (!kernel)
		return;
	kallsyms_free(kernel->kallsyms);
	diagnosis_clear(&kernel->diagnosis);
	pthread_mutex_destroy(&kernel->lock);
	free(kernel);
}

static bool same_release(struct sp_ctx *ctx, const char *osrelease)
{
	CLEANUP_FREE char *text = NULL;
	size_t size;
	if (!osrelease || sysfs_read(ctx, "/proc/sys/kernel/osrelease", &text, &size))
		return false;
	text[strcspn(text, "\n")] = '\0';
	return !strcmp(text, osrelease);
}

bool kernel_runs_here(struct sp_ctx *ctx, const struct resolver_options *options)
{
	uint8_t build_id[20];
	size_t size = 0;
	CLEANUP(cleanup_sp_error_free) struct sp_error *error =
		sysfs_kernel_build_id(ctx, build_id, &size);
	if (!error && size > 0 && options->kernel_build_id_size > 0)
		return size == options->kernel_build_id_size &&
		       !memcmp(build_id, options->kernel_build_id, size);
	return same_release(ctx, options->osrelease);
}

bool kernel_shift(const struct kallsyms *kallsyms, const struct module *module, uint64_t *ret)
{
	struct kallsyms_symbol symbol;
	if (!module->reference_symbol || module->reference == 0 ||
	    !kallsyms_find_name(kallsyms, module->reference_symbol, &symbol))
		return false;
	*ret = module->reference - symbol.address;
	return true;
}

static bool build_ids_known(const struct source_env *env)
{
	uint8_t build_id[20];
	size_t size = 0;
	CLEANUP(cleanup_sp_error_free) struct sp_error *error =
		sysfs_kernel_build_id(env->ctx, build_id, &size);
	return !error && size > 0 && env->options.kernel_build_id_size > 0;
}

/* Takes the table, or says why not. */
static struct sp_error *take(struct kernel_names *kernel, struct sp_error *error,
			     struct kallsyms *kallsyms, const char *remedy)
{
	if (error && sp_error_code(error) == SP_ERROR_NO_MEMORY)
		return error;
	if (error) {
		diagnosis_set(&kernel->diagnosis, RESOLVER_MISSING_FILE, remedy, "%s",
			      sp_error_message(error));
		sp_error_free(error);
	} else if (kallsyms_hidden(kallsyms)) {
		kallsyms_free(kallsyms);
		diagnosis_set(&kernel->diagnosis, RESOLVER_KERNEL_HIDDEN, remedy,
			      "kernel symbols are hidden: every address in kallsyms is 0");
	} else {
		kernel->kallsyms = kallsyms;
	}
	return NULL;
}

#define UNHIDE "as root: sysctl kernel.kptr_restrict=0, or report as root"

static struct sp_error *load(struct kernel_names *kernel, const struct source_env *env,
			     const struct module *module)
{
	struct kallsyms *kallsyms = NULL;
	const char *given = env->options.kallsyms;
	if (given && *given) {
		struct sp_error *error = kallsyms_read(env->ctx, given, &kallsyms);
		return take(kernel, error, kallsyms, "copy /proc/kallsyms as root");
	}
	if (!env->same_kernel) {
		diagnosis_set(&kernel->diagnosis, RESOLVER_KERNEL_OTHER,
			      "give the recorded kernel's --vmlinux or --kallsyms",
			      "another kernel runs here than was recorded%s%s",
			      env->options.osrelease ? ": " : "", env->options.osrelease ?: "");
		return NULL;
	}
	struct sp_error *error = kallsyms_read(env->ctx, NULL, &kallsyms);
	error = take(kernel, error, kallsyms, UNHIDE);
	/* The release alone does not tell two builds apart; the same boot does. */
	uint64_t shift;
	if (!error && kernel->kallsyms && !build_ids_known(env) &&
	    (!kernel_shift(kernel->kallsyms, module, &shift) || shift != 0)) {
		kallsyms_free(kernel->kallsyms);
		kernel->kallsyms = NULL;
		diagnosis_set(&kernel->diagnosis, RESOLVER_KERNEL_OTHER,
			      "give the recorded kernel's --vmlinux or --kallsyms",
			      "the recording has no kernel build-id, and this machine was "
			      "restarted since: its kernel may be another");
	}
	return error;
}

struct sp_error *kernel_names_get(const struct source_env *env, const struct module *module,
				  struct diagnosis *diagnosis, const struct kallsyms **ret)
{
	struct kernel_names *kernel = env->kernel;
	pthread_mutex_lock(&kernel->lock);
	struct sp_error *error = NULL;
	if (!kernel->tried) {
		kernel->tried = true;
		error = load(kernel, env, module);
	}
	*ret = kernel->kallsyms;
	if (!error && !kernel->kallsyms)
		diagnosis_set(diagnosis, kernel->diagnosis.problem, kernel->diagnosis.remedy, "%s",
			      kernel->diagnosis.text ?: "out of memory");
	pthread_mutex_unlock(&kernel->lock);
	return error;
}
