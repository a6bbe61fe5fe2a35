/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "symbol/symbol_table.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "symbol/demangle.h"

#define UNCHOSEN UINT32_MAX
#define NONE UINT32_MAX
#define PAGE ((uint64_t)4096)

/* Number of nested symbols around an address that are tried: real code nests two or three deep. */
#define NESTING_MAX 256

#define RADIX_BITS 11
#define RADIX ((size_t)1 << RADIX_BITS)

struct sort_key {
	uint64_t start;
	uint32_t index;
};

void table_deinit(struct symbol_table *table)
{
	vec_deinit(&table->symbols);
	vec_deinit(&table->objects);
	free(table->starts);
	free(table->first);
	free(table->chosen);
	free(table->outer);
	*table = (struct symbol_table){0};
}

bool table_add(struct symbol_table *table, uint64_t start, uint64_t size, const char *name,
	       uint8_t binding, uint8_t type)
{
	struct table_symbol *symbol = vec_push(&table->symbols);
	if (!symbol)
		return false;
	uint64_t end;
	if (!size || __builtin_add_overflow(start, size, &end))
		end = UINT64_MAX;
	*symbol = (struct table_symbol){
		.start = start,
		.end = end,
		.name = name,
		.binding = binding,
		.type = type,
		.sized = size > 0,
	};
	return true;
}

void table_limit_last(struct symbol_table *table, uint64_t end)
{
	struct table_symbol *symbol = vec_last(&table->symbols);
	if (!symbol->sized && end >= symbol->start)
		symbol->end = end;
}

bool table_set_object(struct symbol_table *table, const char *object)
{
	/* Symbols of one file are neighbours in ELF files. */
	if (!table->objects.count)
		if (!vec_append(&table->objects, NULL))
			return false;
	if (*vec_last(&table->objects) != object)
		if (!vec_append(&table->objects, object))
			return false;
	vec_last(&table->symbols)->object = (uint32_t)table->objects.count - 1;
	return true;
}

static bool is_sorted(const struct symbol_table *table)
{
	for (size_t i = 1; i < table->symbols.count; i++)
		if (table->symbols.items[i].start < table->symbols.items[i - 1].start)
			return false;
	return true;
}

/* Sorts by start; equal starts keep the order in which they were added. */
static struct sp_error *sort(struct symbol_table *table)
{
	size_t count = table->symbols.count;
	CLEANUP_FREE struct sort_key *keys = malloc(2 * count * sizeof(*keys));
	CLEANUP_FREE struct table_symbol *sorted = malloc(count * sizeof(*sorted));
	NEED(keys && sorted);
	uint64_t least = UINT64_MAX, most = 0;
	for (size_t i = 0; i < count; i++) {
		uint64_t start = table->symbols.items[i].start;
		keys[i] = (struct sort_key){.start = start, .index = i};
		least = start < least ? start : least;
		most = start > most ? start : most;
	}
	struct sort_key *from = keys, *to = keys + count;
	for (unsigned int shift = 0; shift < 64 && (most - least) >> shift; shift += RADIX_BITS) {
		/* Sorts stably by RADIX_BITS bits of (start - least). */
		size_t places[RADIX] = {0};
		for (size_t i = 0; i < count; i++)
			places[(from[i].start - least) >> shift & (RADIX - 1)]++;
		size_t sum = 0;
		for (size_t i = 0; i < RADIX; i++) {
			size_t here = places[i];
			places[i] = sum;
			sum += here;
		}
		for (size_t i = 0; i < count; i++)
			to[places[(from[i].start - least) >> shift & (RADIX - 1)]++] = from[i];
		struct sort_key *swap = from;
		from = to;
		to = swap;
	}
	for (size_t i = 0; i < count; i++)
		sorted[i] = table->symbols.items[from[i].index];
	free(table->symbols.items);
	table->symbols.items = take_ptr(sorted);
	table->symbols.capacity = count;
	return NULL;
}

static uint64_t end_of_next_page(uint64_t address)
{
	return address > UINT64_MAX - 2 * PAGE ? UINT64_MAX
					       : (address + PAGE - 1) / PAGE * PAGE + PAGE;
}

/*
 * Returns the furthest end of the symbols at one start. Ends from table_seal() do not count: they
 * never pass the next start.
 */
static uint64_t furthest_end(const struct symbol_table *table, size_t group)
{
	uint64_t end = table->starts[group];
	for (uint32_t i = table->first[group]; i < table->first[group + 1]; i++)
		if (table->symbols.items[i].sized && table->symbols.items[i].end > end)
			end = table->symbols.items[i].end;
	return end;
}

struct sp_error *table_seal(struct symbol_table *table, uint64_t reach)
{
	if (table->symbols.count >= UINT32_MAX)
		return error_new(SP_ERROR_LIMIT, "more than 2^32 symbols");
	if (table->symbols.count == 0)
		return NULL;
	if (!is_sorted(table))
		TRY(sort(table));

	/*
	 * Gives an end to symbols of unknown size. perf does this before it drops duplicates: of
	 * several with one start, only the last gets a nonzero size.
	 */
	for (size_t i = 0; i < table->symbols.count; i++) {
		struct table_symbol *symbol = &table->symbols.items[i];
		if (symbol->sized)
			continue;
		uint64_t end = i + 1 == table->symbols.count ? end_of_next_page(symbol->start) :
							       symbol[1].start;
		if (end < symbol->end)
			symbol->end = end;
		if (symbol->end - symbol->start > reach)
			symbol->end = symbol->start + reach;
	}
	size_t count = table->symbols.count;
	table->starts = malloc(count * sizeof(*table->starts));
	table->first = malloc((count + 1) * sizeof(*table->first));
	table->chosen = malloc(count * sizeof(*table->chosen));
	table->outer = malloc(count * sizeof(*table->outer));
	NEED(table->starts && table->first && table->chosen && table->outer);
	size_t groups = 0;
	for (size_t i = 0; i < count; i++) {
		uint64_t start = table->symbols.items[i].start;
		if (groups > 0 && table->starts[groups - 1] == start)
			continue;
		table->starts[groups] = start;
		table->first[groups] = i;
		table->chosen[groups] = UNCHOSEN;
		groups++;
	}
	table->first[groups] = count;
	table->count = groups;

