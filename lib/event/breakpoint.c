/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mem:ADDRESS[/LENGTH][:rwx]. ADDRESS is a number, a kernel symbol, or PATH:SYMBOL of a program: one
 * that is loaded at the addresses of its file, or the recorded process.
 */
#include "event/parser.h"

#include <linux/hw_breakpoint.h>
#include "base/cleanup.h"
#include "base/format.h"
#include "elf/image.h"
#include "event/file_symbols.h"
#include "proc/kallsyms.h"
#include "proc/maps.h"

#define MAX_LENGTH 8

/* Address and size of an object. */
struct object_range {
	uint64_t address, size; /* size 0: unknown */
	bool of_code;
};

static struct sp_error *kernel_place(struct parser *parser, struct text_slice name,
				     struct object_range *ret)
{
	CLEANUP(cleanup_kallsyms_free) struct kallsyms *kallsyms = NULL;
	CLEANUP_FREE char *text = strndup(name.text, name.size);
	struct kallsyms_symbol symbol;
	NEED(text);
	struct sp_error *error = kallsyms_read(parser->ctx, NULL, &kallsyms);
	if (error)
		return parser_prefix_error(parser, name.text, error);
	if (kallsyms_hidden(kallsyms))
		return error_set_remedy(
			parser_error(parser, name.text,
				     "kernel addresses are hidden, with that of '%s'", text),
			"sudo sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1, or run "
			"as root");
	if (!kallsyms_find_name(kallsyms, text, &symbol))
		return error_set_remedy(
			parser_error(parser, name.text, "the kernel has no symbol '%s'", text),
			"look in /proc/kallsyms (data only with "
			"CONFIG_KALLSYMS_ALL); for a program's symbol use mem:PATH:SYMBOL");
	*ret = (struct object_range){symbol.address, 0, symbol.type == 'T' || symbol.type == 't'};
	return NULL;
}

/*
 * Converts a file's vaddr to an address in the recorded process, by the mapping of the first
 * segment. Those of later ones may have equal offsets, if they share a page of the file.
 */
static struct sp_error *mapped_place(struct parser *parser, const struct image *image,
				     uint64_t vaddr, uint64_t *ret, bool *found)
{
	CLEANUP(cleanup_maps_free) struct maps *maps = NULL;
	const struct image_load *first = image->loads.items;
	const uint64_t page_mask = ~((uint64_t)sysconf(_SC_PAGESIZE) - 1);
	TRY(maps_open(parser->ctx, parser->specs->pid, 0, MAPS_ALL, &maps));
	*found = false;
	while (image->loads.count && !*found) {
		const struct maps_entry *entry;
		TRY(maps_next(maps, &entry));
		if (!entry)
			break;
		*found = entry->ino == image->inode &&
			 entry->file_offset == (first->file_offset & page_mask);
		if (*found)
			*ret = entry->start + (vaddr - (first->vaddr & page_mask));
	}
	return NULL;
}

static struct sp_error *not_mapped(const struct parser *parser, const char *place, const char *path)
{
	struct sp_error *error;
	if (!parser->specs->pid) {
		error = parser_error(parser, place, "the load address of %s is unknown before it runs",
				     path);
		return error_set_remedy(error, "record a running process (-p), or a program that is "
					       "linked with -no-pie");
	}
	error = parser_error(parser, place, "process %d has not mapped %s", parser->specs->pid, path);
	return error_set_remedy(error, "/proc/%d/maps lists its files",
				parser->specs->pid);
}

static struct sp_error *program_place(struct parser *parser, struct text_slice path,
				      struct text_slice name, struct object_range *ret)
{
	CLEANUP(cleanup_image_free) struct image *image = NULL;
	const char *plain = parser_copy_unescaped(parser, path);
	struct file_symbol symbol;
	bool found = false;
	NEED(plain);
	struct sp_error *error = image_open(plain, &image);
	if (!error)
		error = file_symbol_find(image, name.text, name.size, true, &symbol);
	if (error)
		return parser_prefix_error(parser, name.text, error);
	*ret = (struct object_range){symbol.vaddr, symbol.size, symbol.is_code};
	if (parser->specs->pid)
		error = mapped_place(parser, image, symbol.vaddr, &ret->address, &found);
	if (error)
		return parser_prefix_error(parser, name.text, error);
	return found || image->type == ET_EXEC ? NULL : not_mapped(parser, name.text, plain);
}

