/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "dwarf/line.h"

#include <dwarf.h>
#include <string.h>
#include "base/format.h"
#include "dwarf/leb.h"

#define FORMATS_MAX 255

struct entry_format {
	struct attribute fields[FORMATS_MAX]; /* DW_LNCT_*, DW_FORM_* */
	uint8_t count;
};

void line_table_close(struct line_table *table)
{
	vec_deinit(&table->directories);
	vec_deinit(&table->files);
	*table = (struct line_table){0};
}

static struct section *lines_of(const struct unit *unit)
{
	return &unit->main->sections[SECTION_LINE];
}

/*
 * Refers to a name in .debug_line, which is only read when a path is made: few of a table's names are
 * used, and in a hostile table, all may refer to the same long string.
 */
static struct value in_place(const struct line_table *table, const char *name)
{
	return (struct value){
		.form = DW_FORM_string,
		.u = (uint64_t)((const uint8_t *)name - lines_of(table->unit)->bytes),
	};
}

static const char *name_of(const struct line_table *table, const struct value *name)
{
	if (name->form == DW_FORM_string)
		return (const char *)lines_of(table->unit)->bytes + name->u;
	return unit_string(table->unit, name);
}

/*
 * Reads names in versions 2 to 4: directories, then files; an empty name ends each list. False: out
 * of memory.
 */
static bool read_old_names(struct line_table *table, struct cursor *cursor, bool *ok_ret)
{
	const char *name;
	*ok_ret = false;
	while (cursor_text(cursor, &name) && *name)
		if (!vec_append(&table->directories, in_place(table, name)))
			return false;
	while (cursor_text(cursor, &name) && *name) {
		uint64_t ignored;
		struct line_file *file = vec_push(&table->files);
		if (!file)
			return false;
		*file = (struct line_file){.name = in_place(table, name)};
		if (!cursor_uleb(cursor, &file->directory) || !cursor_uleb(cursor, &ignored) ||
		    !cursor_uleb(cursor, &ignored))
			return true;
	}
	*ok_ret = true;
	return true;
}

static bool read_format(struct cursor *cursor, const struct encoding *encoding,
			struct entry_format *format)
{
	if (!cursor_u8(cursor, &format->count))
		return false;
	for (uint8_t i = 0; i < format->count; i++) {
		uint64_t content, form;
		if (!cursor_uleb(cursor, &content) || !cursor_uleb(cursor, &form) ||
		    form > UINT16_MAX)
			return false;
		format->fields[i] = (struct attribute){
			.name = content > UINT16_MAX ? 0 : (uint16_t)content,
			.form = (uint16_t)form,
			.size = (int8_t)form_size((uint16_t)form, encoding),
		};
	}
	return true;
}

/* Reads a directory or file entry of version 5; false if it reaches past the end. */
static bool read_entry(struct cursor *cursor, const struct entry_format *format,
		       const struct encoding *encoding, struct line_file *ret)
{
	*ret = (struct line_file){0};
	for (uint8_t i = 0; i < format->count; i++) {
		struct value value;
		if (!value_read(cursor, &format->fields[i], encoding, &value))
			return false;
		if (format->fields[i].name == DW_LNCT_directory_index)
			ret->directory = value.u;
		else if (format->fields[i].name == DW_LNCT_path)
			ret->name = value;
	}
	return true;
}

static bool add_entry(struct line_table *table, bool directories, const struct line_file *entry)
{
	if (directories)
		return vec_append(&table->directories, entry->name);
	return vec_append(&table->files, *entry);
}

static bool read_new_names(struct line_table *table, struct cursor *cursor,
			   const struct encoding *encoding, bool directories, bool *ok_ret)
{
	struct entry_format format;
	uint64_t count;
	*ok_ret = read_format(cursor, encoding, &format) && cursor_uleb(cursor, &count);
	for (uint64_t i = 0; *ok_ret && i < count; i++) {
		struct line_file entry;
		const uint8_t *before = cursor->pos;
		/* Reject entries of 0 bytes: a hostile count of them would cost memory. */
		*ok_ret = read_entry(cursor, &format, encoding, &entry) &&
			  cursor->pos > before;
		if (*ok_ret && !add_entry(table, directories, &entry))
			return false;
	}
	return true;
}