	/*
	 * Finds, for each start, the nearest earlier symbol that ends later: a chain of enclosing
	 * symbols.
	 */
	CLEANUP_FREE uint64_t *ends = malloc(table->count * sizeof(*ends));
	NEED(ends);
	for (size_t i = 0; i < table->count; i++) {
		ends[i] = furthest_end(table, i);
		uint32_t outer = i ? (uint32_t)(i - 1) : NONE;
		while (outer != NONE && ends[outer] <= ends[i])
			outer = table->outer[outer];
		table->outer[i] = outer;
	}
	return NULL;
}

static size_t leading_underscores(const char *name)
{
	return strspn(name, "_");
}

/*
 * Whether two mangled names differ only in the digit of C1/C2 (constructors) or D1/D2 (destructors):
 * they demangle to the same name.
 */
static bool are_twins(const char *a, const char *b)
{
	size_t same = 0;
	while (a[same] && a[same] == b[same])
		same++;
	return same > 0 && a[0] == '_' && a[same] && b[same] &&
	       (a[same - 1] == 'C' || a[same - 1] == 'D') && !strcmp(a + same + 1, b + same + 1);
}

/* Compares demangled names, as perf's last criteria. Negative: `a` is preferred. */
static int compare_names(const char *a, const char *b)
{
	if (are_twins(a, b))
		return 0;
	struct arena arena = {0};
	const char *shown_a = demangle(a, &arena) ?: a, *shown_b = demangle(b, &arena) ?: b;
	size_t lines_a = leading_underscores(shown_a), lines_b = leading_underscores(shown_b);
	size_t size_a = strlen(shown_a), size_b = strlen(shown_b);
	arena_deinit(&arena);
	if (lines_a != lines_b)
		return lines_a < lines_b ? -1 : 1;
	if (size_a != size_b)
		return size_a > size_b ? -1 : 1;
	return 0;
}

/* Whether `b`, which was added after `a`, is preferred. */
static bool is_better(const struct table_symbol *a, const struct table_symbol *b)
{
	bool sized_a = a->end > a->start, sized_b = b->end > b->start;
	if (sized_a != sized_b)
		return sized_b;
	bool label_a = a->type == STT_NOTYPE, label_b = b->type == STT_NOTYPE;
	if (label_a != label_b)
		return label_a;
	bool weak_a = a->binding == STB_WEAK, weak_b = b->binding == STB_WEAK;
	if (weak_a != weak_b)
		return weak_a;
	bool global_a = a->binding == STB_GLOBAL, global_b = b->binding == STB_GLOBAL;
	if (global_a != global_b)
		return global_b;
	return compare_names(a->name, b->name) > 0;
}

static const struct table_symbol *choose(struct symbol_table *table, size_t group)
{
	if (table->chosen[group] == UNCHOSEN) {
		uint32_t best = table->first[group];
		for (uint32_t i = best + 1; i < table->first[group + 1]; i++)
			if (is_better(&table->symbols.items[best], &table->symbols.items[i]))
				best = i;
		table->chosen[group] = best;
	}
	return &table->symbols.items[table->chosen[group]];
}

/* Returns the number of starts at or below the address. */
static size_t starts_up_to(const struct symbol_table *table, uint64_t address)
{
	return sorted_up_to(table->starts, table->count, , address);
}

const struct table_symbol *table_find(struct symbol_table *table, uint64_t address)
{
	const struct table_symbol *label = NULL;
	size_t below = starts_up_to(table, address);
	uint32_t group = below ? (uint32_t)(below - 1) : NONE;
	for (int depth = 0; group != NONE && depth < NESTING_MAX; depth++) {
		const struct table_symbol *symbol = choose(table, group);
		if (address < symbol->end) {
			if (!(symbol->type == STT_NOTYPE && !symbol->sized) &&
			    (!label || symbol->sized))
				return symbol;
			label = label ?: symbol;
		}
		group = table->outer[group];
	}
	return label;
}

const struct table_symbol *table_at(struct symbol_table *table, uint64_t start)
{
	size_t below = starts_up_to(table, start);
	if (below == 0 || table->starts[below - 1] != start)
		return NULL;
	return choose(table, below - 1);
}

const struct table_symbol *table_ifunc_at(struct symbol_table *table, uint64_t start)
{
	const struct table_symbol *symbol = table_at(table, start), *best = NULL;
	if (!symbol)
		return NULL;
	size_t group = starts_up_to(table, start) - 1;
	for (uint32_t i = table->first[group]; i < table->first[group + 1]; i++) {
		const struct table_symbol *other = &table->symbols.items[i];
		if (other->type == STT_GNU_IFUNC && (!best || is_better(best, other)))
			best = other;
	}
	return best ?: symbol;
}

void table_neighbours(const struct symbol_table *table, uint64_t address, uint64_t *end_ret,
		      uint64_t *start_ret)
{
	size_t below = starts_up_to(table, address);
	*end_ret = below ? table->symbols.items[table->first[below - 1]].end : 0;
	*start_ret = below < table->count ? table->starts[below] : UINT64_MAX;
}
