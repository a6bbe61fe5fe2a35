/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Deferred call chains (Linux 6.19): a sample's chain ends in a number, and what the program
 * called comes in a record of its own, when the task returns to it. There may be as many of those
 * as samples, anywhere behind them in the file: they are read before the samples, range by range,
 * and kept as one tree of what they have in common.
 */
#pragma once

#include "base/hash.h"
#include "base/vec.h"
#include "file/reader_io.h"
#include "profile/radix.h"

/* Mark of a deferred user part; it and the number after it are a chain's last words. */
#define CONTEXT_USER_DEFERRED ((uint64_t)-640)

/* Gets the number of a chain's deferred part; false if the chain has none. */
static inline bool deferred_cookie(const uint64_t *ips, size_t count, uint64_t *cookie_ret)
{
	if (count < 2 || ips[count - 2] != CONTEXT_USER_DEFERRED)
		return false;
	*cookie_ret = ips[count - 1];
	return true;
}

struct deferred_chain {
	uint64_t cookie;
	uint64_t offset; /* offset of the record in the file */
	uint32_t tid;
	uint32_t node; /* node of the chain, outermost call first */
};

struct deferred_ips {
	VEC(uint64_t);
};

/* Deferred chains that one thread read. */
struct deferred_part {
	struct radix radix;
	struct radix_path path;  /* path of the chain added last */
	struct deferred_ips last, words;
	VEC(struct deferred_chain);
	struct index_set index_of;
};

struct deferred {
	struct deferred_part *parts;
	size_t count;
};

/* A zeroed struct deferred is empty. */
void deferred_deinit(struct deferred *deferred);

/*
 * Reads all deferred chains with `threads` threads. `splits` are offsets of records; the last is the
 * end. Damage within the records is added to the reader; damage between them is added when samples are
 * read.
 */
struct sp_error *deferred_read(struct deferred *deferred, struct sp_reader *reader,
			       const uint64_t *splits, size_t split_count,
			       unsigned int threads) SP_MUST_CHECK;

/*
 * Appends the deferred chain of a thread and number as recorded: its mark, then the innermost call
 * first. *found_ret: whether it exists. False when out of memory.
 */
bool deferred_append(const struct deferred *deferred, uint32_t tid, uint64_t cookie,
		     struct deferred_ips *to, bool *found_ret);
