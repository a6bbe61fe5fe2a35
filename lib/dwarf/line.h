/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Line tables. A table is a program that yields rows (address, file, line); it is run
 * once for all addresses that are asked for, and only what they need of it is kept.
 */
#ifndef DWARF_LINE_H
#define DWARF_LINE_H

#include "dwarf/unit.h"

struct line_file {
	struct value name;
	uint64_t directory;
	const char *path; /* the whole, once it was asked for; the reader's */
};

struct line_table {
	const struct unit *unit; /* not a split one: that has no lines */
	uint64_t offset;         /* in SECTION_LINE */
	struct cursor program;
	uint16_t version;
	uint8_t instruction_size; /* the least */
	int8_t line_base;
	uint8_t line_range, opcode_base;
	const uint8_t *opcode_lengths; /* lengths of opcodes 1 to opcode_base - 1 */
	VEC(struct value) directories; /* their names */
	VEC(struct line_file) files;   /* index 0 is file 1 before version 5 */
};

/* Addresses and results of a search in a table. */
struct line_query {
	uint64_t vaddr;
	uint64_t file; /* the table's number of it */
	uint32_t line;
	bool found;
};

/*
 * Reads the header of the unit's table. *ret is empty if the unit has none. Damage is noted; the
 * part before the damage is used.
 */
struct sp_error *line_table_open(struct reader *reader, const struct unit *unit,
				 struct line_table *ret) SP_MUST_CHECK;
void line_table_close(struct line_table *table);

/*
 * Answers queries, which must be by ascending vaddr: the row with the highest address not
 * above, the last of several, of the first sequence that covers it. Sequences below
 * `lowest` are of code that the linker threw away.
 */
struct sp_error *line_table_run(struct reader *reader, struct line_table *table, uint64_t lowest,
				struct line_query *queries, size_t count) SP_MUST_CHECK;

/*
 * Calls back with [low, high) of each sequence: for units that do not say which code is theirs.
 */
struct sp_error *line_table_extents(struct reader *reader, struct line_table *table,
				    void (*found)(void *arg, uint64_t low, uint64_t high),
				    void *arg) SP_MUST_CHECK;

/*
 * The path of a file: absolute, where its directories say so. *ret is the reader's; NULL
 * where the table has no such file.
 */
struct sp_error *line_table_path(struct reader *reader, struct line_table *table, uint64_t file,
				 const char **ret) SP_MUST_CHECK;

#endif
