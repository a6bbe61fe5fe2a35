/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A made-up Go program: an ELF file without sections. Its writable segment has a function table,
 * runtime.moduledata and an inline tree, its executable one zeros. Its functions, from MADE_GO_TEXT on:
 *
 *	0x00 main.leaf       a.go:10; its frame is of 0, 24 and 0 bytes from 0x0, 0x4, 0x3c on
 *	0x40 main.outer      a.go:20; from 0x50 to 0x60 inlined: main.middle, b.go:30, which was called at
 *	                     0x44; from 0x60 to 0x70 main.inner, b.go:40, which main.middle called at 0x54
 *	     its frame is of 2,000 bytes
 *	     Declarations, since Go 1.20: main.middle b.go:29, main.inner b.go:39, all others line 1
 *	0x100 runtime.goexit: flag TOPFRAME
 *	0x120 runtime.systemstack: flag SPWRITE
 *	0x140 runtime.asyncPreempt: its frame is of 496 bytes
 *	0x160 runtime.morestack: flag SPWRITE
 *	0x180 runtime.morestack_noctxt
 *	0x1a0 runtime.newstack: its frame is of 80 bytes
 *	0x1c0 the end
 */
#ifndef UNIT_MADE_GO_H
#define UNIT_MADE_GO_H

#include <elf.h>
#include "bytes.h"
#include "elf/image.h"
#include "go/pclntab.h"

#define MADE_GO_TEXT 0x500000
#define MADE_GO_AT 0x400000 /* address of the segment, which is the file */
#define MADE_GO_HEADER 256
#define MADE_GO_FUNCTIONS 8
#define MADE_GO_TEXT_SIZE 0x1c0

struct made_go {
	enum pclntab_layout layout;
	uint8_t word;
	uint16_t machine; /* EM_* */
	struct bytes bytes;
	size_t table; /* offset of the table in the file */
	size_t text;  /* offset of the code in the file */
};

static inline void put_word(struct made_go *made, uint64_t value)
{
	if (made->word == 8)
		put_u64(&made->bytes, value);
	else
		put_u32(&made->bytes, (uint32_t)value);
}

static inline void set_word(struct made_go *made, size_t at, uint64_t value)
{
	size_t size = made->bytes.size;
	made->bytes.size = at;
	put_word(made, value);
	made->bytes.size = size;
}

static inline void align_made(struct made_go *made, size_t alignment)
{
	while (made->bytes.size % alignment)
		put_u8(&made->bytes, 0);
}

/* A table of values: pairs of a value and of the size of the code that has it; a size of 0 ends it. */
static inline uint32_t put_values(struct made_go *made, size_t values, const int (*pairs)[2])
{
	uint32_t at = (uint32_t)(made->bytes.size - values);
	int last = -1;
	for (; (*pairs)[1]; last = (*pairs)[0], pairs++) {
		int change = (*pairs)[0] - last;
		unsigned int coded = change < 0 ? 2 * (unsigned int)-change - 1
						: 2 * (unsigned int)change;
		for (unsigned int part = 0; part < 2; part++) {
			unsigned int rest = part ? (unsigned int)(*pairs)[1] : coded;
			for (; rest > 0x7f; rest >>= 7)
				put_u8(&made->bytes, (uint8_t)(rest | 0x80));
			put_u8(&made->bytes, (uint8_t)rest);
		}
	}
	put_u8(&made->bytes, 0);
	return at;
}

/* Offsets of a function's tables of values. */
struct made_values {
	uint32_t frame_sizes, files, lines, calls;
};

