/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A header with the places of: the functions' names; indexes of files, by compilation unit; paths;
 * tables of values; the functions. The last part begins with an array of (start, offset), sorted by
 * start, with the end of the code as its last start. Since Go 1.18 starts are relative to runtime.text.
 */
#include "go/pclntab.h"

#include <string.h>
#include "base/leb128.h"
#include "go/moduledata.h"

#define MAGIC_1_2 0xfffffffb
#define MAGIC_1_16 0xfffffffa
#define MAGIC_1_18 0xfffffff0
#define MAGIC_1_20 0xfffffff1

/* Bytes that a function's data has at least. They bound the number of functions. */
#define FUNCTION_BYTES_MIN 32
/* Linkers align the table to this at least. */
#define ALIGNMENT 8

/* Steps in a table of frame sizes: more than any real function has, which changes the size rarely. */
#define STEPS_MAX 16384

/* Index of the table of inlined calls, and of the inline tree, in a function's data. */
#define PCDATA_CALLS 2
#define FUNCDATA_TREE 3

static struct cursor cursor_at(const struct pclntab *table, uint64_t offset)
{
	struct cursor cursor =
		cursor_make(table->bytes.bytes, table->bytes.size, table->swap, NULL, 0);
	cursor.pos = offset < table->bytes.size ? cursor.begin + offset : cursor.end;
	return cursor;
}

/* Reads the header's first eight bytes, which are the same in all layouts. */
static bool read_start(struct cursor *cursor, struct pclntab *table)
{
	uint32_t magic;
	uint16_t padding;
	if (!cursor_u32(cursor, &magic) || !cursor_u16(cursor, &padding) ||
	    !cursor_u8(cursor, &table->quantum) || !cursor_u8(cursor, &table->word))
		return false;
	switch (magic) {
	case MAGIC_1_2:
		table->layout = PCLNTAB_1_2;
		break;
	case MAGIC_1_16:
		table->layout = PCLNTAB_1_16;
		break;
	case MAGIC_1_18:
		table->layout = PCLNTAB_1_18;
		break;
	case MAGIC_1_20:
		table->layout = PCLNTAB_1_20;
		break;
	default:
		return false;
	}
	return padding == 0 && (table->word == 4 || table->word == 8) &&
	       (table->quantum == 1 || table->quantum == 2 || table->quantum == 4);
}

/* Size of an element of the array of functions, half of it the start. */
static uint64_t entry_size(const struct pclntab *table)
{
	return table->layout >= PCLNTAB_1_18 ? 8 : 2 * (uint64_t)table->word;
}

static bool has_room_for_functions(const struct pclntab *table)
{
	return table->functions < table->bytes.size &&
	       table->count < (table->bytes.size - table->functions) /
				      (entry_size(table) + FUNCTION_BYTES_MIN);
}

/* Go 1.2: all offsets are from the table's start; the files' place follows the array. */
static bool read_header_1_2(struct cursor *cursor, struct pclntab *table)
{
	uint32_t files;
	if (!cursor_word(cursor, table->word, &table->count))
		return false;
	table->functions = cursor->pos - cursor->begin;
	if (!has_room_for_functions(table))
		return false;
	struct cursor after = cursor_at(table, table->functions + table->count * entry_size(table) +
						       table->word);
	if (!cursor_u32(&after, &files))
		return false;
	table->files = files;
	return true;
}

static bool read_header(struct pclntab *table)
{
	struct cursor cursor = cursor_at(table, 0);
	uint64_t file_count;
	if (!read_start(&cursor, table))
		return false;
	if (table->layout == PCLNTAB_1_2)
		return read_header_1_2(&cursor, table);
	return cursor_word(&cursor, table->word, &table->count) &&
	       cursor_word(&cursor, table->word, &file_count) &&
	       (table->layout == PCLNTAB_1_16 || cursor_word(&cursor, table->word, &table->text)) &&
	       cursor_word(&cursor, table->word, &table->names) &&
	       cursor_word(&cursor, table->word, &table->units) &&
	       cursor_word(&cursor, table->word, &table->files) &&
	       cursor_word(&cursor, table->word, &table->values) &&
	       cursor_word(&cursor, table->word, &table->functions) &&
	       has_room_for_functions(table);
}

