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

/* Replaces each number of a name by '*'. Returns false if it is too long. */
static bool make_any_pattern(const char *comm, char ret[PATTERN_SIZE], bool *has_number_ret)
{
	size_t size = 0;
	*has_number_ret = false;
	while (*comm && size + 1 < PATTERN_SIZE) {
		size_t digits = strspn(comm, DIGITS);
		ret[size++] = digits ? '*' : *comm;
		comm += digits ? digits : 1;
		*has_number_ret |= digits > 0;
	}
	ret[size] = '\0';
	return !*comm;
}

/* Returns false also if the name has no number. */
static bool make_pattern(const char *comm, char ret[PATTERN_SIZE])
{
	bool has_number;
	return make_any_pattern(comm, ret, &has_number) && has_number;
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

bool pools_count(struct pools *pools, uint32_t pid, const char *comm)
{
	char text[PATTERN_SIZE];
	bool has_number;
	if (!make_any_pattern(comm, text, &has_number))
		return true;
	const char *pattern = strtab_add(&pools->texts, text);
	struct pool_names *names = NULL;
	if (pattern)
		names = u64map_item(&pools->names_of, hash_pair((uintptr_t)pattern, pid),
				    &pools->names);
	if (names)
		names->threads++;
	return names;
}

const char *pools_find_counted(struct pools *pools, uint32_t pid, const char *comm)
{
	char text[PATTERN_SIZE], shown[PATTERN_SIZE + 32];
	bool has_number;
	const char *pattern = make_any_pattern(comm, text, &has_number)
				      ? strtab_find(&pools->texts, text) : NULL;
	const uint32_t *index =
		pattern ? u64map_find(&pools->names_of, hash_pair((uintptr_t)pattern, pid)) : NULL;
	if (!index || pools->names.items[*index].threads < 2)
		return NULL;
	snprintf(shown, sizeof(shown), "%s (%u threads)", pattern,
		 pools->names.items[*index].threads);
	return strtab_add(&pools->texts, shown);
}

bool pool_is(const char *text, const char *comm)
{
	char pattern[PATTERN_SIZE];
	bool has_number;
	if (!make_any_pattern(comm, pattern, &has_number))
		return false;
	size_t size = strlen(pattern);
	if (strncmp(text, pattern, size) || !text[size])
		return has_number && !strcmp(text, pattern);
	return !strncmp(text + size, " (", 2) &&
	       !strcmp(text + size + 2 + strspn(text + size + 2, DIGITS), " threads)");
}
