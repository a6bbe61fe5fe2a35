/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Only entries of functions, blocks and inlined functions have code ranges. They are nested like the
 * source: inlined functions inside their function, to any depth. The last entry that covers an address
 * is the innermost one. Functions may also be nested (Fortran, Ada, GNU C; lambdas of g++) inside
 * entries that do not cover the address. The first sweep skips these entries; a second sweep searches
 * them for addresses that were not found.
 */
#include "dwarf/walk.h"

#include <dwarf.h>
#include <string.h>
#include "dwarf/leb.h"
#include "dwarf/entry_ranges.h"

/* Deepest nesting of entries that is accepted; no program comes near it. */
#define LEVELS_MAX 10000

struct unit_walk {
	struct dwarf_reader *reader;
	const struct unit *unit;
	const struct abbrev_table *table;
	struct cursor cursor;
	const struct line_query *queries;
	size_t count;
	struct function_node **nodes;
	bool second; /* this is the second sweep */
	bool jumped; /* entries were skipped in which functions may be nested */
	/* ranges and addresses left to process; only a hostile file exceeds them */
	int64_t range_work, answer_work;
	VEC(struct function_node *) levels; /* for each enclosing entry, its function; NULL: none */
};

/* Attributes of a function, inlined function or block. */
struct code_attributes {
	struct value low, high, ranges, entry, origin, call_file, call_line;
	uint64_t sibling; /* offset from the unit; 0: not given */
	const struct abbrev *abbrev;
};

static bool read_code(struct unit_walk *walk, const struct abbrev *abbrev,
		      struct code_attributes *code)
{
	const struct attribute *attribute = abbrev_attributes(walk->table, abbrev);
	memset(code, 0, sizeof(*code));
	code->abbrev = abbrev;
	for (uint32_t i = 0; i < abbrev->attribute_count; i++, attribute++) {
		struct value value;
		if (!value_read(&walk->cursor, attribute, &walk->unit->encoding, &value))
			return false;
		switch (attribute->name) {
		case DW_AT_low_pc:
			code->low = value;
			break;
		case DW_AT_high_pc:
			code->high = value;
			break;
		case DW_AT_ranges:
			code->ranges = value;
			break;
		case DW_AT_entry_pc:
			code->entry = value;
			break;
		case DW_AT_abstract_origin:
			code->origin = value;
			break;
		case DW_AT_call_file:
			code->call_file = value;
			break;
		case DW_AT_call_line:
			code->call_line = value;
			break;
		case DW_AT_sibling:
			code->sibling = value.u;
			break;
		default:
			break;
		}
	}
	return true;
}

/* Moves the cursor to the sibling; false if this is not ahead in the unit. */
static bool jump(struct unit_walk *walk, uint64_t sibling)
{
	struct cursor *cursor = &walk->cursor;
	uint64_t at;
	if (sibling == 0 || __builtin_add_overflow(sibling, walk->unit->offset, &at) ||
	    at <= cursor_offset(cursor) || at > walk->unit->end)
		return false;
	cursor->pos = cursor->begin + (at - cursor->offset);
	return true;
}

static bool has_linkage_name(const struct unit_walk *walk, const struct abbrev *abbrev)
{
	const struct attribute *attribute = abbrev_attributes(walk->table, abbrev);
	for (uint32_t i = 0; i < abbrev->attribute_count; i++, attribute++)
		if (attribute->name == DW_AT_linkage_name ||
		    attribute->name == DW_AT_MIPS_linkage_name)
			return true;
	return false;
}

static struct function_node *new_node(struct unit_walk *walk, const struct code_attributes *code,
				      struct function_node *parent, uint64_t entry, uint64_t low)
{
	struct function_node *node = arena_alloc(&walk->reader->nodes, sizeof(*node));
	if (!node)
		return NULL;
	*node = (struct function_node){
		.parent = parent,
		.root = parent ? parent->root : node,
		.file = walk->unit->file,
		.entry = entry,
		.start = low,
		.call_file = code->call_file.form ? code->call_file.u : UINT64_MAX,
		.call_line = code->call_line.u > UINT32_MAX ? 0 : (uint32_t)code->call_line.u,
	};
	/*
	 * Its name is that of its origin, unless it has a linkage name of its own: constructors and
	 * destructors of one origin are several symbols.
	 */
	if (code->origin.form && !has_linkage_name(walk, code->abbrev))
		unit_reference(walk->unit, &code->origin, &node->file, &node->entry);
	uint64_t start;
	if (unit_address(walk->unit, &code->entry, &start))
		node->start = start;
	return node;
}

