/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "trace/kernel_names.h"

#include <stdlib.h>
#include <string.h>

#define HEX_DIGITS "0123456789abcdefABCDEF"

void kernel_names_deinit(struct kernel_names *names)
{
	arena_deinit(&names->arena);
	vec_deinit(&names->symbols);
	vec_deinit(&names->strings);
}

/* Reads 1 to 16 hex digits, and returns the text after them; NULL if there are none, or more. */
static const char *take_address(const char *at, uint64_t *ret)
{
	size_t digits = strspn(at, HEX_DIGITS);
	*ret = strtoull(at, NULL, 16);
	return digits && digits <= 16 ? at + digits : NULL;
}

/* Whether the text up to `end` is nothing, or a module: "\t[module]" */
static bool is_module(const char *at, const char *end)
{
	return at == end || (end - at >= 4 && at[0] == '\t' && at[1] == '[' && end[-1] == ']' &&
			     strcspn(at + 1, " \t\n") == (size_t)(end - at - 1));
}

/*
 * Finds a line's symbol. False if it has none, or no function: mapping symbols ("$x"), and per-CPU
 * variables, which have absolute types.
 */
static bool find_symbol(const char *at, const char *end, uint64_t *address, const char **name,
			size_t *length)
{
	at = take_address(at, address);
	if (!at || end - at < 4 || at[0] != ' ' || strchr(" \tAa", at[1]) || at[2] != ' ')
		return false;
	*name = at + 3;
	*length = strcspn(*name, " \t\n");
	return *length && **name != '$' && is_module(*name + *length, end);
}

bool kernel_names_add_symbols(struct kernel_names *names, const char *text)
{
	for (const char *line = text, *end; *line; line = end + (*end == '\n')) {
		const char *name;
		size_t length;
		uint64_t address;
		end = line + strcspn(line, "\n");
		if (!find_symbol(line, end, &address, &name, &length))
			continue;
		char *copy = arena_copy_string(&names->arena, name, length);
		struct kernel_name *slot = copy ? vec_push(&names->symbols) : NULL;
		if (!slot)
			return false;
		*slot = (struct kernel_name){address, names->symbols.count, copy};
	}
	return true;
}

/* Adds a string without its quotes and a final "\n". */
static bool add_string(struct kernel_names *names, uint64_t address, const char *at,
		       const char *end)
{
	if (at < end && *at == '"')
		at++;
	if (at < end && end[-1] == '"')
		end--;
	if (end - at >= 2 && !memcmp(end - 2, "\\n", 2))
		end -= 2;
	char *copy = arena_copy_string(&names->arena, at, end - at);
	struct kernel_name *slot = copy ? vec_push(&names->strings) : NULL;
	if (slot)
		*slot = (struct kernel_name){address, names->strings.count, copy};
	return slot;
}

bool kernel_names_add_strings(struct kernel_names *names, const char *text)
{
	for (const char *line = text, *end; *line; line = end + (*end == '\n')) {
		uint64_t address;
		end = line + strcspn(line, "\n");
		const char *at = take_address(strncmp(line, "0x", 2) ? line : line + 2, &address);
		if (!at)
			continue;
		at += strspn(at, " ");
		if (at[0] == ':' && at[1] == ' ' && !add_string(names, address, at + 2, end))
			return false;
	}
	return true;
}

static int compare(const void *a, const void *b)
{
	const struct kernel_name *x = a, *y = b;
	int order = u64_order(x->address, y->address);
	return order ? order : u64_order(y->line, x->line);
}

bool kernel_names_sort(struct kernel_names *names)
{
	struct kernel_name *end = vec_push(&names->symbols);
	if (!end)
		return false;
	names->symbols.count--;
	*end = (struct kernel_name){0};
	vec_sort(&names->symbols, compare);
	vec_sort(&names->strings, compare);
	return true;
}

/* Whether a symbol holds the address. The last symbol's size is unknown: 0 follows it. */
static int compare_range(const void *key, const void *entry)
{
	uint64_t address = *(const uint64_t *)key;
	const struct kernel_name *symbol = entry;
	return address == symbol->address ||
			       (address > symbol->address && address < symbol[1].address)
		       ? 0
		       : u64_order(address, symbol->address);
}

/* By bsearch(), because libtraceevent, and so perf, chooses among names of one address by it. */
const struct kernel_name *kernel_symbol(const struct kernel_names *names, uint64_t address)
{
	return !names->symbols.count
		       ? NULL
		       : bsearch(&address, names->symbols.items, names->symbols.count,
				 sizeof(*names->symbols.items), compare_range);
}

const char *kernel_string(const struct kernel_names *names, uint64_t address)
{
	size_t at = sorted_below(names->strings.items, names->strings.count, .address, address);
	return at < names->strings.count && names->strings.items[at].address == address
		       ? names->strings.items[at].text
		       : NULL;
}

uint64_t kernel_address(const struct kernel_names *names, const char *name)
{
	vec_each (symbol, &names->symbols)
		if (!strcmp(symbol->text, name))
			return symbol->address;
	return 0;
}