static inline size_t put_function(struct made_go *made, size_t index, uint64_t start, uint32_t name,
				  const struct made_values *values)
{
	struct bytes *bytes = &made->bytes;
	align_made(made, 8);
	size_t at = bytes->size;
	bool relative = made->layout >= PCLNTAB_1_18;
	if (relative)
		put_u32(bytes, (uint32_t)start);
	else
		put_word(made, MADE_GO_TEXT + start);
	put_u32(bytes, name);
	put_u32(bytes, 0);
	put_u32(bytes, 0);
	put_u32(bytes, values->frame_sizes);
	put_u32(bytes, values->files);
	put_u32(bytes, values->lines);
	put_u32(bytes, 3);
	if (made->layout >= PCLNTAB_1_16)
		put_u32(bytes, 0);
	if (made->layout >= PCLNTAB_1_20)
		put_u32(bytes, 1);
	put_u8(bytes, 0);
	put_u8(bytes, !relative	   ? 0
		      : index == 2 ? GO_TOP_FRAME
		      : index == 3 ? GO_SP_WRITE
		      : index == 5 ? GO_SP_WRITE
				   : 0);
	put_u8(bytes, 0);
	put_u8(bytes, 4);
	for (uint32_t i = 0; i < 3; i++)
		put_u32(bytes, i == 2 ? values->calls : 0);
	if (!relative)
		align_made(made, made->word);
	for (uint32_t i = 0; i < 4; i++) {
		if (relative)
			put_u32(bytes, i == 3 && index == 1 ? 0 : UINT32_MAX);
		else
			put_word(made, 0);
	}
	return at;
}

static inline uint32_t put_name(struct made_go *made, size_t base, const char *name)
{
	uint32_t at = (uint32_t)(made->bytes.size - base);
	put(&made->bytes, name, strlen(name) + 1);
	return at;
}

static const uint64_t made_starts[] = {0, 0x40, 0x100, 0x120, 0x140, 0x160, 0x180, 0x1a0,
				       MADE_GO_TEXT_SIZE};

static inline void put_table_header(struct made_go *made)
{
	static const uint32_t magics[] = {0xfffffffb, 0xfffffffa, 0xfffffff0, 0xfffffff1};
	put_u32(&made->bytes, magics[made->layout]);
	put_u16(&made->bytes, 0);
	put_u8(&made->bytes, 1);
	put_u8(&made->bytes, made->word);
	put_word(made, MADE_GO_FUNCTIONS);
}

/* Places of the array of functions: the starts, and the offsets of their data, which are set later. */
static inline size_t put_array(struct made_go *made)
{
	uint8_t word = made->word;
	bool relative = made->layout >= PCLNTAB_1_18;
	size_t at = made->bytes.size;
	made->word = relative ? 4 : word;
	for (size_t i = 0; i <= MADE_GO_FUNCTIONS; i++) {
		put_word(made, (relative ? 0 : MADE_GO_TEXT) + made_starts[i]);
		if (i < MADE_GO_FUNCTIONS)
			put_word(made, 0);
	}
	made->word = word;
	return at;
}

static inline void set_data(struct made_go *made, size_t array, size_t index, size_t offset)
{
	uint8_t word = made->word;
	made->word = made->layout >= PCLNTAB_1_18 ? 4 : word;
	set_word(made, array + (2 * index + 1) * made->word, offset);
	made->word = word;
}

/* Names' offsets from the base of names. */
struct made_names {
	uint32_t functions[MADE_GO_FUNCTIONS], middle, inner;
};

static inline void put_names(struct made_go *made, size_t base, struct made_names *ret)
{
	ret->functions[0] = put_name(made, base, "main.leaf");
	ret->functions[1] = put_name(made, base, "main.outer");
	ret->functions[2] = put_name(made, base, "runtime.goexit");
	ret->functions[3] = put_name(made, base, "runtime.systemstack");
	ret->functions[4] = put_name(made, base, "runtime.asyncPreempt");
	ret->functions[5] = put_name(made, base, "runtime.morestack");
	ret->functions[6] = put_name(made, base, "runtime.morestack_noctxt");
	ret->functions[7] = put_name(made, base, "runtime.newstack");
	ret->middle = put_name(made, base, "main.middle");
	ret->inner = put_name(made, base, "main.inner");
}