/* Searches a segment for a table, which then reaches to the segment's end. */
static struct sp_error *search_segment(const struct image *image, const struct image_load *load,
				       struct pclntab *table)
{
	struct image_bytes bytes = {0};
	struct sp_error *error =
		image_range_bytes(image, load->file_offset, load->file_size, &bytes);
	for (uint64_t at = -load->vaddr % ALIGNMENT; !error && at < bytes.size; at += ALIGNMENT) {
		*table = (struct pclntab){.swap = image->swap, .bytes = bytes};
		table->bytes.bytes += at;
		table->bytes.size -= at;
		table->vaddr = load->vaddr + at;
		if (read_header(table))
			return NULL;
	}
	*table = (struct pclntab){0};
	image_bytes_release(&bytes);
	return error;
}

/* Files without sections may be Go programs; external linkers put the table in another section. */
static bool may_have_table(const struct image *image)
{
	GElf_Shdr header;
	size_t sections;
	return image_section(image, ".go.buildinfo", &header) ||
	       (!elf_getshdrnum(image->elf, &sections) && !sections);
}

static struct sp_error *read_section(const struct image *image, Elf_Scn *section,
				     const GElf_Shdr *header, struct pclntab *table)
{
	*table = (struct pclntab){.swap = image->swap, .vaddr = header->sh_addr};
	TRY(image_section_bytes(image, section, &table->bytes));
	if (read_header(table))
		return NULL;
	pclntab_deinit(table);
	return error_format(image->path, header->sh_offset, "damaged .gopclntab");
}

/* Finds the table by its section, or else by its header. */
static struct sp_error *read_table(const struct image *image, struct pclntab *table)
{
	static const char *const names[] = {".gopclntab", ".data.rel.ro.gopclntab"};
	struct sp_error *error = NULL;
	for (size_t i = 0; i < count_of(names); i++) {
		GElf_Shdr header;
		Elf_Scn *section = image_section(image, names[i], &header);
		if (section && header.sh_type != SHT_NOBITS && header.sh_size)
			return read_section(image, section, &header, table);
	}
	size_t count = may_have_table(image) ? image->loads.count : 0;
	for (size_t i = 0; i < count && !error && !table->count; i++) {
		const struct image_load *load = &image->loads.items[i];
		if (!load->executable && load->file_size)
			error = search_segment(image, load, table);
	}
	return error;
}

/* Sets the base addresses: those of the runtime's own record if it is found. */
static struct sp_error *find_bases(const struct image *image, struct pclntab *table)
{
	struct moduledata module = {0};
	GElf_Shdr header;
	struct sp_error *error = NULL;
	if (table->layout >= PCLNTAB_1_18)
		error = moduledata_find(image, table, &module);
	if (module.text) {
		table->text = module.text;
		table->trees = module.trees;
	} else if (!table->text && image_section(image, ".text", &header)) {
		table->text = header.sh_addr;
	}
	return error;
}

struct sp_error *pclntab_read(const struct image *image, struct pclntab *ret)
{
	struct pclntab table = {0};
	*ret = table;
	struct sp_error *error = read_table(image, &table);
	if (error || !table.count)
		return error;
	const uint8_t *last = memrchr(table.bytes.bytes, 0, table.bytes.size);
	table.strings_end = last ? (uint64_t)(last - table.bytes.bytes) + 1 : 0;
	error = find_bases(image, &table);
	if (error)
		pclntab_deinit(&table);
	else
		*ret = table;
	return error;
}

void pclntab_deinit(struct pclntab *table)
{
	image_bytes_release(&table->bytes);
	*table = (struct pclntab){0};
}

static const char *string_at(const struct pclntab *table, uint64_t base, uint32_t offset)
{
	/* Both are below 2^62 if they are valid: the sum cannot wrap. */
	if (base >= table->strings_end || offset >= table->strings_end - base)
		return NULL;
	return (const char *)table->bytes.bytes + base + offset;
}

