/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernel and its modules by kallsyms, moved to where they were when recorded. */
#include "symbol/source.h"

#include <string.h>
#include "base/cleanup.h"
#include "symbol/kernel.h"

struct kallsyms_names {
	const struct kallsyms *kallsyms; /* the resolver's */
	uint64_t shift;                  /* run-time address minus that of kallsyms */
	char *module;                    /* whose symbols count; NULL: the kernel's own */
};

static void names_close(void *opened)
{
	struct kallsyms_names *names = opened;
	free(names->module);
	free(names);
}

/* "[nf_tables]" and "/lib/modules/…/nf-tables.ko.xz" are "nf_tables" in kallsyms. */
static char *module_name(const struct module *module)
{
	const char *name = module->path, *slash = strrchr(name, '/');
	if (slash)
		name = slash + 1;
	name += *name == '[';
	char *copy = strndup(name, strcspn(name, ".]"));
	for (char *c = copy; c && *c; c++)
		if (*c == '-')
			*c = '_';
	return copy;
}

static struct sp_error *names_open(const struct source_env *env, const struct module *module,
				   uint32_t pid, struct diagnosis *diagnosis, void **ret)
{
	(void)pid;
	if (module->kind != MODULE_KERNEL && module->kind != MODULE_KERNEL_MODULE)
		return NULL;
	const struct kallsyms *kallsyms = NULL;
	struct sp_error *error = kernel_names_get(env, module, diagnosis, &kallsyms);
	if (error || !kallsyms)
		return error;
	CLEANUP_FREE struct kallsyms_names *names = calloc(1, sizeof(*names));
	if (!names)
		return error_no_memory();
	names->kallsyms = kallsyms;
	kernel_shift(kallsyms, module, &names->shift);
	if (module->kind == MODULE_KERNEL_MODULE && !(names->module = module_name(module)))
		return error_no_memory();
	*ret = take_ptr(names);
	return NULL;
}

static bool names_find(void *opened, const struct location *location, struct diagnosis *diagnosis,
		       struct found *ret)
{
	(void)diagnosis;
	const struct kallsyms_names *names = opened;
	struct kallsyms_symbol symbol;
	if (!kallsyms_find(names->kallsyms, location->offset - names->shift, &symbol))
		return false;
	bool mine = names->module ? symbol.module && !strcmp(symbol.module, names->module) :
				    !symbol.module;
	if (!mine)
		return false;
	*ret = (struct found){
		.key = symbol.address, .raw_name = symbol.name,
		.start = symbol.address + names->shift, .size = symbol.end - symbol.address,
	};
	return true;
}

const struct source source_kallsyms = {
	.name = "kallsyms",
	.open = names_open,
	.find = names_find,
	.close = names_close,
};
