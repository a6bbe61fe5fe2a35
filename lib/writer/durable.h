/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Syncs against power loss, and their cost. After a power loss, a disk may have any part of the
 * bytes written since the last sync. Data is therefore synced before the header that counts it is
 * written.
 */
#ifndef WRITER_DURABLE_H
#define WRITER_DURABLE_H

#include <stdint.h>

/* Cost of syncs. Only durable_file() and durable_name() write it, in one thread at a time. */
struct durability {
	uint64_t syncs, spent_ns, longest_ns;
};

/* Syncs a file's data; 0 or the errno. Does nothing if `durability` is NULL. */
int durable_file(struct durability *durability, int fd);

/* The same for the name of a file: syncs its directory. */
int durable_name(struct durability *durability, const char *path);

/* Returns the cost so far. Any thread may call it. */
struct durability durability_read(const struct durability *durability);

#endif