const char *pclntab_name(const struct pclntab *table, uint32_t offset)
{
	return string_at(table, table->names, offset);
}

const char *pclntab_file(const struct pclntab *table, const struct go_function *function,
			 int32_t number)
{
	uint32_t offset;
	if (number < 0)
		return NULL;
	uint64_t index = (uint64_t)function->unit + (uint32_t)number;
	bool old = table->layout == PCLNTAB_1_2;
	struct cursor cursor = cursor_at(table, (old ? table->files : table->units) + 4 * index);
	if (!cursor_u32(&cursor, &offset) || offset == UINT32_MAX)
		return NULL;
	return string_at(table, old ? 0 : table->files, offset);
}

/* Reads the start of function `index`, or the end of the last one, and the offset of its data. */
static bool read_entry(const struct pclntab *table, uint64_t index, uint64_t *start_ret,
		       uint64_t *data_ret)
{
	uint64_t size = entry_size(table), data = 0;
	struct cursor cursor = cursor_at(table, table->functions + index * size);
	if (!cursor_word(&cursor, size / 2, start_ret) ||
	    (index < table->count && !cursor_word(&cursor, size / 2, &data)))
		return false;
	if (table->layout >= PCLNTAB_1_18)
		*start_ret += table->text;
	*data_ret = (table->layout >= PCLNTAB_1_16 ? table->functions : 0) + data;
	return true;
}

/* Flags that the table does not have: those of old Go releases, and our own. */
static uint8_t flags_by_name(const char *name, bool old)
{
	static const struct {
		const char *name;
		uint8_t flags;
		bool old; /* since Go 1.18 the table has them */
	} known[] = {
		{"runtime.asyncPreempt", GO_INJECTED, false},
		{"runtime.sigpanic", GO_INJECTED, false},
		{"runtime.cgocallback", GO_RESUMED, false},
		{"runtime.goexit", GO_TOP_FRAME, true},
		{"runtime.mstart", GO_TOP_FRAME, true},
		{"runtime.rt0_go", GO_TOP_FRAME, true},
		{"runtime.systemstack", GO_SP_WRITE | GO_WAITED_FOR, false},
		{"runtime.mcall", GO_SP_WRITE, true},
		{"runtime.morestack", GO_SP_WRITE | GO_GROWS, false},
		{"runtime.morestack_noctxt", GO_GROWS, false},
		{"runtime.gogo", GO_SP_WRITE, true},
		{"runtime.asmcgocall", GO_SP_WRITE | GO_WAITED_FOR, false},
		{"runtime.walltime", GO_SP_WRITE | GO_WAITED_FOR, false},
		{"runtime.walltime1", GO_SP_WRITE | GO_WAITED_FOR, false},
		{"runtime.nanotime", GO_SP_WRITE | GO_WAITED_FOR, false},
		{"runtime.nanotime1", GO_SP_WRITE | GO_WAITED_FOR, false},
		{"runtime.walltimeMono", GO_SP_WRITE | GO_WAITED_FOR, false},
		{"time.now", GO_SP_WRITE | GO_WAITED_FOR, false},
	};
	for (size_t i = 0; i < count_of(known); i++)
		if (known[i].old <= old && !strcmp(name, known[i].name))
			return known[i].flags;
	return 0;
}

static void set_flags(const struct pclntab *table, struct go_function *function)
{
	function->flags &= GO_TOP_FRAME | GO_SP_WRITE;
	if (strncmp(function->name, "runtime.", strlen("runtime.")) &&
	    strcmp(function->name, "time.now"))
		return;
	function->flags |= flags_by_name(function->name, table->layout < PCLNTAB_1_18);
	/* The runtime prepares both stacks so that they can be unwound through this function. */
	if (function->flags & GO_RESUMED)
		function->flags &= (uint8_t)~GO_SP_WRITE;
}

