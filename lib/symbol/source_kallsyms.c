/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Source for the kernel and its modules by kallsyms, shifted to their recorded addresses. */
#include "symbol/source.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/ctx.h"
#include "base/format.h"
#include "base/io.h"
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

/* Most program headers that are read. */
#define SEGMENTS_MAX 1024

static bool read_kcore(int fd, uint64_t offset, void *ret, size_t size)
{
	size_t done;
	return offset <= INT64_MAX && !io_pread(fd, ret, size, offset, &done) && done == size;
}

static bool read_code(int fd, uint64_t address, size_t size, uint8_t *ret, uint16_t *machine_ret)
{
	Elf64_Ehdr header;
	/* The kernel writes its own byte order and word size. */
	if (!read_kcore(fd, 0, &header, sizeof(header)) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr))
		return false;
	*machine_ret = header.e_machine;
	for (size_t i = 0; i < header.e_phnum && i < SEGMENTS_MAX; i++) {
		Elf64_Phdr segment;
		if (!read_kcore(fd, header.e_phoff + i * sizeof(segment), &segment,
				sizeof(segment)))
			return false;
		uint64_t distance = address - segment.p_vaddr;
		if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
		    distance < segment.p_filesz && size <= segment.p_filesz - distance)
			return read_kcore(fd, segment.p_offset + distance, ret, size);
	}
	return false;
}

/*
 * Reads code as it is in memory now, from /proc/kcore, which only root may read. False if the file
 * is damaged, or does not have all of the range.
 */
static bool kcore_read(struct sp_ctx *ctx, uint64_t address, size_t size, uint8_t *ret,
		       uint16_t *machine_ret)
{
	CLEANUP_FREE char *path = format_text("%s/proc/kcore", ctx_root(ctx));
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	bool done = fd >= 0 && read_code(fd, address, size, ret, machine_ret);
	if (fd >= 0)
		close(fd);
	return done;
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
