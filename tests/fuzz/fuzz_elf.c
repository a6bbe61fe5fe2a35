/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ELF files: headers, segments, build-id, symbol tables, PLT, the image in .gnu_debugdata, and
 * functions by call frame information.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "elf/debugfile.h"
#include "elf/plt.h"
#include "elf/symtab.h"
#include "fuzz.h"
#include "symbol/fde_ranges.h"
#include "symbol/symbol_table.h"

/* Limit of entries to look up, for large inputs. */
#define ENTRIES_MAX 64

/* Names no IFUNC, but uses the address. */
static const char *name_of(void *arg, uint64_t vaddr)
{
	(void)arg;
	return vaddr % 2 ? "odd" : NULL;
}

static void add_table(const struct image *image, enum symtab_kind kind, struct symbol_table *table,
		      struct image_bytes *strings)
{
	struct symtab symtab;
	struct elf_symbol symbol;
	struct sp_error *error = symtab_open(image, image, kind, &symtab);
	sp_error_free(error);
	if (error)
		return;
	while (symtab_next(&symtab, &symbol))
		table_add(table, symbol.vaddr, symbol.size, symbol.name, symbol.binding,
			  symbol.type);
	symtab_close(&symtab, strings);
}

static void read_plt(const struct image *image)
{
	struct elf_symbols symbols = {0};
	struct arena arena = {0};
	sp_error_free(plt_read(image, name_of, NULL, &arena, &symbols));
	for (size_t i = 0; i < symbols.count; i++)
		assert(strlen(symbols.items[i].name) > 0 && symbols.items[i].size > 0);
	vec_deinit(&symbols);
	arena_deinit(&arena);
}

static void read_tables(const struct image *image)
{
	struct symbol_table table = {0};
	struct image_bytes full = {0}, dynamic = {0};
	add_table(image, SYMTAB_FULL, &table, &full);
	add_table(image, SYMTAB_DYNAMIC, &table, &dynamic);
	sp_error_free(table_seal(&table, TABLE_REACH_ANY));
	for (size_t i = 0; i < table.count; i++) {
		const struct table_symbol *symbol = table_find(&table, table.starts[i]);
		assert(!symbol || symbol->start <= table.starts[i]);
		assert(table_at(&table, table.starts[i]));
	}
	table_deinit(&table);
	image_bytes_release(&full);
	image_bytes_release(&dynamic);
	read_plt(image);
	uint64_t vaddr;
	for (size_t i = 0; i < image->loads.count; i++)
		image_vaddr(image, image->loads.items[i].file_offset, &vaddr);
}

/* A range holds what was asked for, and is code. */
static void find_range(struct fde_ranges *ranges, const struct binary_env *env,
		       const struct image *image, uint64_t vaddr)
{
	static const struct module module = {.kind = MODULE_FILE, .path = "fuzz", .name = "fuzz"};
	struct range range;
	struct sp_error *error = ranges_find(ranges, env, &module, image, vaddr, &range);
	assert(!error);
	if (!range.size)
		return;
	assert(vaddr - range.start < range.size);
	bool is_code = false;
	for (size_t i = 0; i < image->loads.count; i++) {
		const struct image_load *load = &image->loads.items[i];
		is_code |= load->executable && range.start - load->vaddr < load->memory_size &&
			   range.start - load->vaddr + (range.size - 1) < load->memory_size;
	}
	assert(is_code);
}

static void find_ranges(const struct image *image)
{
	struct binary_env env = {0};
	struct fde_ranges ranges = {0};
	struct call_frames debug = {0};
	struct cfi_entry entry;
	size_t made = 0;
	sp_error_free(sp_ctx_new(&env.ctx));
	for (size_t i = 0; i < image->loads.count; i++)
		find_range(&ranges, &env, image, image->loads.items[i].vaddr);
	for (uint64_t at = 0; ranges.frames.eh.section.bytes.size && made < ENTRIES_MAX &&
			      cfi_next(&ranges.frames.eh.section, &at, &entry); made++) {
		find_range(&ranges, &env, image, entry.start);
		find_range(&ranges, &env, image, entry.start + entry.size);
	}
	if (call_frames_has_debug(image))
		sp_error_free(call_frames_read_debug(&debug, image));
	cfi_find(&debug.debug, image->loads.count ? image->loads.items[0].vaddr : 0, &entry);
	call_frames_deinit(&debug);
	ranges_deinit(&ranges);
	sp_ctx_free(env.ctx);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	void *copy = malloc(size ? size : 1);
	memcpy(copy, bytes, size);
	struct image *image = NULL, *embedded = NULL;
	struct sp_error *error = image_open_memory(copy, size, "fuzz", &image);
	if (!error) {
		read_tables(image);
		find_ranges(image);
		error = debugfile_embedded(image, &embedded);
	}
	if (embedded)
		read_tables(embedded);
	sp_error_free(error);
	image_free(embedded);
	image_free(image);
	return 0;
}
