/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "dwarf/entry_name.h"

#include <dwarf.h>
#include <stdio.h>
#include <string.h>
#include "dwarf/leb.h"

/* Most references followed from an inlined function to its declaration. With LTO, five are usual. */
#define LINKS_MAX 16
#define SCOPES_MAX 64
/* Bytes to read for one entry. Entries with a name are shorter. */
#define ENTRY_WINDOW 4096

/* An entry's names, and its references to entries with more attributes of the function. */
struct facts {
	struct value linkage, name, origin, specification;
	uint64_t declared; /* line of the declaration; 0: absent */
};

static bool read_facts(const struct unit *unit, const struct abbrev_table *table,
		       struct cursor *cursor, const struct abbrev *abbrev, struct facts *facts)
{
	*facts = (struct facts){0};
	const struct attribute *attribute = abbrev_attributes(table, abbrev);
	for (uint32_t i = 0; i < abbrev->attribute_count; i++, attribute++) {
		struct value value;
		if (!value_read(cursor, attribute, &unit->encoding, &value))
			return false;
		switch (attribute->name) {
		case DW_AT_linkage_name:
		case DW_AT_MIPS_linkage_name:
			facts->linkage = value;
			break;
		case DW_AT_name:
			facts->name = value;
			break;
		case DW_AT_decl_line:
			facts->declared = value.u;
			break;
		case DW_AT_abstract_origin:
			facts->origin = value;
			break;
		case DW_AT_specification:
			facts->specification = value;
			break;
		default:
			break;
		}
	}
	return true;
}

static struct sp_error *facts_at(struct dwarf_reader *reader, const struct unit *unit,
				 uint64_t entry, struct facts *facts, bool *ok_ret)
{
	struct cursor cursor;
	const struct abbrev_table *table;
	uint64_t code, end = unit->end - entry > ENTRY_WINDOW ? entry + ENTRY_WINDOW : unit->end;
	*ok_ret = false;
	TRY(reader_abbrevs(reader, unit, &table));
	if (!table)
		return NULL;
	if (!reader_entries(reader, unit, entry, end, &cursor) ||
	    !cursor_uleb(&cursor, &code))
		return NULL;
	const struct abbrev *abbrev = abbrev_find(table, code);
	*ok_ret = abbrev && read_facts(unit, table, &cursor, abbrev, facts);
	return NULL;
}

/* Whether functions of the unit's language are shown with namespace and class before their name. */
static bool qualifies(const struct unit *unit, const char *name)
{
	if (!strncmp(name, "_Z", 2) || !strncmp(name, "_R", 2))
		return false; /* a linkage name, all that -gline-tables-only leaves */
	switch (unit->language) {
	case 0:
	case DW_LANG_C89:
	case DW_LANG_C:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case DW_LANG_Fortran77:
	case DW_LANG_Fortran90:
	case DW_LANG_Fortran95:
	case DW_LANG_Fortran03:
	case DW_LANG_Fortran08:
	case DW_LANG_Go:
	case DW_LANG_Mips_Assembler:
	case 0x2c: /* C17 */
		return false;
	default:
		return true;
	}
}

static bool is_scope(uint16_t tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
	case DW_TAG_enumeration_type:
		return true;
	default:
		return false;
	}
}

/* An entry that contains the searched one: a namespace, class, function or block. */
struct scope {
	struct value name;       /* string that is read only if it is shown */
	const char *without;     /* shown if the scope has no name; NULL: nothing is shown */
	uint64_t function; /* offset of the function's entry; 0: not a function */
};

/* Path from the unit's first entry down to the searched one. */
struct scopes {
	const struct unit *unit;
	const struct abbrev_table *table;
	struct cursor cursor;
	const char *unnamed; /* text for a class without a name */
	struct scope items[SCOPES_MAX];
	size_t count;
};

/* Limit of enclosing functions with names put before a nested function's name. */
#define FUNCTIONS_MAX 4

/* Skips an entry, or enters it if it may contain `target`. False if the entries are damaged. */
static bool skip_or_enter(struct scopes *scopes, uint64_t target)
{
	const struct unit *unit = scopes->unit;
	struct cursor *cursor = &scopes->cursor;
	uint64_t code, sibling = 0, at, begin = cursor_offset(cursor);
	if (!cursor_uleb(cursor, &code))
		return false;
	if (code == 0)
		return scopes->count > 0 && scopes->count--;
	const struct abbrev *abbrev = abbrev_find(scopes->table, code);
	struct cursor attributes = *cursor;
	if (!abbrev || !entry_skip(cursor, scopes->table, abbrev, &unit->encoding, &sibling))
		return false;
	if (!abbrev->children)
		return true;
	if (sibling && !__builtin_add_overflow(sibling, unit->offset, &at) &&
	    at > cursor_offset(cursor) && at <= target) {
		cursor->pos = cursor->begin + (at - cursor->offset);
		return true;
	}
	struct facts facts = {0};
	if (scopes->count >= SCOPES_MAX)
		return false;
	bool named = is_scope(abbrev->tag);
	if (named && !read_facts(unit, scopes->table, &attributes, abbrev, &facts))
		return false;
	const char *unnamed = abbrev->tag == DW_TAG_namespace ? "(anonymous namespace)"
							      : scopes->unnamed;
	scopes->items[scopes->count++] = (struct scope){
		.name = facts.name,
		.without = named ? unnamed : NULL,
		.function = abbrev->tag == DW_TAG_subprogram ? begin : 0,
	};
	return true;
}