static inline void put_all_values(struct made_go *made, size_t values, int first_file,
				  struct made_values ret[MADE_GO_FUNCTIONS])
{
	const int sizes[][2] = {{0, 4}, {24, 0x38}, {0, 4}, {0, 0}};
	const int files[][2] = {{first_file, 0x40}, {0, 0}};
	const int lines[][2] = {{10, 0x40}, {0, 0}};
	const int outer_sizes[][2] = {{2000, 0xc0}, {0, 0}};
	const int injected_sizes[][2] = {{496, 0x20}, {0, 0}};
	const int newstack_sizes[][2] = {{80, 0x20}, {0, 0}};
	const int outer_files[][2] = {{first_file, 0x10}, {first_file + 1, 0x20},
				      {first_file, 0x90}, {0, 0}};
	const int outer_lines[][2] = {{20, 0x10}, {30, 0x10}, {40, 0x10}, {21, 0x90}, {0, 0}};
	const int outer_calls[][2] = {{-1, 0x10}, {0, 0x10}, {1, 0x10}, {-1, 0x90}, {0, 0}};
	/* 0 is no table. */
	put_u8(&made->bytes, 0);
	ret[0] = (struct made_values){put_values(made, values, sizes),
				      put_values(made, values, files),
				      put_values(made, values, lines), 0};
	ret[1] = (struct made_values){put_values(made, values, outer_sizes),
				      put_values(made, values, outer_files),
				      put_values(made, values, outer_lines),
				      put_values(made, values, outer_calls)};
	ret[2] = (struct made_values){0};
	ret[3] = (struct made_values){0};
	ret[4] = (struct made_values){put_values(made, values, injected_sizes), 0, 0, 0};
	ret[5] = (struct made_values){0};
	ret[6] = (struct made_values){0};
	ret[7] = (struct made_values){put_values(made, values, newstack_sizes), 0, 0, 0};
}

/* Go 1.2: offsets are from the table's start, and the array follows the header. */
static inline void put_table_1_2(struct made_go *made, struct made_names *names)
{
	size_t table = made->table, array = put_array(made), files = made->bytes.size;
	struct made_values values[MADE_GO_FUNCTIONS];
	put_u32(&made->bytes, 0);
	put_names(made, table, names);
	put_all_values(made, table, 1, values);
	for (size_t i = 0; i < MADE_GO_FUNCTIONS; i++)
		set_data(made, array, i, put_function(made, i, made_starts[i],
						      names->functions[i], &values[i]) - table);
	uint32_t a = put_name(made, table, "/src/a.go"), b = put_name(made, table, "/src/b.go");
	align_made(made, 4);
	size_t at = made->bytes.size;
	put_u32(&made->bytes, 3);
	put_u32(&made->bytes, a);
	put_u32(&made->bytes, b);
	size_t size = made->bytes.size;
	made->bytes.size = files;
	put_u32(&made->bytes, (uint32_t)(at - table));
	made->bytes.size = size;
}

static inline void put_table(struct made_go *made, struct made_names *names)
{
	size_t table = made->table, parts[5];
	struct made_values values[MADE_GO_FUNCTIONS];
	put_table_header(made);
	if (made->layout == PCLNTAB_1_2) {
		put_table_1_2(made, names);
		return;
	}
	put_word(made, 2);
	if (made->layout >= PCLNTAB_1_18)
		put_word(made, 0);
	size_t places = made->bytes.size;
	for (size_t i = 0; i < 5; i++)
		put_word(made, 0);
	parts[0] = made->bytes.size;
	put_names(made, parts[0], names);
	align_made(made, 4);
	parts[1] = made->bytes.size;
	put_u32(&made->bytes, 0);
	put_u32(&made->bytes, 10);
	parts[2] = made->bytes.size;
	put_name(made, parts[2], "/src/a.go");
	put_name(made, parts[2], "/src/b.go");
	parts[3] = made->bytes.size;
	put_all_values(made, parts[3], 0, values);
	align_made(made, 8);
	parts[4] = put_array(made);
	for (size_t i = 0; i < MADE_GO_FUNCTIONS; i++)
		set_data(made, parts[4], i, put_function(made, i, made_starts[i],
							 names->functions[i], &values[i]) - parts[4]);
	for (size_t i = 0; i < 5; i++)
		set_word(made, places + i * made->word, parts[i] - table);
}