static bool read_names(struct line_table *table, struct cursor *cursor,
		       const struct encoding *encoding, bool *ok_ret)
{
	if (table->version < 5)
		return read_old_names(table, cursor, ok_ret);
	return read_new_names(table, cursor, encoding, true, ok_ret) &&
	       (!*ok_ret || read_new_names(table, cursor, encoding, false, ok_ret));
}

/* Reads the header up to the names. `cursor` is then over the rest of the header. */
static bool read_fixed(struct line_table *table, struct cursor *cursor, struct encoding *encoding)
{
	uint64_t header;
	uint8_t ignored, base;
	if (!cursor_u16(cursor, &table->version) || table->version < 2 || table->version > 5)
		return false;
	encoding->version = table->version;
	if (table->version >= 5 &&
	    !(cursor_u8(cursor, &encoding->address_size) && cursor_u8(cursor, &ignored)))
		return false;
	if (!cursor_unsigned(cursor, encoding->offset_size, &header) ||
	    header > cursor_left(cursor))
		return false;
	table->program = *cursor;
	table->program.pos += header;
	cursor->end = cursor->pos + header;
	if (!cursor_u8(cursor, &table->instruction_size) ||
	    (table->version >= 4 && !cursor_u8(cursor, &ignored)) ||
	    !cursor_u8(cursor, &ignored) || !cursor_u8(cursor, &base) ||
	    !cursor_u8(cursor, &table->line_range) || !cursor_u8(cursor, &table->opcode_base))
		return false;
	table->line_base = (int8_t)base;
	return table->line_range > 0 && table->opcode_base > 0 &&
	       cursor_bytes(cursor, table->opcode_base - 1u, &table->opcode_lengths);
}

struct sp_error *line_table_open(struct dwarf_reader *reader, const struct unit *unit,
				 struct line_table *ret)
{
	struct section *section = lines_of(unit);
	uint64_t at = unit->line_offset, size = section_size(section), length = 0;
	struct encoding encoding = unit->encoding;
	struct cursor cursor;
	bool ok = false;
	*ret = (struct line_table){.unit = unit, .offset = at};
	if (!unit->has_lines)
		return NULL;
	uint64_t head = at < size && size - at > 12 ? at + 12 : size;
	if (at >= size || !section_cursor(section, at, head, &cursor) ||
	    !cursor_length(&cursor, &length, &encoding.offset_size) ||
	    length > size - cursor_offset(&cursor))
		return reader_damage(reader, section_error(section, at, "no such line table"));
	reader->line_bytes -= (int64_t)length;
	if (reader->line_bytes < 0)
		return reader_damage(reader, section_error(section, at,
							   "too many units share line tables"));
	uint64_t start = cursor_offset(&cursor);
	if (!section_cursor(section, start, start + length, &cursor) ||
	    !read_fixed(ret, &cursor, &encoding)) {
		*ret = (struct line_table){.unit = unit, .offset = at};
		return reader_damage(reader, section_error(section, at, "a damaged line table"));
	}
	if (!read_names(ret, &cursor, &encoding, &ok)) {
		line_table_close(ret);
		return error_no_memory();
	}
	return ok ? NULL
		  : reader_damage(reader, section_error(section, cursor_offset(&cursor),
							"damaged file names of a line table"));
}

/* Registers of the line number state machine. */
struct line_registers {
	uint64_t address, file;
	uint32_t line;
};

struct line_program {
	struct line_table *table;
	struct line_registers now, row; /* `row`: last row of the current sequence */
	bool in_sequence;              /* `row` is valid */
	/* For line_table_run(): */
	struct line_query *queries;
	size_t count, next; /* next: index of the first query not below `row` */
	uint64_t wanted;    /* its vaddr; UINT64_MAX: none, or the sequence's code was removed */
	bool no_memory;     /* out of memory for a file */
	int64_t work;       /* queries left to process; only a hostile file exceeds it */
	/* For line_table_extents(): */
	void (*found)(void *arg, uint64_t low, uint64_t high);
	void *arg;
	uint64_t low;
};

