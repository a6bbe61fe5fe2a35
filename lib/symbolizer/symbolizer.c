/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <sprof/symbolizer.h>

#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/parallel.h"
#include "base/sized.h"
#include "proc/sysfs.h"
#include "symbolizer/space.h"

DEFINE_CLEANUP(struct sp_symbolizer *, sp_symbolizer_free)

/* Copies a text (NULL: none); false when out of memory. */
static bool copy(const char *text, char **ret)
{
	*ret = text ? strdup(text) : NULL;
	return !text || *ret;
}

/*
 * Copies the places of files, and reads this machine's facts: its kernel's symbols are only used for the
 * same kernel. Files have no architecture: those of other machines are accepted.
 */
static struct sp_error *set_resolver(struct sp_symbolizer *symbolizer, const struct sp_files *files)
{
	struct resolver_options *options = &symbolizer->resolver;
	NEED(copy(files->symfs, &symbolizer->symfs) && copy(files->vmlinux, &symbolizer->vmlinux) &&
	     copy(files->kallsyms, &symbolizer->kallsyms));
	symbolizer->osrelease = sysfs_line(symbolizer->ctx, "/proc/sys/kernel/osrelease");
	symbolizer->hostname = sysfs_line(symbolizer->ctx, "/proc/sys/kernel/hostname");
	*options = (struct resolver_options){
		.symfs = symbolizer->symfs,
		.vmlinux = symbolizer->vmlinux,
		.kallsyms = symbolizer->kallsyms,
		.osrelease = symbolizer->osrelease,
		.hostname = symbolizer->hostname,
		.kernel_build_id = symbolizer->kernel_build_id,
	};
	/* Without a build-id, kernels are compared by release. */
	sp_error_free(sysfs_kernel_build_id(symbolizer->ctx, symbolizer->kernel_build_id,
					    &options->kernel_build_id_size));
	return NULL;
}

struct sp_error *sp_symbolizer_new(struct sp_ctx *ctx, const struct sp_symbolizer_options *options,
				   struct sp_symbolizer **ret)
{
	struct sp_symbolizer_options given = {0};
	struct sp_files files = {0};
	TRY(sized_copy(&given, sizeof(given), options));
	TRY(sized_copy(&files, sizeof(files), given.files));
	CLEANUP(cleanup_sp_symbolizer_free) struct sp_symbolizer *symbolizer =
		calloc(1, sizeof(*symbolizer));
	NEED(symbolizer);
	symbolizer->ctx = ctx;
	symbolizer->inlines = given.inlines != SP_OFF;
	symbolizer->lines = given.lines != SP_OFF;
	symbolizer->threads = parallel_threads(given.threads);
	pthread_mutex_init(&symbolizer->kernel_lock, NULL);
	TRY(set_resolver(symbolizer, &files));
	TRY(code_names_init(&symbolizer->files, ctx, &symbolizer->resolver));
	*ret = take_ptr(symbolizer);
	return NULL;
}

void sp_symbolizer_free(struct sp_symbolizer *symbolizer)
{
	if (!symbolizer)
		return;
	sp_space_free(symbolizer->kernel);
	code_names_deinit(&symbolizer->files);
	pthread_mutex_destroy(&symbolizer->kernel_lock);
	free(symbolizer->symfs);
	free(symbolizer->vmlinux);
	free(symbolizer->kallsyms);
	free(symbolizer->osrelease);
	free(symbolizer->hostname);
	free(symbolizer);
}
