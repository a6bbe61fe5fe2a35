/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Positions of a recording's records, in the order in which a script shows them. */
#pragma once

#include <sprof/script.h>
#include "base/vec.h"
#include "file/reader_io.h"

/* Position and time of a record. */
struct record_ref {
	uint64_t time_ns;
	uint64_t size : 16;
	uint64_t offset : 48;
};

struct order {
	VEC(struct record_ref);
};

/* Records to sort; all members are borrowed. */
struct order_request {
	struct sp_reader *reader;
	const struct sp_script_options *options;
	const uint64_t *splits; /* ascending offsets of some records, with the first one and the end */
	size_t split_count;
	unsigned int threads;
};

/*
 * Sorts records by time, as `perf script` does. Records of equal time keep their order in the file. A
 * record without a time precedes all records that perf would still hold back at its place in the file.
 * Damage is reported to the reader. `order` must be zeroed; the caller deinitialises it after a
 * failure, too.
 */
struct sp_error *order_make(struct order *order, const struct order_request *request) SP_MUST_CHECK;
void order_deinit(struct order *order);

/* Sorts stably by time. False when out of memory. */
bool order_sort(struct record_ref *items, size_t count);
