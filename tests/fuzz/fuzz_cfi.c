/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call frame information: tables, entries, their rows, and the expressions in them. The
 * first byte chooses (bit 0: arm64, 1: .debug_frame, 2: 4-byte addresses), the second is how
 * many 8-byte entries of .eh_frame_hdr follow its 12-byte head; the rest is the section.
 */
#include <assert.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include "fuzz.h"
#include "unwind/cfi_row.h"
#include "unwind/expression.h"
#include "unwind/row.h"

#define SECTION_AT 0x1000
#define HEADER_AT 0x800
/* Limit of entries to run, for large inputs. */
#define ENTRIES_MAX 64

static void evaluate(const struct unwind_arch *arch, const struct cfi_rule *rule,
		     const struct cfi_section *section)
{
	struct frame_registers registers = {.known = 0x5555555555555555};
	struct stack_copy stack = {
		.bytes = section->bytes.bytes,
		.low = 0,
		.size = section->bytes.size,
	};
	uint64_t value = 0, address = 0;
	if (rule->kind < RULE_EXPRESSION_AT)
		return;
	for (unsigned int i = 0; i < ARCH_COLUMNS; i++)
		registers.values[i] = 8 * i;
	expression_evaluate(arch, rule->expression, rule->size, &registers, &stack,
			    rule->kind == RULE_EXPRESSION_AT ? &value : NULL, &value, &address);
}

static void make(const struct unwind_arch *arch, const struct cfi_table *table, uint64_t vaddr)
{
	struct cfi_entry entry;
	struct cfi_row full;
	struct row row = {0};
	if (!cfi_find(table, vaddr, &entry))
		return;
	assert(vaddr >= entry.start && vaddr - entry.start < entry.size);
	if (!cfi_row_make(arch, &entry, vaddr, &full))
		return;
	assert(full.cfa.kind == RULE_IS || full.cfa.kind == RULE_EXPRESSION_IS);
	evaluate(arch, &full.cfa, &table->section);
	for (unsigned int i = 0; i < arch->columns; i++)
		evaluate(arch, &full.rules[i], &table->section);
	if (row_pack(arch, &full, &row))
		assert(row.kind == ROW_SIMPLE && row.cfa_column < arch->columns);
}

static void make_all(const struct unwind_arch *arch, const struct cfi_table *table)
{
	struct cfi_entry entry;
	size_t made = 0;
	uint64_t last = 0;
	for (uint64_t at = 0; made < ENTRIES_MAX && cfi_next(&table->section, &at, &entry); made++) {
		assert(entry.offset >= last && at > entry.offset);
		last = at;
		cfi_sets_frame_pointer(arch, &entry);
	}
	made = 0;
	for (size_t at = 0; at < table->section.bytes.size && made < ENTRIES_MAX; at += 4) {
		if (!cfi_parse(&table->section, at, &entry))
			continue;
		made++;
		make(arch, table, entry.start);
		make(arch, table, entry.start + entry.size / 2);
		make(arch, table, entry.start + entry.size - 1);
		make(arch, table, entry.start + entry.size);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	if (size < 2)
		return 0;
	const struct unwind_arch *arch =
		arch_find(bytes[0] & 1 ? "aarch64" : "x86_64",
			  bytes[0] & 4 && !(bytes[0] & 1) ? PERF_SAMPLE_REGS_ABI_32
							  : PERF_SAMPLE_REGS_ABI_64);
	size_t header_size = bytes[1] ? 12 + 8 * (size_t)bytes[1] : 0;
	if (header_size > size - 2)
		header_size = 0;
	struct cfi_bytes header = {bytes + 2, header_size, HEADER_AT};
	struct cfi_section section = {
		.bytes = {bytes + 2 + header_size, size - 2 - header_size, SECTION_AT},
		.word = bytes[0] & 4 ? 4 : 8,
		.is_debug = bytes[0] & 2,
	};
	static const struct code_map everywhere = {.largest = {0, UINT64_MAX}};
	struct cfi_table table;
	struct sp_error *error = cfi_table_init(&table, &section, &header, &everywhere);
	sp_error_free(error);
	if (error)
		return 0;
	make_all(arch, &table);
	cfi_table_deinit(&table);
	/* All of it as an expression, too. */
	struct cfi_rule whole = {
		.kind = RULE_EXPRESSION_IS,
		.size = (uint32_t)section.bytes.size,
		.expression = section.bytes.bytes,
	};
	evaluate(arch, &whole, &section);
	return 0;
}
