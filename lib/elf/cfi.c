/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "elf/cfi.h"

#include <dwarf.h>
#include <endian.h>
#include "base/cursor.h"
#include "base/leb128.h"

/* Longest augmentation string that is read. Six letters are defined, and each occurs once. */
#define LETTERS_MAX 32

/* Header of a CIE or an FDE. */
struct cfi_block {
	struct cursor body; /* bytes after the CIE pointer */
	bool is_cie;
	uint64_t cie;  /* FDE: offset of its CIE */
	uint64_t next; /* offset of the next block */
};

static struct cursor section_cursor(const struct cfi_section *section, size_t offset)
{
	struct cursor cursor = cursor_make(section->bytes.bytes, section->bytes.size,
					   BYTE_ORDER == BIG_ENDIAN, NULL, 0);
	cursor.pos += offset < section->bytes.size ? offset : section->bytes.size;
	return cursor;
}

static size_t offset_of(const struct cursor *cursor)
{
	return cursor->pos - cursor->begin;
}

/* Reads a block's header; false at the end or if its length is invalid. A terminator has no body. */
static bool read_block(const struct cfi_section *section, uint64_t offset, struct cfi_block *ret)
{
	if (offset >= section->bytes.size)
		return false;
	struct cursor cursor = section_cursor(section, offset);
	uint32_t short_length;
	uint64_t length;
	if (!cursor_u32(&cursor, &short_length))
		return false;
	bool is_64 = short_length == UINT32_MAX;
	length = short_length;
	if (is_64 && !cursor_u64(&cursor, &length))
		return false;
	if (length > cursor_left(&cursor))
		return false;
	cursor.end = cursor.pos + length;
	*ret = (struct cfi_block){
		.next = offset_of(&cursor) + length, .is_cie = true, .body = cursor};
	if (length == 0)
		return true;
	uint64_t id_at = offset_of(&cursor), id;
	uint32_t short_id;
	if (is_64 ? !cursor_u64(&cursor, &id) : !cursor_u32(&cursor, &short_id))
		return false;
	if (!is_64)
		id = short_id;
	ret->body = cursor;
	if (section->is_debug) {
		ret->is_cie = id == (is_64 ? UINT64_MAX : UINT32_MAX);
		ret->cie = id;
	} else {
		ret->is_cie = id == 0;
		ret->cie = id_at - id;
	}
	return true;
}

/* Reads the encoded number without adding its base (for example, the pc of DW_EH_PE_pcrel). */
static bool read_encoded(struct cursor *cursor, uint8_t encoding, uint8_t word, uint64_t *ret)
{
	uint16_t u16;
	uint32_t u32;
	int64_t s64;
	uint8_t format = encoding & 0x0f;
	if (format == DW_EH_PE_absptr)
		format = word == 4 ? DW_EH_PE_udata4 : DW_EH_PE_udata8;
	switch (format) {
	case DW_EH_PE_uleb128:
		return cursor_uleb(cursor, ret);
	case DW_EH_PE_sleb128:
		if (!cursor_sleb(cursor, &s64))
			return false;
		*ret = s64;
		return true;
	case DW_EH_PE_udata2:
	case DW_EH_PE_sdata2:
		if (!cursor_u16(cursor, &u16))
			return false;
		*ret = format == DW_EH_PE_sdata2 ? (uint64_t)(int16_t)u16 : u16;
		return true;
	case DW_EH_PE_udata4:
	case DW_EH_PE_sdata4:
		if (!cursor_u32(cursor, &u32))
			return false;
		*ret = format == DW_EH_PE_sdata4 ? (uint64_t)(int32_t)u32 : u32;
		return true;
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return cursor_u64(cursor, ret);
	default:
		return false;
	}
}

/* Rejects DW_EH_PE_indirect, which needs the process's memory. No linker uses it for code. */
static bool read_address(const struct cfi_section *section, struct cursor *cursor,
			 uint8_t encoding, uint64_t *ret)
{
	uint64_t at = section->bytes.vaddr + offset_of(cursor), value;
	if (!read_encoded(cursor, encoding, section->word, &value))
		return false;
	switch (encoding & 0xf0) {
	case 0:
		break;
	case DW_EH_PE_pcrel:
		value += at;
		break;
	default:
		return false;
	}
	*ret = section->word == 4 ? (uint32_t)value : value;
	return true;
}

bool cfi_read_address(const struct cfi_section *section, size_t *offset, uint8_t encoding,
		      uint64_t *ret)
{
	struct cursor cursor = section_cursor(section, *offset);
	if (!read_address(section, &cursor, encoding, ret))
		return false;
	*offset = offset_of(&cursor);
	return true;
}