/*
 * Whether address i is in the function of `parent`. With parent NULL: whether it has no function
 * yet, and no symbol begins between the address and `low`, the begin of the function's range.
 */
static bool may_have(const struct unit_walk *walk, size_t i, const struct function_node *parent,
		     uint64_t low)
{
	const struct function_node *known = walk->nodes[i];
	if (parent)
		return known && known->root == parent->root;
	return !known && walk->queries[i].symbol <= low;
}

/*
 * Assigns the addresses that the entry covers to a new node; *ret is NULL if there are none. False
 * when out of memory.
 */
static bool assign_addresses(struct unit_walk *walk, const struct code_attributes *code,
			     struct function_node *parent, uint64_t entry,
			     struct function_node **ret)
{
	struct entry_ranges ranges;
	uint64_t low, high, first = 0;
	bool has_first = false;
	*ret = NULL;
	ranges_begin(walk->unit, &code->low, &code->high, &code->ranges, &ranges);
	while (walk->range_work-- > 0 && ranges_next(&ranges, &low, &high)) {
		if (!has_first)
			first = low;
		has_first = true;
		for (size_t i = sorted_below(walk->queries, walk->count, .vaddr, low);
		     i < walk->count && walk->queries[i].vaddr < high; i++) {
			if (walk->answer_work-- <= 0)
				return true;
			if (!may_have(walk, i, parent, low))
				continue;
			if (!*ret)
				*ret = new_node(walk, code, parent, entry, first);
			if (!*ret)
				return false;
			walk->nodes[i] = *ret;
		}
	}
	return true;
}

/* Whether a block may contain a queried address: its ranges cover one, are absent, or are damaged. */
static bool holds_any(struct unit_walk *walk, const struct code_attributes *code)
{
	struct entry_ranges ranges;
	uint64_t low, high;
	if (!code->low.form && !code->ranges.form)
		return true;
	ranges_begin(walk->unit, &code->low, &code->high, &code->ranges, &ranges);
	while (walk->range_work-- > 0 && ranges_next(&ranges, &low, &high)) {
		size_t i = sorted_below(walk->queries, walk->count, .vaddr, low);
		if (i < walk->count && walk->queries[i].vaddr < high)
			return true;
	}
	return ranges.damaged;
}

static struct sp_error *damaged(struct unit_walk *walk, const char *what)
{
	return section_error(unit_info(walk->unit), cursor_offset(&walk->cursor), what);
}

static struct sp_error *enter(struct unit_walk *walk, const struct abbrev *abbrev,
			      struct function_node *node)
{
	if (!abbrev->children)
		return NULL;
	if (walk->levels.count >= LEVELS_MAX)
		return damaged(walk, "entries are nested too deeply");
	NEED(vec_append(&walk->levels, node));
	return NULL;
}

static struct function_node *enclosing_function(const struct unit_walk *walk)
{
	return walk->levels.count ? *vec_last(&walk->levels) : NULL;
}

/*
 * Skips an entry that covers no address: to its sibling if known, else through its children, which
 * may include functions.
 */
static struct sp_error *skip_entry(struct unit_walk *walk, const struct abbrev *abbrev,
				   uint64_t sibling)
{
	if (!abbrev->children)
		return NULL;
	if (!jump(walk, sibling))
		return enter(walk, abbrev, NULL);
	walk->jumped = walk->jumped || (abbrev->kind != ENTRY_OTHER &&
					abbrev->kind != ENTRY_INLINED);
	return NULL;
}

/* Processes the entry of a function, an inlined function or a block. */
static struct sp_error *visit_code(struct unit_walk *walk, const struct abbrev *abbrev,
				   uint64_t entry)
{
	struct code_attributes code;
	if (!read_code(walk, abbrev, &code))
		return damaged(walk, "an entry reaches past its unit");
	struct function_node *node = enclosing_function(walk);
	bool inside;
	if (abbrev->kind == ENTRY_BLOCK) {
		inside = holds_any(walk, &code);
	} else {
		/* Ignore inlined functions outside of a function that covers an address. */
		bool inlined = abbrev->kind == ENTRY_INLINED;
		struct function_node *own = NULL;
		if ((!inlined || node) &&
		    !assign_addresses(walk, &code, inlined ? node : NULL, entry, &own))
			return error_no_memory();
		inside = own != NULL;
		node = own;
	}
	if (inside)
		return enter(walk, abbrev, node);
	bool look = walk->second && abbrev->kind != ENTRY_INLINED;
	return skip_entry(walk, abbrev, look ? 0 : code.sibling);
}

