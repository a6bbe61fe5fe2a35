/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Probes without a name in tracefs: of the kernel's PMUs "kprobe" and "uprobe" (Linux 4.17).
 *
 *	kprobe:FUNCTION[+OFFSET]   kprobe:0xADDRESS   kretprobe:…
 *	uprobe:PATH:SYMBOL[+OFFSET]   uprobe:PATH:0xVADDR   uretprobe:…
 *
 * A colon or comma that is part of a path or symbol has a backslash before it.
 */
#include "event/parser.h"

#include <limits.h>
#include "base/cleanup.h"
#include "elf/image.h"
#include "event/file_symbols.h"

struct probe {
	struct parser *parser;
	const struct pmu *pmu;
	bool is_return;
	struct event_spec spec;
};

static struct sp_error *find_pmu(struct probe *probe, const char *place, bool of_kernel)
{
	struct parser *parser = probe->parser;
	const char *name = of_kernel ? "kprobe" : "uprobe";
	struct sp_error *error = parser_load_pmus(parser);
	if (error)
		return error;
	struct pmu *pmu = pmus_find(&parser->pmus, name, 6);
	if (!pmu) {
		error = parser_error(parser, place, "this kernel has no PMU for %ss", name);
		return error_set_remedy(error, of_kernel ?
			"Linux 4.17 and later with CONFIG_KPROBE_EVENTS has; a tracepoint may do "
			"(sprof list tracepoint)" :
			"Linux 4.17 and later with CONFIG_UPROBE_EVENTS has, if /sys is there");
	}
	error = pmu_load(&parser->pmus, pmu);
	if (error)
		return parser_prefix_error(parser, place, error);
	probe->pmu = pmu;
	probe->spec.pmu = pmu->name;
	probe->spec.attr.type = pmu->type;
	const struct pmu_format *format = pmu_format_find(pmu, "retprobe", 8);
	if (probe->is_return && format)
		probe->spec.attr.config |= pmu_format_encode(format, 1);
	else if (probe->is_return)
		return error_set_remedy(parser_error(parser, place, "this kernel's %ss cannot be of "
						     "returns", name), "take %s:", name);
	return NULL;
}

/* Splits NAME+OFFSET: the name loses the offset. */
static struct sp_error *split_offset(struct parser *parser, struct text_slice *name, uint64_t *ret)
{
	const char *plus = memrchr(name->text, '+', name->size);
	if (!plus)
		return NULL;
	struct text_slice offset = slice_between(plus + 1, name->text + name->size);
	if (!slice_number(offset, ret))
		return error_set_remedy(parser_error(parser, offset.text, "'%.*s' is not an offset",
						     (int)offset.size, offset.text),
					"use a number of bytes, for example +16 or +0x10");
	name->size = plus - name->text;
	return NULL;
}

static struct sp_error *no_returns_within(const struct probe *probe, const char *place,
					  uint64_t offset)
{
	if (!probe->is_return || !offset)
		return NULL;
	return error_set_remedy(parser_error(probe->parser, place,
					     "a return probe cannot have an offset"),
				"omit the offset");
}

static struct sp_error *parse_kernel_probe(struct probe *probe)
{
	struct parser *parser = probe->parser;
	struct text_slice name = parser_read_until(parser, ":,}/");
	const char *begin = name.text;
	uint64_t offset = 0, address;
	TRY(split_offset(parser, &name, &offset));
	TRY(no_returns_within(probe, begin, offset));
	if (!name.size)
		return error_set_remedy(parser_error(parser, begin, "no function"),
					"use kprobe:FUNCTION[+OFFSET], for example kprobe:do_sys_openat2");
	probe->spec.attr.probe_offset = offset;
	if (slice_number(name, &address)) {
		/* Without kprobe_func, kprobe_addr has the address. */
		probe->spec.attr.kprobe_addr = address + offset;
		return NULL;
	}
	const char *function = parser_copy_unescaped(parser, name);
	probe->spec.attr.kprobe_func = (uint64_t)(uintptr_t)function;
	return function ? NULL : error_no_memory();
}

