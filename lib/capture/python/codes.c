/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/python/codes.h"

#include <stdlib.h>
#include <string.h>
#include "python/linetable.h"

/* Limit of code objects; beyond it, all are dropped: programs may make code without end. */
#define CODES_MAX 16384

struct python_known_code {
	struct python_code_key key;
	uint64_t start;  /* start of the function's address range; 0: it is no code object */
	uint8_t *lines;  /* location table; NULL: none */
	size_t lines_size;
	uint64_t checked_ns;
};

void python_codes_deinit(struct python_codes *codes)
{
	vec_each (item, &codes->list)
		free(item->lines);
	vec_deinit(&codes->list);
	u64map_deinit(&codes->index_of);
}

static void read_code(const struct python_reader *reader, struct python_known_code *known)
{
	const struct python_layout *layout = &reader->runtime->layout;
	struct python_code code = {.key = known->key};
	if (!python_code_read_names(reader->memory, layout, &code))
		return;
	const struct python_function function = {
		.first_line = code.key.first_line, .name = code.name, .file = code.file,
	};
	if (python_functions_add(reader->functions, &function, &known->start) &&
	    !python_code_read_lines(reader->memory, layout, &code.key, &known->lines,
				    &known->lines_size))
		known->start = 0;
}

/* Compares an object with memory, and reads it if it is new or has changed. */
static void check(const struct python_reader *reader, uint64_t address,
		  struct python_known_code *known)
{
	struct python_code_key key;
	bool readable = python_code_read_key(reader->memory, reader->runtime, address, &key);
	known->checked_ns = reader->time_ns;
	if (readable && known->start && !memcmp(&key, &known->key, sizeof(key)))
		return;
	free(known->lines);
	*known = (struct python_known_code){.key = key, .checked_ns = reader->time_ns};
	if (readable)
		read_code(reader, known);
}

static struct python_known_code *find(struct python_codes *codes, uint64_t address)
{
	if (codes->list.count >= CODES_MAX && !u64map_find(&codes->index_of, address))
		python_codes_deinit(codes);
	return u64map_item(&codes->index_of, address, &codes->list);
}

bool python_codes_find(struct python_codes *codes, const struct python_reader *reader, uint64_t code,
		       uint64_t instr, uint64_t *ret)
{
	uint64_t offset;
	struct python_known_code *known = find(codes, code);
	if (!known)
		return false;
	if (!known->start || reader->time_ns > known->checked_ns + PYTHON_CODES_CHECK_NS)
		check(reader, code, known);
	if (!known->start ||
	    !python_code_offset(&reader->runtime->layout, code, &known->key, instr, &offset))
		return false;
	*ret = python_address(known->start,
			      python_linetable_line(known->lines, known->lines_size,
						    known->key.first_line, offset));
	return true;
}