/* Reads the values' offsets and the inline tree's address, which follow a function's fixed part. */
static void read_data(const struct pclntab *table, struct cursor cursor, uint32_t value_count,
		      uint8_t data_count, struct go_function *function)
{
	uint64_t tables = cursor.pos - cursor.begin;
	uint32_t tree;
	cursor = cursor_at(table, tables + 4 * PCDATA_CALLS);
	if (value_count <= PCDATA_CALLS || !cursor_u32(&cursor, &function->calls))
		function->calls = 0;
	if (data_count <= FUNCDATA_TREE || table->layout < PCLNTAB_1_18 || !table->trees)
		return;
	cursor = cursor_at(table, tables + 4 * ((uint64_t)value_count + FUNCDATA_TREE));
	if (cursor_u32(&cursor, &tree) && tree != UINT32_MAX)
		function->tree = table->trees + tree;
}

static bool read_function(const struct pclntab *table, struct cursor cursor,
			  struct go_function *ret)
{
	struct go_function function = {0};
	uint64_t entry;
	uint32_t name, ignored, value_count;
	uint8_t id, padding, data_count;
	bool has_unit = table->layout >= PCLNTAB_1_16, has_line = table->layout >= PCLNTAB_1_20;
	if (!cursor_word(&cursor, table->layout >= PCLNTAB_1_18 ? 4 : table->word, &entry) ||
	    !cursor_u32(&cursor, &name) || !cursor_u32(&cursor, &ignored) ||
	    !cursor_u32(&cursor, &ignored) || !cursor_u32(&cursor, &function.frame_sizes) ||
	    !cursor_u32(&cursor, &function.files) || !cursor_u32(&cursor, &function.lines) ||
	    !cursor_u32(&cursor, &value_count) ||
	    (has_unit && !cursor_u32(&cursor, &function.unit)) ||
	    (has_line && !cursor_u32(&cursor, &function.declared)) || !cursor_u8(&cursor, &id) ||
	    !cursor_u8(&cursor, &function.flags) || !cursor_u8(&cursor, &padding) ||
	    !cursor_u8(&cursor, &data_count))
		return false;
	function.name = pclntab_name(table, name);
	if (!function.name)
		return false;
	set_flags(table, &function);
	read_data(table, cursor, value_count, data_count, &function);
	*ret = function;
	return true;
}

bool pclntab_function(const struct pclntab *table, uint64_t index, struct go_function *ret)
{
	uint64_t start, end, data, ignored;
	if (index >= table->count || !read_entry(table, index, &start, &data) ||
	    !read_entry(table, index + 1, &end, &ignored) || end <= start ||
	    !read_function(table, cursor_at(table, data), ret))
		return false;
	ret->start = start;
	ret->end = end;
	return true;
}

bool pclntab_find(const struct pclntab *table, uint64_t vaddr, struct go_function *ret)
{
	uint64_t low = 0, high = table->count;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2, start, ignored;
		if (!read_entry(table, middle, &start, &ignored))
			return false;
		if (start <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && pclntab_function(table, low - 1, ret) && vaddr >= ret->start &&
	       vaddr < ret->end;
}

bool pc_values_open(const struct pclntab *table, uint32_t offset, struct pc_values *ret)
{
	*ret = (struct pc_values){
		.cursor = cursor_at(table, table->values + offset),
		.value = UINT32_MAX,
		.quantum = table->quantum,
	};
	return offset != 0;
}

bool pc_values_next(struct pc_values *values)
{
	uint64_t change, distance;
	if (!cursor_uleb(&values->cursor, &change) || (change == 0 && values->begun) ||
	    !cursor_uleb(&values->cursor, &distance) || distance == 0 || distance > UINT32_MAX)
		return false;
	/* The lowest bit is the sign. */
	values->value += (uint32_t)(change >> 1) ^ -(uint32_t)(change & 1);
	values->from = values->to;
	values->to += distance * values->quantum;
	values->begun = true;
	return true;
}

bool pc_values_find(struct pc_values *values, uint64_t distance, int32_t *ret)
{
	for (size_t i = 0; i < STEPS_MAX && pc_values_next(values); i++) {
		if (distance >= values->to)
			continue;
		*ret = values->value;
		return true;
	}
	return false;
}