/* Finds a program's file: a path, or a name in $PATH. */
static struct sp_error *find_file(struct parser *parser, struct text_slice path, struct image **ret)
{
	const char *plain = parser_copy_unescaped(parser, path);
	NEED(plain);
	struct sp_error *error = image_open(plain, ret);
	if (!error || strchr(plain, '/') || sp_error_code(error) != SP_ERROR_NOT_FOUND)
		return error;
	const char *directory = getenv("PATH");
	while (directory && *directory) {
		char whole[PATH_MAX];
		size_t size = strcspn(directory, ":");
		CLEANUP(cleanup_sp_error_free) struct sp_error *other = NULL;
		if (size && (size_t)snprintf(whole, sizeof(whole), "%.*s/%s", (int)size, directory,
					     plain) < sizeof(whole)) {
			other = image_open(whole, ret);
			if (!other) {
				sp_error_free(error);
				return NULL;
			}
		}
		directory += size + (directory[size] == ':');
	}
	return error_set_remedy(error, "use the path of the program or library");
}

static struct sp_error *user_offset(struct probe *probe, const struct image *image,
				    struct text_slice name, uint64_t offset)
{
	struct parser *parser = probe->parser;
	struct file_symbol symbol = {0};
	const char *plain = parser_copy_unescaped(parser, name);
	NEED(plain);
	if (!slice_number(name, &symbol.vaddr)) {
		struct sp_error *error = file_symbol_find(image, plain, strlen(plain), false, &symbol);
		if (error)
			return parser_prefix_error(parser, name.text, error);
	}
	uint64_t file_offset;
	if (!image_file_offset(image, symbol.vaddr + offset, &file_offset))
		return error_set_remedy(parser_error(parser, name.text, "0x%llx is not in %s",
						     (unsigned long long)(symbol.vaddr + offset),
						     image->path),
					"use an address as printed by `nm` or `objdump -d`");
	const char *path = arena_strdup(&parser->specs->arena, image->path);
	probe->spec.attr.uprobe_path = (uint64_t)(uintptr_t)path;
	probe->spec.attr.probe_offset = file_offset;
	return path ? NULL : error_no_memory();
}

static struct sp_error *parse_user_probe(struct probe *probe)
{
	struct parser *parser = probe->parser;
	CLEANUP(cleanup_image_free) struct image *image = NULL;
	struct text_slice path = parser_read_until(parser, ":,}");
	uint64_t offset = 0;
	if (!path.size || !parser_take(parser, ':'))
		return error_set_remedy(parser_error(parser, parser->pos, "no symbol"),
					"use uprobe:PATH:SYMBOL[+OFFSET], for example "
					"uprobe:/bin/bash:readline");
	struct text_slice name = parser_read_until(parser, ":,}/");
	const char *begin = name.text;
	TRY(split_offset(parser, &name, &offset));
	if (!name.size)
		return error_set_remedy(parser_error(parser, begin, "no symbol"),
					"use uprobe:PATH:SYMBOL[+OFFSET]");
	TRY(no_returns_within(probe, begin, offset));
	struct sp_error *error = find_file(parser, path, &image);
	if (error)
		return parser_prefix_error(parser, path.text, error);
	return user_offset(probe, image, name, offset);
}

struct sp_error *parse_probe(struct parser *parser, struct text_slice kind)
{
	bool of_kernel = *kind.text == 'k';
	struct probe probe = {
		.parser = parser,
		.is_return = slice_is(kind, "kretprobe") || slice_is(kind, "uretprobe"),
		.spec = event_spec_make(parser),
	};
	TRY(find_pmu(&probe, kind.text, of_kernel));
	TRY(of_kernel ? parse_kernel_probe(&probe) : parse_user_probe(&probe));
	return parser_add(parser, &probe.spec);
}