/* Reads the data of the augmentation's letters, between the CIE's head and its instructions. */
static bool read_augmentation(const struct cfi_section *section, const char *letters,
			      struct cursor *cursor, struct cfi_entry *entry)
{
	uint64_t size, ignored;
	if (letters[0] != 'z')
		return letters[0] == '\0';
	if (!cursor_uleb(cursor, &size) || size > cursor_left(cursor))
		return false;
	const uint8_t *behind = cursor->pos + size;
	uint8_t encoding;
	for (const char *letter = letters + 1; *letter; letter++) {
		if (*letter == 'R' && !cursor_u8(cursor, &entry->encoding))
			return false;
		if (*letter == 'L' && !cursor_u8(cursor, &encoding))
			return false;
		if (*letter == 'P' &&
		    (!cursor_u8(cursor, &encoding) || (encoding & 0x70) == DW_EH_PE_aligned ||
		     !read_encoded(cursor, encoding, section->word, &ignored)))
			return false;
		if (*letter == 'S')
			entry->is_signal = true;
		/*
		 * Other letters do not affect unwinding (B: signed by key B); 'z' states their
		 * size.
		 */
		if (!strchr("RLPSBG", *letter))
			break;
	}
	cursor->pos = behind;
	return true;
}

static struct cfi_bytes rest_of(const struct cfi_section *section, const struct cursor *cursor)
{
	return (struct cfi_bytes){
		.bytes = cursor->pos,
		.size = cursor_left(cursor),
		.vaddr = section->bytes.vaddr + offset_of(cursor),
	};
}

static bool parse_cie(const struct cfi_section *section, uint64_t offset, struct cfi_entry *entry,
		      bool *augmented_ret)
{
	struct cfi_block block;
	uint8_t version, narrow;
	const char *letters;
	if (!read_block(section, offset, &block) || !block.is_cie)
		return false;
	struct cursor *cursor = &block.body;
	if (!cursor_u8(cursor, &version) || (version != 1 && version != 3 && version != 4))
		return false;
	size_t left = cursor_left(cursor);
	const uint8_t *end = memchr(cursor->pos, 0, left < LETTERS_MAX ? left : LETTERS_MAX);
	if (!end || !cursor_string(cursor, (size_t)(end - cursor->pos) + 1, &letters))
		return false;
	entry->word = section->word;
	uint8_t address_size, segment_size;
	if (version == 4 &&
	    (!cursor_u8(cursor, &address_size) || !cursor_u8(cursor, &segment_size) ||
	     address_size != section->word || segment_size != 0))
		return false;
	uint64_t ignored;
	/* Augmentation "eh" of g++ 2 has a pointer here. */
	bool old = !strcmp(letters, "eh");
	if (old && !read_encoded(cursor, DW_EH_PE_absptr, section->word, &ignored))
		return false;
	if (!cursor_uleb(cursor, &entry->code_align) ||
	    !cursor_sleb(cursor, &entry->data_align))
		return false;
	if (version == 1) {
		if (!cursor_u8(cursor, &narrow))
			return false;
		entry->return_column = narrow;
	} else if (!cursor_uleb(cursor, &entry->return_column)) {
		return false;
	}
	entry->encoding = DW_EH_PE_absptr;
	if (!read_augmentation(section, old ? "" : letters, cursor, entry))
		return false;
	entry->initial = rest_of(section, cursor);
	*augmented_ret = letters[0] == 'z';
	return true;
}

bool cfi_parse(const struct cfi_section *section, uint64_t offset, struct cfi_entry *ret)
{
	struct cfi_block block;
	struct cfi_entry entry = {.offset = offset};
	bool augmented;
	if (!read_block(section, offset, &block) || block.is_cie ||
	    !parse_cie(section, block.cie, &entry, &augmented))
		return false;
	struct cursor *cursor = &block.body;
	uint64_t size;
	if (!read_address(section, cursor, entry.encoding, &entry.start) ||
	    !read_encoded(cursor, entry.encoding & 0x0f, section->word, &entry.size))
		return false;
	if (augmented && (!cursor_uleb(cursor, &size) || size > cursor_left(cursor)))
		return false;
	if (augmented)
		cursor->pos += size;
	entry.program = rest_of(section, cursor);
	*ret = entry;
	return true;
}

bool cfi_next(const struct cfi_section *section, uint64_t *offset, struct cfi_entry *ret)
{
	struct cfi_block block;
	for (uint64_t at = *offset; read_block(section, at, &block); at = block.next)
		if (!block.is_cie && cfi_parse(section, at, ret)) {
			*offset = block.next;
			return true;
		}
	return false;
}

