/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows of all code that a thread has met: first by (view, ip), then by (module, offset), which all
 * processes share. Each thread has its own, so nothing is locked.
 */
#pragma once

#include "unwind/engine.h"
#include "unwind/go_callers.h"
#include "unwind/row.h"

/* Number of return addresses that are known to follow a call or not, by hash. */
#define ROWS_CALLS 1024

/* A zeroed struct with `shared` set is empty. */
struct rows {
	const struct unwind_shared *shared; /* engine's shared state; borrowed */
	struct row_cache by_ip, by_module;
	struct row_store store;
	struct full_rows full;
	VEC(const struct code *) codes; /* code by module->index; NULL: not needed yet */
	uint64_t work; /* bytes of files that were interpreted: instructions, expressions, code */
	uint64_t calls[ROWS_CALLS]; /* hashes of (view, ip); odd: the address follows a call */
	struct go_call go_calls[GO_CALLS];
	struct row spare; /* row that is returned if there is no memory to store it */
};

void rows_deinit(struct rows *rows);

/* Drops all rows, because rows with expressions point into the codes. */
void rows_drop_code(struct rows *rows);

/* Returns the code of a location with a module; NULL when out of memory. */
const struct code *rows_code(struct rows *rows, const struct location *location);

struct location rows_locate(const struct rows *rows, uint32_t view, uint64_t ip);

/* Returns whether a file, or the vdso, contains the code. */
bool rows_has_file(const struct location *location);

/* Flags of a key, above all addresses. */
#define KEY_EXACT ((uint64_t)1 << 63)
#define KEY_32BIT ((uint64_t)1 << 62)

/*
 * Returns whether an address has bits of the flags. Kernel addresses do, and values in damaged stacks
 * may; offsets in files never do.
 */
static inline bool rows_has_key_bits(uint64_t address)
{
	return address & (KEY_EXACT | KEY_32BIT);
}

/* Address of code with its architecture and address space; flags are KEY_*. */
struct rows_address {
	const struct unwind_arch *arch;
	uint32_t view;
	uint64_t pc, flags;
};

/* Finds a row that is not in the cache. */
const struct row *rows_find_slow(struct rows *rows, const struct rows_address *address);

/*
 * Returns the row of an address: never NULL, valid until the next call. `exact`: see struct
 * unwind_frame.
 */
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