static inline void put_call(struct made_go *made, uint32_t name, uint32_t at, uint32_t declared)
{
	bool old = made->layout == PCLNTAB_1_18;
	put_u32(&made->bytes, 0);
	if (old) {
		put_u32(&made->bytes, 0);
		put_u32(&made->bytes, 0);
	}
	put_u32(&made->bytes, name);
	put_u32(&made->bytes, at);
	if (!old)
		put_u32(&made->bytes, declared);
}

/* The words of runtime.moduledata up to go:func.*, and the inline tree after them. */
static inline void put_moduledata(struct made_go *made, const struct made_names *names)
{
	size_t trees = made->layout >= PCLNTAB_1_20 ? 40 : 38;
	struct pclntab table = {0};
	align_made(made, 8);
	/* The header has the offset of the names after the number of files and the start of the code. */
	size_t at = made->table + 8 + 3 * made->word;
	if (made->word == 8)
		memcpy(&table.names, made->bytes.at + at, 8);
	else
		memcpy(&table.names, made->bytes.at + at, 4);
	if (made->bytes.swap)
		table.names = made->word == 8 ? __builtin_bswap64(table.names)
					      : __builtin_bswap32((uint32_t)table.names);
	size_t end = made->bytes.size + (trees + 1) * made->word;
	for (size_t i = 0; i <= trees; i++)
		put_word(made, i == 0	      ? MADE_GO_AT + made->table
			       : i == 1	      ? MADE_GO_AT + made->table + table.names
			       : i == 22      ? MADE_GO_TEXT
			       : i == trees   ? MADE_GO_AT + end
					      : 0);
	put_call(made, names->middle, 0x4, 29);
	put_call(made, names->inner, 0x14, 39);
}

static inline void put_elf_header(struct made_go *made)
{
	struct bytes *bytes = &made->bytes;
	const uint8_t ident[16] = {0x7f, 'E', 'L', 'F', ELFCLASS64,
				   bytes->swap != HOST_IS_BIG ? ELFDATA2MSB : ELFDATA2LSB, 1};
	put(bytes, ident, sizeof(ident));
	put_u16(bytes, ET_EXEC);
	put_u16(bytes, made->machine);
	put_u32(bytes, 1);
	put_u64(bytes, MADE_GO_TEXT);
	put_u64(bytes, 64);
	put_u64(bytes, 0);
	put_u32(bytes, 0);
	put_u16(bytes, 64);
	put_u16(bytes, 56);
	put_u16(bytes, 2);
	for (size_t i = 0; i < 3; i++)
		put_u16(bytes, 0);
}

static inline void put_segment(struct made_go *made, uint32_t flags, uint64_t vaddr, uint64_t offset,
			       uint64_t size)
{
	put_u32(&made->bytes, PT_LOAD);
	put_u32(&made->bytes, flags);
	put_u64(&made->bytes, offset);
	put_u64(&made->bytes, vaddr);
	put_u64(&made->bytes, vaddr);
	put_u64(&made->bytes, size);
	put_u64(&made->bytes, size);
	put_u64(&made->bytes, 8);
}

/* Sets the segments: the data, of `size` bytes with the header, and the code. */
static inline void set_segments(struct made_go *made, uint64_t size)
{
	size_t end = made->bytes.size;
	made->bytes.size = 64;
	put_segment(made, PF_R | PF_W, MADE_GO_AT, 0, size);
	put_segment(made, PF_R | PF_X, MADE_GO_TEXT, made->text, MADE_GO_TEXT_SIZE);
	made->bytes.size = end;
}

/* Sets all but layout, word, machine and bytes.swap, which the caller has set. */
static inline void made_go_init(struct made_go *made)
{
	struct made_names names;
	put_elf_header(made);
	made->bytes.size = made->table = MADE_GO_HEADER;
	put_table(made, &names);
	if (made->layout >= PCLNTAB_1_18)
		put_moduledata(made, &names);
	made->text = made->bytes.size;
	made->bytes.size += MADE_GO_TEXT_SIZE;
	set_segments(made, made->text);
}

static inline struct sp_error *made_go_open(const struct made_go *made, struct image **ret)
{
	void *copy = malloc(made->bytes.size);
	memcpy(copy, made->bytes.at, made->bytes.size);
	return image_open_memory(copy, made->bytes.size, "made", ret);
}

#endif
