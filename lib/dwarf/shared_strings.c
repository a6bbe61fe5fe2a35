/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "dwarf/shared_strings.h"

#include "base/hash.h"

void shared_strings_init(struct shared_strings *texts)
{
	*texts = (struct shared_strings){0};
	for (size_t i = 0; i < STRING_SHARDS; i++)
		pthread_mutex_init(&texts->shards[i].lock, NULL);
}

void shared_strings_deinit(struct shared_strings *texts)
{
	for (size_t i = 0; i < STRING_SHARDS; i++) {
		strtab_deinit(&texts->shards[i].strings);
		pthread_mutex_destroy(&texts->shards[i].lock);
	}
}

const char *shared_strings_add(struct shared_strings *texts, const char *text, size_t size, bool *new_ret)
{
	uint64_t hash = hash_bytes(text, size);
	/* Use high bits of the hash, because the shard's own table uses the low ones. */
	__typeof__(&texts->shards[0]) shard = &texts->shards[hash >> 32 & (STRING_SHARDS - 1)];
	pthread_mutex_lock(&shard->lock);
	size_t count = shard->strings.count;
	const char *kept = strtab_add_hashed(&shard->strings, hash, text, size);
	*new_ret = shard->strings.count > count;
	pthread_mutex_unlock(&shard->lock);
	return kept;
}