/* Reads ADDRESS, the text before '/LENGTH' and ':rwx'. */
static struct sp_error *read_place(struct parser *parser, struct object_range *ret)
{
	const char *begin = parser->pos;
	bool is_path = parser_at(parser) == '/' || parser_at(parser) == '.';
	struct text_slice first = parser_read_until(parser, is_path ? ":,}" : "/:,}");
	uint64_t number, offset = 0;
	*ret = (struct object_range){0};
	if (!first.size)
		return error_set_remedy(parser_error(parser, begin, "no address"),
					"give mem:ADDRESS[/LENGTH][:rwx], as mem:0x1000/8:w, "
					"or a symbol");
	if (slice_number(first, &number)) {
		ret->address = number;
		return NULL;
	}
	if (is_path && !parser_take(parser, ':'))
		return error_set_remedy(parser_error(parser, parser->pos, "no symbol"),
					"give mem:PATH:SYMBOL");
	struct text_slice name = is_path ? parser_read_until(parser, "/:,}") : first;
	const char *plus = memrchr(name.text, '+', name.size);
	if (plus && slice_number(slice_between(plus + 1, name.text + name.size), &offset))
		name.size = plus - name.text;
	struct sp_error *error = is_path ? program_place(parser, first, name, ret) :
				 kernel_place(parser, name, ret);
	ret->address += offset;
	if (offset)
		ret->size = 0;
	return error;
}

static struct sp_error *read_length(struct parser *parser, uint64_t *ret)
{
	struct text_slice text;
	if (!parser_take(parser, '/'))
		return NULL;
	const char *before = parser->pos - 1;
	text = parser_read_until(parser, ":,}/");
	if (slice_number(text, ret) && *ret && *ret <= MAX_LENGTH)
		return NULL;
	/* In "mem:0x1000/period=1/", the slash begins terms, which the caller reads. */
	if (memchr(text.text, '=', text.size) || parser_at(parser) == '/') {
		parser->pos = before;
		return NULL;
	}
	return error_set_remedy(parser_error(parser, text.text, "invalid length '%.*s'",
					     (int)text.size, text.text),
				"use 1, 2, 4 or 8 bytes");
}

/* Reads ":rw", without which *ret is unchanged. Modifiers may follow it, or be in its place. */
static struct sp_error *read_access(struct parser *parser, uint32_t *ret)
{
	if (parser_at(parser) != ':')
		return NULL;
	const char *before = parser->pos++;
	struct text_slice word = parser_read_word(parser);
	uint32_t access = 0;
	for (size_t i = 0; i < word.size; i++) {
		uint32_t bit = word.text[i] == 'r' ? HW_BREAKPOINT_R :
			       word.text[i] == 'w' ? HW_BREAKPOINT_W :
			       word.text[i] == 'x' ? HW_BREAKPOINT_X : 0;
		if (bit && !(access & bit)) {
			access |= bit;
			continue;
		}
		if (!access && !bit && i == 0) {
			parser->pos = before;
			return NULL;
		}
		return error_set_remedy(parser_error(parser, word.text + i,
						     "invalid access type '%c'", word.text[i]),
					"use r, w, rw or x; put modifiers after another ':'");
	}
	*ret = access;
	return NULL;
}

/* Length if none is given: perf's, or the symbol's size. */
static uint64_t default_length(const struct object_range *place, uint32_t access)
{
	if (access == HW_BREAKPOINT_X)
		return sizeof(long);
	if (place->size == 1 || place->size == 2 || place->size == 8)
		return place->size;
	return HW_BREAKPOINT_LEN_4;
}

struct sp_error *parse_breakpoint(struct parser *parser)
{
	struct event_spec spec = event_spec_make(parser);
	struct object_range place;
	uint64_t length = 0;
	uint32_t access = 0;
	TRY(read_place(parser, &place));
	TRY(read_length(parser, &length));
	TRY(read_access(parser, &access));
	if (!access)
		access = place.of_code ? HW_BREAKPOINT_X : HW_BREAKPOINT_RW;
	spec.attr.type = PERF_TYPE_BREAKPOINT;
	spec.attr.bp_type = access;
	spec.attr.bp_addr = place.address;
	spec.attr.bp_len = length ? length : default_length(&place, access);
	return parser_add(parser, &spec);
}
