/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "python/code_object.h"

#include <stdlib.h>
#include <string.h>

#define UNIT 2
#define UNITS_MAX ((uint64_t)1 << 28)

/* struct PyObject: the type is after the reference count. */
#define OBJECT_TYPE 8

bool python_code_read_key(struct python_memory *memory, const struct python_runtime *runtime,
			  uint64_t code, struct python_code_key *ret)
{
	const struct python_layout *layout = &runtime->layout;
	memset(ret, 0, sizeof(*ret));
	return python_memory_word(memory, code + OBJECT_TYPE, &ret->type) &&
	       ret->type == runtime->code_type &&
	       python_memory_word(memory, code + layout->code_units, &ret->units) &&
	       ret->units > 0 && ret->units <= UNITS_MAX &&
	       python_memory_word(memory, code + layout->code_name, &ret->name) &&
	       python_memory_word(memory, code + layout->code_file, &ret->file) &&
	       python_memory_word(memory, code + layout->code_lines, &ret->lines) &&
	       python_memory_get(memory, code + layout->code_first_line, &ret->first_line,
				 sizeof(ret->first_line));
}

/* State bits of a str: 2 for interning, 3 for the size of a character, then two flags. */
struct text_state {
	unsigned int character_size;
	bool compact, ascii;
};

static struct text_state state_of(uint32_t state)
{
	return (struct text_state){state >> 2 & 7, state >> 5 & 1, state >> 6 & 1};
}

/* Encodes a character as UTF-8; returns the number of bytes, 0 if it is none. */
static size_t encode(uint32_t character, char *ret)
{
	if (character < 0x80) {
		ret[0] = character;
		return 1;
	}
	size_t size = character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
	static const uint8_t heads[] = {0, 0, 0xc0, 0xe0, 0xf0};
	if (character > 0x10ffff || (character >= 0xd800 && character < 0xe000))
		return 0;
	for (size_t i = size; i-- > 1; character >>= 6)
		ret[i] = 0x80 | (character & 0x3f);
	ret[0] = heads[size] | character;
	return size;
}

static bool read_text(struct python_memory *memory, const struct python_layout *layout,
		      uint64_t address, char *ret)
{
	uint64_t length;
	uint32_t word;
	if (!python_memory_word(memory, address + layout->text_length, &length) ||
	    !python_memory_get(memory, address + layout->text_state, &word, sizeof(word)))
		return false;
	struct text_state state = state_of(word);
	unsigned int size = state.character_size;
	if (!length || !state.compact || (size != 1 && size != 2 && size != 4))
		return false;
	uint64_t at = address + (state.ascii ? layout->text_ascii : layout->text_other);
	size_t used = 0;
	for (uint64_t i = 0; i < length && used + 4 <= PYTHON_TEXT_MAX; i++, at += size) {
		uint32_t character = 0;
		if (!python_memory_get(memory, at, &character, size) || !character)
			return false;
		size_t bytes = encode(character, ret + used);
		if (!bytes)
			return false;
		used += bytes;
	}
	ret[used] = '\0';
	return true;
}

bool python_code_read_names(struct python_memory *memory, const struct python_layout *layout,
			    struct python_code *ret)
{
	return read_text(memory, layout, ret->key.name, ret->name) &&
	       read_text(memory, layout, ret->key.file, ret->file);
}

bool python_code_read_lines(struct python_memory *memory, const struct python_layout *layout,
			    const struct python_code_key *key, uint8_t **table_ret, size_t *size_ret)
{
	uint64_t size;
	*table_ret = NULL;
	*size_ret = 0;
	if (!python_memory_word(memory, key->lines + layout->bytes_size, &size) || !size ||
	    size > PYTHON_LINES_MAX)
		return true;
	uint8_t *table = malloc(size);
	if (!table)
		return false;
	if (!python_memory_get(memory, key->lines + layout->bytes_data, table, size)) {
		free(table);
		return true;
	}
	*table_ret = table;
	*size_ret = size;
	return true;
}

bool python_code_offset(const struct python_layout *layout, uint64_t code,
			const struct python_code_key *key, uint64_t instr, uint64_t *ret)
{
	uint64_t begin = code + layout->code_bytes;
	if (instr + UNIT == begin) {
		*ret = 0;
		return true;
	}
	*ret = instr - begin;
	return instr >= begin && *ret < key->units * UNIT;
}
