/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files that outlive a loss of power, and what that costs. Of what was written since the last sync, a
 * disk may then have any part, in any order: so what a header tells of is synced before the header
 * is written.
 */
#ifndef WRITER_DURABLE_H
#define WRITER_DURABLE_H

#include <stdint.h>

/* What it has cost. Only durable_file() and durable_name() write it, of one thread at a time. */
struct durability {
	uint64_t syncs, spent_ns, longest_ns;
};

/* Waits until all that was written is on the disk; 0 or the errno. `durability` NULL: does nothing. */
int durable_file(struct durability *durability, int fd);

/* The same of the name that a file has there: of the directory that it is in. */
int durable_name(struct durability *durability, const char *path);

/* From any thread. */
struct durability durability_read(const struct durability *durability);

#endif