/* Selects the query at this index. */
static void set_next(struct line_program *run, size_t next)
{
	run->next = next;
	run->wanted = next < run->count ? run->queries[next].vaddr : UINT64_MAX;
}

static void add_row(struct line_program *run, bool ends)
{
	uint64_t address = run->now.address;
	if (run->in_sequence && address >= run->row.address) {
		for (; run->wanted < address; set_next(run, run->next + 1)) {
			struct line_query *query = &run->queries[run->next];
			run->work--;
			bool near = query->symbol <= run->row.address;
			if (query->found && (query->near || !near))
				continue;
			query->found = true;
			query->near = near;
			query->file = run->row.file;
			query->line = run->row.line;
		}
	} else {
		bool exists = run->count && code_map_has(run->table->unit->main->code, address);
		set_next(run, exists ? sorted_below(run->queries, run->count, .vaddr, address)
				     : run->count);
		run->low = run->in_sequence && run->low < address ? run->low : address;
	}
	run->row = run->now;
	run->in_sequence = !ends;
	if (!ends)
		return;
	if (run->found && run->low < address)
		run->found(run->arg, run->low, address);
	run->now = (struct line_registers){.file = 1, .line = 1};
}

/* Adds a file by DW_LNE_define_file, which perf inject writes for JIT code. */
static bool define_file(struct line_program *run, struct cursor *operand)
{
	struct line_file file = {0};
	const char *name;
	if (!cursor_text(operand, &name) || !cursor_uleb(operand, &file.directory))
		return false;
	file.name = in_place(run->table, name);
	struct line_file *slot = run->queries ? vec_push(&run->table->files) : NULL;
	if (slot)
		*slot = file;
	run->no_memory |= run->queries && !slot;
	return !run->no_memory;
}

static bool extended(struct line_program *run, struct cursor *cursor)
{
	uint64_t size;
	uint8_t opcode;
	const uint8_t *bytes;
	if (!cursor_uleb(cursor, &size) || !cursor_bytes(cursor, size, &bytes))
		return false;
	struct cursor operand = *cursor;
	operand.pos = bytes;
	operand.end = bytes + size;
	if (!cursor_u8(&operand, &opcode))
		return true;
	if (opcode == DW_LNE_end_sequence)
		add_row(run, true);
	else if (opcode == DW_LNE_define_file && run->table->version < 5)
		return define_file(run, &operand);
	else if (opcode == DW_LNE_set_address)
		return cursor_unsigned(&operand, (unsigned int)size - 1, &run->now.address);
	return true;
}

static bool skip_operands(struct cursor *cursor, uint8_t count)
{
	uint64_t ignored;
	while (count-- > 0)
		if (!cursor_uleb(cursor, &ignored))
			return false;
	return true;
}

static bool standard(struct line_program *run, struct cursor *cursor, uint8_t opcode)
{
	const struct line_table *table = run->table;
	uint64_t u;
	int64_t s;
	uint16_t u16;
	switch (opcode) {
	case DW_LNS_copy:
		add_row(run, false);
		return true;
	case DW_LNS_advance_pc:
		if (!cursor_uleb(cursor, &u))
			return false;
		run->now.address += u * table->instruction_size;
		return true;
	case DW_LNS_advance_line:
		if (!cursor_sleb(cursor, &s))
			return false;
		run->now.line += (uint32_t)s;
		return true;
	case DW_LNS_set_file:
		return cursor_uleb(cursor, &run->now.file);
	case DW_LNS_const_add_pc:
		run->now.address += (uint64_t)((255 - table->opcode_base) / table->line_range) *
				    table->instruction_size;
		return true;
	case DW_LNS_fixed_advance_pc:
		if (!cursor_u16(cursor, &u16))
			return false;
		run->now.address += u16;
		return true;
	default:
		return skip_operands(cursor, table->opcode_lengths[opcode - 1]);
	}
}