/* Finds the entries around `entry`; *ok_ret is false if it is not found, or the limit is exceeded. */
static struct sp_error *find_scopes(struct dwarf_reader *reader, uint64_t entry,
				    struct scopes *scopes, bool *ok_ret)
{
	const struct unit *unit = scopes->unit;
	struct sp_error *error = reader_abbrevs(reader, unit, &scopes->table);
	*ok_ret = !error && scopes->table && reader->search_bytes > 0 &&
		  reader_entries(reader, unit, unit->entries, unit->end, &scopes->cursor);
	if (!*ok_ret)
		return error;
	const uint8_t *start = scopes->cursor.pos;
	while (*ok_ret && cursor_offset(&scopes->cursor) < entry)
		*ok_ret = skip_or_enter(scopes, entry);
	reader->search_bytes -= scopes->cursor.pos - start;
	return NULL;
}

/* Name in the source, with the last entry that has it: usually the declaration, inside its scopes. */
struct plain {
	const char *name;
	uint64_t declared; /* line of the first entry that has one; 0: none */
	struct unit unit;
	uint64_t entry;
};

/*
 * Follows DW_AT_specification and DW_AT_abstract_origin from an entry. Stops at the first linkage
 * name and sets *linkage_ret; else sets *plain. If linkage_ret is NULL, linkage names are ignored.
 */
static struct sp_error *follow(struct dwarf_reader *reader, const struct unit *unit,
			       struct dwarf_file *file, uint64_t entry, const char **linkage_ret,
			       struct plain *plain)
{
	for (int links = 0; links < LINKS_MAX; links++) {
		struct sp_error *error = NULL;
		const struct unit *around = unit;
		if (file != unit->file || entry < unit->entries || entry >= unit->end)
			error = reader_unit(reader, file, entry, &around);
		if (error || !around)
			return error;
		struct unit here = *around;
		struct facts facts;
		bool ok;
		error = facts_at(reader, &here, entry, &facts, &ok);
		if (error || !ok)
			return error;
		if (linkage_ret)
			*linkage_ret = unit_string(&here, &facts.linkage);
		if (linkage_ret && *linkage_ret)
			return NULL;
		const char *name = unit_string(&here, &facts.name);
		plain->declared = plain->declared ?: facts.declared;
		if (name) {
			/* Keep the last entry, the declaration, because only it is inside its scopes. */
			plain->name = plain->name ?: name;
			plain->unit = here;
			plain->entry = entry;
		}
		const struct value *next = facts.specification.form ? &facts.specification
								    : &facts.origin;
		if (!next->form || !unit_reference(&here, next, &file, &entry))
			return NULL;
	}
	return NULL;
}

/*
 * Writes the scopes of an entry, "SCOPE::…::": namespaces, classes and up to `functions` enclosing
 * functions with their own scopes. Writes nothing if the entry is not found.
 */
static struct sp_error *write_scopes(struct dwarf_reader *reader, const struct unit *unit,
				     uint64_t entry, const char *name, unsigned int functions,
				     FILE *stream)
{
	struct scopes scopes = {
		.unit = unit,
		.unnamed = strcmp(name, "operator()") ? NULL : "{lambda}",
	};
	bool ok;
	TRY(find_scopes(reader, entry, &scopes, &ok));
	if (!ok)
		return NULL;
	size_t first = scopes.count;
	while (first > 0 && !scopes.items[first - 1].function)
		first--;
	struct plain plain = {0};
	if (first > 0 && functions > 0) {
		TRY(follow(reader, unit, unit->file, scopes.items[first - 1].function, NULL,
			   &plain));
		if (plain.name)
			TRY(write_scopes(reader, &plain.unit, plain.entry, plain.name,
					 functions - 1, stream));
		if (plain.name)
			fprintf(stream, "%s::", plain.name);
	}
	for (size_t i = first; i < scopes.count; i++) {
		const struct scope *scope = &scopes.items[i];
		const char *shown = unit_string(unit, &scope->name) ?: scope->without;
		if (shown)
			fprintf(stream, "%s::", shown);
	}
	return NULL;
}

static struct sp_error *qualify(struct dwarf_reader *reader, const struct plain *plain,
				const char **ret)
{
	CLEANUP_FREE char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	NEED(stream);
	struct sp_error *error = write_scopes(reader, &plain->unit, plain->entry, plain->name,
					      FUNCTIONS_MAX, stream);
	fputs(plain->name, stream);
	if (fclose(stream) && !error)
		error = error_no_memory();
	return error ?: reader_string(reader, text, size, ret);
}

static struct sp_error *find_name(struct dwarf_reader *reader, const struct unit *unit,
				  struct dwarf_file *file, uint64_t entry, struct entry_name *ret)
{
	const char *linkage = NULL;
	struct plain plain = {0};
	*ret = (struct entry_name){0};
	TRY(follow(reader, unit, file, entry, &linkage, &plain));
	if (!linkage && !plain.name)
		return NULL;
	if (!linkage)
		ret->declared = (uint32_t)plain.declared;
	if (!linkage && qualifies(&plain.unit, plain.name))
		return qualify(reader, &plain, &ret->name);
	const char *name = linkage ?: plain.name;
	return reader_string(reader, name, strlen(name), &ret->name);
}

struct sp_error *name_of_entry(struct dwarf_reader *reader, const struct unit *unit,
			       struct dwarf_file *file, uint64_t entry, struct entry_name *ret)
{
	bool added;
	uint64_t key = hash_pair(file->number, entry);
	const uint32_t *known = u64map_find(&reader->name_index, key);
	if (known) {
		*ret = reader->names.items[*known];
		return NULL;
	}
	TRY(find_name(reader, unit, file, entry, ret));
	struct entry_name *slot = vec_push(&reader->names);
	NEED(slot &&
	     u64map_put(&reader->name_index, key, (uint32_t)reader->names.count - 1, &added));
	*slot = *ret;
	return NULL;
}
