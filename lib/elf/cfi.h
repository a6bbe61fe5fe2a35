/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Call frame information in its two forms, .eh_frame and .debug_frame: which entry (FDE)
 * tells how code is left. The bytes are used where they lie; they are untrusted, and what
 * makes no sense in them is as if it were not there. Constant once made: for any thread.
 */
#ifndef ELF_CFI_H
#define ELF_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"
#include "base/vec.h"

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
	uint64_t start, size; /* range of code, relative like vaddr */
	struct cfi_bytes initial, program; /* instructions: the CIE's, the FDE's */
	uint64_t code_align;
	int64_t data_align;
	uint64_t return_column;
	uint8_t encoding; /* encoding of addresses */
	uint8_t word;
	bool is_debug; /* it is .debug_frame's */
	bool is_signal;
};

/* Parses the FDE at an offset; false where there is none that is whole. */
bool cfi_parse(const struct cfi_section *section, uint64_t offset, struct cfi_entry *ret);

/*
 * The first FDE at *offset or behind it; *offset is what follows it then. Passes over what
 * cfi_parse() does not take; false at the end.
 */
bool cfi_next(const struct cfi_section *section, uint64_t *offset, struct cfi_entry *ret);

/* An address as DWARF's exception tables encode it, at *offset, which advances; DW_EH_PE_*. */
bool cfi_read_address(const struct cfi_section *section, size_t *offset, uint8_t encoding,
		      uint64_t *ret);

/* A section, and how to find an entry in it. */
struct cfi_table {
	struct cfi_section section;
	struct cfi_bytes header; /* .eh_frame_hdr */
	uint64_t sorted_at, sorted_count; /* its table, used in place; count 0: the index is used */
	VEC(struct cfi_place) index;
};

struct cfi_place {
	uint64_t start;
	uint64_t offset; /* offset of the FDE */
};

/*
 * Takes the sorted table of `header` (size 0: there is none) if it is of the usual kind;
 * else reads the section through for an index. Fails only when out of memory. The bytes
 * must live as long as the table.
 */
struct sp_error *cfi_table_init(struct cfi_table *table, const struct cfi_section *section,
				const struct cfi_bytes *header) SP_MUST_CHECK;
void cfi_table_deinit(struct cfi_table *table);

/* The entry of the code at `vaddr`. */
bool cfi_find(const struct cfi_table *table, uint64_t vaddr, struct cfi_entry *ret);

#endif
