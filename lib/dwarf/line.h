/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Line tables (.debug_line). A table is a program that generates rows (address, file, line). It runs
 * once for all queried addresses, and only their rows are kept.
 */
#pragma once

#include "dwarf/unit.h"

struct line_file {
	struct value name;
	uint64_t directory;
	const char *path; /* full path, owned by the reader; NULL: line_table_path() was not called yet */
};

struct line_table {
	const struct unit *unit; /* the skeleton of a split unit, which has no line table itself */
	uint64_t offset;         /* in SECTION_LINE */
	struct cursor program;
	uint16_t version;
	uint8_t instruction_size; /* minimum_instruction_length */
	int8_t line_base;
	uint8_t line_range, opcode_base;
	const uint8_t *opcode_lengths; /* lengths of opcodes 1 to opcode_base - 1 */
	VEC(struct value) directories; /* names of directories */
	VEC(struct line_file) files;   /* index 0 is file 1 before version 5 */
};

/* An address and the row that a search in a line table found for it. */
struct line_query {
	uint64_t vaddr;
	uint64_t symbol; /* vaddr where its symbol begins; 0: it has none */
	uint64_t file; /* file number in the table */
	uint32_t line;
	bool found;
	bool near; /* the row is not before the symbol */
};

/*
 * Reads the header of the unit's table. *ret is empty if the unit has none. Damage is noted; the
 * part before the damage is used.
 */
struct sp_error *line_table_open(struct dwarf_reader *reader, const struct unit *unit,
				 struct line_table *ret) SP_MUST_CHECK;
void line_table_close(struct line_table *table);

/*
 * Sets the results of queries, which must be by ascending vaddr. A result is, in the first sequence
 * that covers the vaddr, the last row that is not above it. Sequences that begin outside of the
 * file's code are ignored. A row before the vaddr's symbol is replaced by one that is not.
 */
struct sp_error *line_table_run(struct dwarf_reader *reader, struct line_table *table,
				struct line_query *queries, size_t count) SP_MUST_CHECK;

/* Calls found() with [low, high) of each sequence. Used for units without address ranges. */
struct sp_error *line_table_extents(struct dwarf_reader *reader, struct line_table *table,
				    void (*found)(void *arg, uint64_t low, uint64_t high),
				    void *arg) SP_MUST_CHECK;

/*
 * Returns the path of a file with its directories; absolute if one of these is. The reader owns
 * *ret; it is NULL if the table has no such file.
 */
struct sp_error *line_table_path(struct dwarf_reader *reader, struct line_table *table,
				 uint64_t file, const char **ret) SP_MUST_CHECK;
