/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How the code at each address is left, as far as a thread has met it. Rows are kept by
 * (view, ip), and behind that by (module, offset), which all processes share: both are a thread's
 * own, so nothing is locked.
 */
#ifndef UNWIND_ROWS_H
#define UNWIND_ROWS_H

#include "unwind/engine.h"
#include "unwind/row.h"

/* A zeroed one with its `shared` set is empty. */
struct rows {
	const struct unwind_shared *shared; /* borrowed */
	struct row_cache by_ip, by_module;
	struct row_store store;
	struct full_rows full;
	VEC(const struct code *) codes; /* by module->index; NULL: not asked for */
	uint64_t misses, made;
	struct row spare; /* when there is no memory for the store */
};

void rows_deinit(struct rows *rows);

/* All that was kept: rows with expressions point into the codes. */
void rows_forget(struct rows *rows);

/* Returns the code of a location with a module; NULL when out of memory. */
const struct code *rows_code(struct rows *rows, const struct location *location);

struct location rows_locate(const struct rows *rows, uint32_t view, uint64_t ip);

/* Whether a file, or the vdso, says what is there. */
bool rows_has_file(const struct location *location);

/* In keys, above all addresses. */
#define KEY_EXACT ((uint64_t)1 << 63)
#define KEY_32BIT ((uint64_t)1 << 62)

/* Addresses of the kernel do, those in spoilt stacks may; no offset in a file does. */
static inline bool rows_has_key_bits(uint64_t address)
{
	return address & (KEY_EXACT | KEY_32BIT);
}

/* Address of code with its architecture and address space; flags: KEY_*. */
struct rows_address {
	const struct unwind_arch *arch;
	uint32_t view;
	uint64_t pc, flags;
};

/* For what is not in the cache. */
const struct row *rows_find_slow(struct rows *rows, const struct rows_address *address);

/* Never NULL; valid until the next call. `exact`: as in struct unwind_frame. */
static inline const struct row *rows_find(struct rows *rows, const struct unwind_arch *arch,
					  uint32_t view, uint64_t ip, bool exact)
{
	const struct rows_address address = {
		.arch = arch,
		.view = view,
		.pc = ip - !exact,
		.flags = (exact ? KEY_EXACT : 0) | (arch->word == 4 ? KEY_32BIT : 0),
	};
	if (__builtin_expect(rows_has_key_bits(address.pc), 0))
		return rows_find_slow(rows, &address);
	uint32_t index = row_cache_find(&rows->by_ip, view, address.pc | address.flags);
	return __builtin_expect(index != UINT32_MAX, 1) ? &rows->store.items.items[index]
							 : rows_find_slow(rows, &address);
}

#endif