static struct sp_error *visit_entry(struct unit_walk *walk, const struct abbrev *abbrev,
				    uint64_t entry)
{
	uint64_t sibling = 0;
	switch (abbrev->kind) {
	case ENTRY_FUNCTION:
	case ENTRY_INLINED:
	case ENTRY_BLOCK:
		return visit_code(walk, abbrev, entry);
	default:
		break;
	}
	if (!entry_skip(&walk->cursor, walk->table, abbrev, &walk->unit->encoding, &sibling))
		return damaged(walk, "an entry reaches past its unit");
	if (abbrev->kind == ENTRY_SCOPE)
		return enter(walk, abbrev, enclosing_function(walk));
	bool look = walk->second && abbrev->kind == ENTRY_HOLDER;
	return skip_entry(walk, abbrev, look ? 0 : sibling);
}

static struct sp_error *sweep(struct unit_walk *walk)
{
	struct cursor *cursor = &walk->cursor;
	while (cursor_left(cursor) > 0) {
		uint64_t code, entry = cursor_offset(cursor);
		if (!cursor_uleb(cursor, &code))
			return damaged(walk, "an entry reaches past its unit");
		if (code == 0) {
			if (walk->levels.count <= 1)
				return NULL;
			walk->levels.count--;
			continue;
		}
		const struct abbrev *abbrev = abbrev_find(walk->table, code);
		if (!abbrev)
			return damaged(walk, "an entry without abbreviation");
		TRY(visit_entry(walk, abbrev, entry));
		if (walk->range_work < 0 || walk->answer_work < 0)
			return damaged(walk, "entries cover the same code too often");
	}
	return NULL;
}

/* Does one sweep over all entries of the unit. */
static struct sp_error *walk_over(struct unit_walk *walk)
{
	struct dwarf_reader *reader = walk->reader;
	const struct unit *unit = walk->unit;
	walk->range_work = 65536 + 8 * (int64_t)(unit->end - unit->offset);
	walk->answer_work = 65536 + 1024 * (int64_t)walk->count;
	struct sp_error *error = reader_abbrevs(reader, unit, &walk->table);
	if (error || !walk->table)
		return error;
	if (!reader_entries(reader, unit, unit->entries, unit->end, &walk->cursor))
		return reader_damage(reader, section_error(unit_info(unit), unit->entries,
							   "cannot be read"));
	error = sweep(walk);
	vec_deinit(&walk->levels);
	return reader_damage(reader, error);
}

/* Searches the addresses without a function again, in a second sweep that skips less. */
static struct sp_error *walk_rest(const struct unit_walk *first, size_t rest)
{
	CLEANUP_FREE struct line_query *queries = calloc(rest, sizeof(*queries));
	CLEANUP_FREE struct function_node **nodes = calloc(rest, sizeof(*nodes));
	NEED(queries && nodes);
	for (size_t i = 0, j = 0; i < first->count; i++)
		if (!first->nodes[i])
			queries[j++] = first->queries[i];
	struct unit_walk walk = {
		.reader = first->reader,
		.unit = first->unit,
		.queries = queries,
		.count = rest,
		.nodes = nodes,
		.second = true,
	};
	struct sp_error *error = walk_over(&walk);
	for (size_t i = 0, j = 0; i < first->count; i++)
		if (!first->nodes[i])
			first->nodes[i] = nodes[j++];
	return error;
}

struct sp_error *walk_unit(struct dwarf_reader *reader, const struct unit *unit,
			   const struct line_query *queries, size_t count,
			   struct function_node **nodes)
{
	for (size_t i = 0; i < count; i++)
		nodes[i] = NULL;
	struct unit_walk walk = {
		.reader = reader,
		.unit = unit,
		.queries = queries,
		.count = count,
		.nodes = nodes,
	};
	struct sp_error *error = walk_over(&walk);
	size_t rest = 0;
	for (size_t i = 0; i < count; i++)
		rest += !nodes[i];
	if (error || rest == 0 || !walk.jumped)
		return error;
	return walk_rest(&walk, rest);
}
