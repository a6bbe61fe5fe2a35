/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Call frame information in its two forms, .eh_frame and .debug_frame: finds the entry (FDE) that
 * states how to unwind from an address. The bytes are not copied. They are untrusted: invalid
 * entries are skipped. Constant after cfi_table_init(): any thread may read.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"
#include "base/vec.h"
#include "elf/code_map.h"

/* Little-endian bytes of a section. */
struct cfi_bytes {
	const uint8_t *bytes;
	size_t size;
	uint64_t vaddr; /* address of the first byte when loaded */
};

struct cfi_section {
	struct cfi_bytes bytes;
	uint8_t word;  /* size of an address: 4 or 8 */
	bool is_debug; /* .debug_frame */
};

/* An FDE with its CIE. */
struct cfi_entry {
	uint64_t offset;      /* in the section */
	uint64_t start, size; /* range of code, as vaddr */
	struct cfi_bytes initial, program; /* call frame instructions of the CIE, and of the FDE */
	uint64_t code_align;
	int64_t data_align;
	uint64_t return_column;
	uint8_t encoding; /* encoding of addresses, DW_EH_PE_* */
	uint8_t word;
	bool is_signal;
};

/* Parses the FDE at an offset; false if it is truncated or invalid, or if it is a CIE. */
bool cfi_parse(const struct cfi_section *section, uint64_t offset, struct cfi_entry *ret);

/*
 * Reads the first valid FDE at or after *offset, and sets *offset to the entry after it. Skips
 * entries that cfi_parse() rejects; false at the end.
 */
bool cfi_next(const struct cfi_section *section, uint64_t *offset, struct cfi_entry *ret);

/* Decodes the address at *offset by a DW_EH_PE_* encoding, and advances *offset past it. */
bool cfi_read_address(const struct cfi_section *section, size_t *offset, uint8_t encoding,
		      uint64_t *ret);

/* A section with a lookup by address: .eh_frame_hdr's sorted table, or an index made here. */
struct cfi_table {
	struct cfi_section section;
	struct cfi_bytes header; /* .eh_frame_hdr */
	uint64_t sorted_at, sorted_count; /* the header's table: offset, entries (0: use `index`) */
	VEC(struct cfi_place) index;
};

struct cfi_place {
	uint64_t start;
	uint64_t offset; /* offset of the FDE */
};

/*
 * Uses the sorted table in `header` (.eh_frame_hdr; size 0: none) if its entries have the usual
 * encoding. Otherwise reads all of the section and makes an index, without entries of code that the
 * linker removed: they begin outside of `code`. Fails only when out of memory. The bytes must
 * outlive the table.
 */
struct sp_error *cfi_table_init(struct cfi_table *table, const struct cfi_section *section,
				const struct cfi_bytes *header,
				const struct code_map *code) SP_MUST_CHECK;
void cfi_table_deinit(struct cfi_table *table);

/* Finds the FDE of the code that contains `vaddr`; false if there is none. */
bool cfi_find(const struct cfi_table *table, uint64_t vaddr, struct cfi_entry *ret);

/* Finds the start of the nearest FDE at or below `vaddr`, which may end before it. */
bool cfi_nearest(const struct cfi_table *table, uint64_t vaddr, uint64_t *start_ret);

/* Finds the start of the first FDE above `vaddr`. */
bool cfi_above(const struct cfi_table *table, uint64_t vaddr, uint64_t *start_ret);
