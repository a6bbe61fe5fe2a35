/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "dwarf/texts.h"

#include "base/hash.h"

void texts_init(struct texts *texts)
{
	*texts = (struct texts){0};
	for (size_t i = 0; i < TEXT_SHARDS; i++)
		pthread_mutex_init(&texts->shards[i].lock, NULL);
}

void texts_deinit(struct texts *texts)
{
	for (size_t i = 0; i < TEXT_SHARDS; i++) {
		strtab_deinit(&texts->shards[i].strings);
		pthread_mutex_destroy(&texts->shards[i].lock);
	}
}

const char *texts_add(struct texts *texts, const char *text, size_t size, bool *new_ret)
{
	uint64_t hash = hash_bytes(text, size);
	/* The table goes by the low bits. */
	__typeof__(&texts->shards[0]) shard = &texts->shards[hash >> 32 & (TEXT_SHARDS - 1)];
	pthread_mutex_lock(&shard->lock);
	size_t count = shard->strings.count;
	const char *kept = strtab_add_hashed(&shard->strings, hash, text, size);
	*new_ret = shard->strings.count > count;
	pthread_mutex_unlock(&shard->lock);
	return kept;
}