/* Accepts only entries of two 4-byte numbers relative to the header, as all linkers write them. */
static bool take_sorted(struct cfi_table *table, const struct cfi_bytes *header)
{
	struct cursor cursor =
		cursor_make(header->bytes, header->size, BYTE_ORDER == BIG_ENDIAN, NULL, 0);
	uint8_t version, pointer, count, entries;
	uint64_t ignored, n;
	if (!cursor_u8(&cursor, &version) || !cursor_u8(&cursor, &pointer) ||
	    !cursor_u8(&cursor, &count) || !cursor_u8(&cursor, &entries) || version != 1 ||
	    pointer == DW_EH_PE_omit || count == DW_EH_PE_omit ||
	    entries != (DW_EH_PE_datarel | DW_EH_PE_sdata4) ||
	    !read_encoded(&cursor, pointer, table->section.word, &ignored) ||
	    !read_encoded(&cursor, count, table->section.word, &n))
		return false;
	if (n == 0 || n > cursor_left(&cursor) / 8)
		return false;
	table->header = *header;
	table->sorted_at = offset_of(&cursor);
	table->sorted_count = n;
	return true;
}

static int compare_places(const void *a, const void *b)
{
	const struct cfi_place *x = a, *y = b;
	return u64_order(x->start, y->start) ?: u64_order(x->offset, y->offset);
}

static struct sp_error *make_index(struct cfi_table *table, const struct code_map *code)
{
	const struct cfi_section *section = &table->section;
	struct cfi_entry entry;
	for (uint64_t at = 0; cfi_next(section, &at, &entry);) {
		if (entry.size == 0 || !code_map_has(code, entry.start))
			continue;
		NEED(vec_append(&table->index,
				(struct cfi_place){.start = entry.start, .offset = entry.offset}));
	}
	vec_sort(&table->index, compare_places);
	return NULL;
}

struct sp_error *cfi_table_init(struct cfi_table *table, const struct cfi_section *section,
				const struct cfi_bytes *header, const struct code_map *code)
{
	*table = (struct cfi_table){.section = *section};
	if (header->size > 0 && take_sorted(table, header))
		return NULL;
	struct sp_error *error = make_index(table, code);
	if (error)
		cfi_table_deinit(table);
	return error;
}

void cfi_table_deinit(struct cfi_table *table)
{
	vec_deinit(&table->index);
	*table = (struct cfi_table){0};
}

static struct cfi_place place_at(const struct cfi_table *table, size_t i)
{
	if (table->sorted_count == 0)
		return table->index.items[i];
	int32_t pair[2];
	memcpy(pair, table->header.bytes + table->sorted_at + i * sizeof(pair), sizeof(pair));
	uint64_t base = table->header.vaddr;
	struct cfi_place place = {
		.start = base + (uint64_t)(int64_t)(int32_t)le32toh(pair[0]),
		.offset = base + (uint64_t)(int64_t)(int32_t)le32toh(pair[1]) -
			  table->section.bytes.vaddr,
	};
	if (table->section.word == 4) {
		place.start = (uint32_t)place.start;
		place.offset = (uint32_t)place.offset;
	}
	return place;
}

/* Returns the number of entries that begin at or below `vaddr`. */
static size_t places_up_to(const struct cfi_table *table, uint64_t vaddr)
{
	size_t low = 0, high = table->sorted_count ?: table->index.count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (place_at(table, middle).start <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool cfi_nearest(const struct cfi_table *table, uint64_t vaddr, uint64_t *start_ret)
{
	size_t below = places_up_to(table, vaddr);
	if (below)
		*start_ret = place_at(table, below - 1).start;
	return below;
}

bool cfi_above(const struct cfi_table *table, uint64_t vaddr, uint64_t *start_ret)
{
	size_t below = places_up_to(table, vaddr);
	if (below == (table->sorted_count ?: table->index.count))
		return false;
	*start_ret = place_at(table, below).start;
	return *start_ret > vaddr;
}

bool cfi_find(const struct cfi_table *table, uint64_t vaddr, struct cfi_entry *ret)
{
	size_t low = places_up_to(table, vaddr);
	/* Try the last entries at or before vaddr: an empty or invalid one may hide the right one. */
	for (size_t tries = 0; low > 0 && tries < 4; tries++) {
		struct cfi_entry entry;
		if (cfi_parse(&table->section, place_at(table, --low).offset, &entry) &&
		    vaddr >= entry.start && vaddr - entry.start < entry.size) {
			*ret = entry;
			return true;
		}
	}
	return false;
}