/* Runs the line program; false if it is damaged. */
static bool run_program(struct line_program *run)
{
	const struct line_table *table = run->table;
	struct cursor cursor = table->program;
	uint8_t opcode;
	while (run->work >= 0 && cursor_u8(&cursor, &opcode)) {
		if (opcode >= table->opcode_base) {
			uint8_t step = (uint8_t)(opcode - table->opcode_base);
			run->now.address += (uint64_t)(step / table->line_range) *
					    table->instruction_size;
			run->now.line += (uint32_t)(table->line_base + step % table->line_range);
			add_row(run, false);
		} else if (opcode == 0 ? !extended(run, &cursor)
				       : !standard(run, &cursor, opcode)) {
			return false;
		}
	}
	return run->work >= 0;
}

static struct sp_error *run_table(struct dwarf_reader *reader, struct line_program *run)
{
	struct line_table *table = run->table;
	size_t size = cursor_left(&table->program);
	if (!table->line_range || size == 0)
		return NULL;
	run->now = (struct line_registers){.file = 1, .line = 1};
	run->work = 65536 + 256 * (int64_t)run->count;
	if (run_program(run))
		return NULL;
	return run->no_memory ? error_no_memory()
			      : reader_damage(reader, section_error(lines_of(table->unit),
								    table->offset,
								    "a damaged line program"));
}

struct sp_error *line_table_run(struct dwarf_reader *reader, struct line_table *table,
				struct line_query *queries, size_t count)
{
	struct line_program run = {.table = table, .queries = queries, .count = count};
	return run_table(reader, &run);
}

struct sp_error *line_table_extents(struct dwarf_reader *reader, struct line_table *table,
				    void (*found)(void *arg, uint64_t low, uint64_t high),
				    void *arg)
{
	struct line_program run = {.table = table, .found = found, .arg = arg};
	return run_table(reader, &run);
}

/* Makes "DIRECTORY/NAME"; the reader owns it. */
static struct sp_error *join(struct dwarf_reader *reader, const char *directory, const char *name,
			     const char **ret)
{
	if (!*directory || *name == '/')
		return reader_string(reader, name, strlen(name), ret);
	size_t length = strlen(directory);
	const char *slash = directory[length - 1] == '/' ? "" : "/";
	CLEANUP_FREE char *path = format_text("%s%s%s", directory, slash, name);
	return path ? reader_string(reader, path, strlen(path), ret) : error_no_memory();
}

/* Returns the directory of a file; "" if the table does not have it. */
static struct sp_error *directory_of(struct dwarf_reader *reader, const struct line_table *table,
				     const struct line_file *file, const char **ret)
{
	const char *unit = unit_string(table->unit, &table->unit->comp_dir) ?: "";
	/* Before version 5, directory 0 is the compilation directory, which is not in the table. */
	uint64_t index = table->version < 5 ? file->directory - 1 : file->directory;
	if (table->version < 5 && file->directory == 0) {
		*ret = unit;
		return NULL;
	}
	const char *directory =
		index < table->directories.count ?
			name_of(table, &table->directories.items[index]) : NULL;
	*ret = directory ?: "";
	return !directory || *directory == '/' ? NULL : join(reader, unit, directory, ret);
}

struct sp_error *line_table_path(struct dwarf_reader *reader, struct line_table *table,
				 uint64_t file, const char **ret)
{
	*ret = NULL;
	uint64_t index = table->version < 5 ? file - 1 : file;
	if (index >= table->files.count)
		return NULL;
	struct line_file *found = &table->files.items[index];
	struct sp_error *error = NULL;
	const char *name = found->path ? NULL : name_of(table, &found->name);
	if (name) {
		const char *directory = "";
		if (*name != '/')
			error = directory_of(reader, table, found, &directory);
		if (!error)
			error = join(reader, directory ?: "", name, &found->path);
	}
	*ret = found->path;
	return error;
}
