/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Source for the kernel and its modules by kallsyms, shifted to their recorded addresses. */
#include "symbol/source.h"

#include <string.h>
#include "base/cleanup.h"
#include "base/format.h"
#include "symbol/kcore.h"
#include "symbol/kernel_tables.h"
#include "symbol/ko.h"

struct kallsyms_names {
	struct kernel_symbols symbols;
	char *module; /* its name in kallsyms; NULL: the kernel itself */
	struct sp_ctx *running; /* NULL: it is not certain that the kernel still runs */
};

static void names_close(void *opened)
{
	struct kallsyms_names *names = opened;
	kallsyms_free(names->symbols.owned);
	free(names->module);
	free(names);
}

DEFINE_CLEANUP(void *, names_close)

/* Converts "[nf_tables]" or "/lib/modules/…/nf-tables.ko.xz" to the kallsyms name "nf_tables". */
static char *module_name(const struct module *module)
{
	const char *name = path_base(module->path);
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
	CLEANUP(cleanup_names_close) void *opened = calloc(1, sizeof(struct kallsyms_names));
	struct kallsyms_names *names = opened;
	NEED(names);
	if (module->kind == MODULE_KERNEL_MODULE && !(names->module = module_name(module)))
		return error_no_memory();
	struct sp_error *error =
		kernel_symbols_find(env, module, names->module, diagnosis, &names->symbols);
	/* Since another start, the kernel is usually elsewhere, and so are its modules. */
	if (!error && env->binary.provenance.same_kernel && !names->symbols.shift)
		names->running = env->ctx;
	if (!error && names->symbols.kallsyms)
		*ret = take_ptr(opened);
	return error;
}

static bool names_find(void *opened, const struct location *location, struct diagnosis *diagnosis,
		       struct found *ret)
{
	(void)diagnosis;
	const struct kernel_symbols *symbols = &((const struct kallsyms_names *)opened)->symbols;
	struct kallsyms_symbol symbol;
	if (!kallsyms_find(symbols->kallsyms, location->offset - symbols->shift, &symbol))
		return false;
	bool mine = symbols->within ? symbol.module && !strcmp(symbol.module, symbols->within)
				    : !symbol.module;
	if (!mine)
		return false;
	*ret = (struct found){
		.key = symbol.address,
		.raw_name = symbol.name,
		.start = symbol.address + symbols->shift,
		.size = symbol.end - symbol.address,
		.stretched = true,
	};
	return true;
}

static bool is_there(const void *arg, uint64_t address, const char *name)
{
	const struct kernel_symbols *symbols = arg;
	struct kallsyms_symbol symbol;
	return kallsyms_find(symbols->kallsyms, address - symbols->shift, &symbol) &&
	       symbol.address == address - symbols->shift && symbol.module &&
	       symbols->within && !strcmp(symbol.module, symbols->within) &&
	       !strcmp(symbol.name, name);
}

/*
 * Whether a module's file has lines. The kernel's own debug information needs its ELF file's symbols, too,
 * for the addresses, and is only read with these.
 */
static bool names_have_lines(void *opened, const struct source_env *env,
			     const struct module *module)
{
	(void)opened;
	return ko_has_lines(env, module);
}

static struct sp_error *names_open_lines(void *opened, const struct source_env *env,
					 const struct module *module, struct diagnosis *diagnosis,
					 struct dwarf **ret, struct placement *placement_ret)
{
	const struct kallsyms_names *names = opened;
	const struct ko_check check = {.is_symbol = is_there, .arg = &names->symbols};
	return ko_open_lines(env, module, &check, diagnosis, ret, placement_ret);
}

static bool names_read_code(void *opened, uint64_t offset, uint64_t from, size_t size,
			    uint8_t *ret, uint16_t *machine_ret)
{
	const struct kallsyms_names *names = opened;
	(void)offset;
	return names->running && kcore_read(names->running, from, size, ret, machine_ret);
}

const struct source source_kallsyms = {
	.name = "kallsyms",
	.open = names_open,
	.find = names_find,
	.close = names_close,
	.has_lines = names_have_lines,
	.open_lines = names_open_lines,
	.read_code = names_read_code,
};
