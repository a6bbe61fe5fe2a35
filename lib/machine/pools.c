/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "machine/pools.h"

#include <stdio.h>
#include <string.h>

#define DIGITS "0123456789"

/* Longest pattern; the kernel's names have 15 bytes. */
#define PATTERN_SIZE 64

void pools_deinit(struct pools *pools)
{
	strtab_deinit(&pools->texts);
	u64map_deinit(&pools->names_of);
	u64map_deinit(&pools->thread_of);
	u64map_deinit(&pools->total_of);
	vec_deinit(&pools->names);
}

/* Replaces each number of a name by '*'. Returns false if it has none, or is too long. */
static bool make_pattern(const char *comm, char ret[PATTERN_SIZE])
{
	size_t size = 0;
	bool has_number = false;
	while (*comm && size + 1 < PATTERN_SIZE) {
		size_t digits = strspn(comm, DIGITS);
		ret[size++] = digits ? '*' : *comm;
		comm += digits ? digits : 1;
		has_number |= digits > 0;
	}
	ret[size] = '\0';
	return has_number && !*comm;
}

bool pools_add(struct pools *pools, uint32_t pid, uint32_t tid, const char *comm)
{
	char text[PATTERN_SIZE];
	/* A main thread has the program's name. */
	if (pid == tid || !make_pattern(comm, text))
		return true;
	const char *pattern = strtab_add(&pools->texts, text);
	uint64_t key = hash_pair((uintptr_t)pattern, pid);
	bool is_new;
	struct pool_names *names = NULL;
	if (pattern)
		names = u64map_item(&pools->names_of, key, &pools->names);
	if (!names || !u64map_put(&pools->thread_of, hash_pair(key, tid), 0, &is_new))
		return false;
	bool was_pool = names->threads >= 2 && names->comms[1];
	names->comms[names->comms[0] && names->comms[0] != comm] = comm;
	names->threads += is_new;
	if (names->threads < 2 || !names->comms[1])
		return true;
	uint32_t *total = u64map_put(&pools->total_of, (uintptr_t)pattern, 0, NULL);
	if (total)
		*total += was_pool ? is_new : names->threads;
	return total;
}

const char *pools_find(struct pools *pools, const char *comm)
{
	char text[PATTERN_SIZE], shown[PATTERN_SIZE + 32];
	if (!pools->total_of.count || !make_pattern(comm, text))
		return NULL;
	const char *pattern = strtab_find(&pools->texts, text);
	const uint32_t *total = pattern ? u64map_find(&pools->total_of, (uintptr_t)pattern) : NULL;
	if (!total)
		return NULL;
	snprintf(shown, sizeof(shown), "%s (%u threads)", pattern, *total);
	return strtab_add(&pools->texts, shown);
}

bool pool_is(const char *text, const char *comm)
{
	char pattern[PATTERN_SIZE];
	if (!strchr(text, '*') || !make_pattern(comm, pattern))
		return false;
	size_t size = strlen(pattern);
	return !strncmp(text, pattern, size) && (!text[size] || !strncmp(text + size, " (", 2));
}
