/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Syncs to the disk, so that a recording survives a power loss, and their cost. After a power loss, a
 * disk has any part of the bytes written since the last sync. So data is synced before the header that
 * counts it is written.
 */
#pragma once

#include <stdint.h>

/* Cost of syncs. Only durable_sync_file() and durable_sync_name() change it, in one thread at a time. */
struct durability {
	uint64_t syncs, spent_ns, longest_ns;
};

/* Syncs a file's data. Returns 0 or the errno. Does nothing if `durability` is NULL. */
int durable_sync_file(struct durability *durability, int fd);

/* Syncs the directory of a file, so that the file's name is on the disk. Returns 0 or the errno. */
int durable_sync_name(struct durability *durability, const char *path);

/* Returns the cost so far. Any thread may call it. */
struct durability durability_read(const struct durability *durability);
