/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stacks/deferred.h"

#include <stdatomic.h>
#include <stdlib.h>
#include "base/cleanup.h"
#include "base/parallel.h"
#include "file/reader_damage.h"
#include "record/decode.h"
#include "record/types.h"
#include "walk/walker.h"

void deferred_deinit(struct deferred *deferred)
{
	for (size_t i = 0; i < deferred->count; i++) {
		struct deferred_part *part = &deferred->parts[i];
		radix_deinit(&part->radix);
		vec_deinit(&part->path);
		vec_deinit(&part->last);
		vec_deinit(&part->words);
		vec_deinit(part);
		index_set_deinit(&part->index_of);
	}
	free(deferred->parts);
}

/*
 * Returns the chain's node in the tree; the root is the first node. RADIX_NONE when out of memory.
 */
static uint32_t add_words(struct deferred_part *part, const struct sp_deferred *chain)
{
	size_t common = 0, most = part->last.count;
	uint32_t root = radix_root(&part->radix, 0);
	if (root == RADIX_NONE || !vec_reserve(&part->words, chain->count + 1))
		return RADIX_NONE;
	for (size_t i = 0; i < chain->count; i++)
		part->words.items[i] = chain->ips[chain->count - 1 - i];
	part->words.count = chain->count;
	if (chain->count < most)
		most = chain->count;
	while (common < most && part->words.items[common] == part->last.items[common])
		common++;
	uint32_t node = radix_add(&part->radix, root, part->words.items, chain->count, common,
				  &part->path);
	struct deferred_ips scratch = part->last;
	part->last = part->words;
	part->words = scratch;
	return node;
}

/* Adds the first chain of each thread's cookie. Each event has its own copy, and all are equal. */
static struct sp_error *add_chain(struct deferred_part *part, const struct sp_record *record)
{
	const struct sp_deferred *chain = &record->deferred;
	uint64_t hash = hash_pair(chain->cookie, record->id.tid);
	NEED(index_set_reserve(&part->index_of) && vec_reserve(part, part->count + 1));
	struct index_probe probe = index_set_probe(&part->index_of, hash);
	for (uint32_t i; index_set_next(&part->index_of, &probe, &i);)
		if (part->items[i].cookie == chain->cookie && part->items[i].tid == record->id.tid)
			return NULL;
	uint32_t node = add_words(part, chain);
	if (node == RADIX_NONE)
		return error_no_memory();
	index_set_add(&part->index_of, &probe, part->count);
	*vec_push(part) = (struct deferred_chain){
		.cookie = chain->cookie,
		.offset = record->file_offset,
		.tid = record->id.tid,
		.node = node,
	};
	return NULL;
}

static struct sp_error *read_chain(struct deferred_part *part, struct sp_reader *reader,
				   struct decoder *decoder, const struct raw_record *raw)
{
	struct sp_record record;
	struct sp_error *error = decoder_decode(decoder, raw, &record);
	if (!error)
		return add_chain(part, &record);
	if (sp_error_code(error) != SP_ERROR_FORMAT)
		return error;
	reader_add_damage(reader, raw->offset, error);
	return NULL;
}

/* Reads the chains that begin in `extent`. */
static struct sp_error *read_extent(struct deferred_part *part, struct sp_reader *reader,
				    struct reader_extent extent)
{
	CLEANUP(cleanup_walker_free) struct walker *walker = NULL;
	CLEANUP(cleanup_decoder_free) struct decoder *decoder = NULL;
	struct sp_error *error = walker_new(reader, extent, &walker);
	if (!error)
		error = decoder_new(reader_layout(reader), &decoder);
	if (!error)
		walker_skip_samples(walker);
	while (!error) {
		struct raw_record raw;
		error = walker_next(walker, &raw);
		if (!error && !raw.bytes)
			return NULL;
		if (!error && raw.type == RECORD_CALLCHAIN_DEFERRED)
			error = read_chain(part, reader, decoder, &raw);
		else if (error && sp_error_code(error) == SP_ERROR_FORMAT)
			sp_error_free(take_ptr(error));
	}
	return error;
}

/* Parts of the file that threads take one by one. */
struct deferred_reader {
	struct deferred *deferred;
	struct sp_reader *reader;
	const uint64_t *splits;
	size_t split_count;
	atomic_size_t next;
	struct sp_error **errors; /* errors of the threads, by thread */
};

static void read_part(void *arg, unsigned int hand)
{
	struct deferred_reader *reading = arg;
	struct sp_error *error = NULL;
	while (!error) {
		size_t next = atomic_fetch_add(&reading->next, 1);
		if (next + 1 >= reading->split_count)
			break;
		const uint64_t *split = &reading->splits[next];
		error = read_extent(&reading->deferred->parts[hand], reading->reader,
				    (struct reader_extent){split[0], split[1]});
	}
	reading->errors[hand] = error;
}

struct sp_error *deferred_read(struct deferred *deferred, struct sp_reader *reader,
			       const uint64_t *splits, size_t split_count, unsigned int threads)
{
	if (threads >= split_count)
		threads = split_count > 1 ? (unsigned int)split_count - 1 : 1;
	CLEANUP_FREE struct sp_error **errors = calloc(threads, sizeof(*errors));
	struct deferred_reader reading = {.deferred = deferred, .reader = reader, .splits = splits,
					  .split_count = split_count, .errors = errors};
	struct sp_error *error = NULL;
	deferred->parts = calloc(threads, sizeof(*deferred->parts));
	NEED(errors && deferred->parts);
	deferred->count = threads;
	parallel_run(threads, read_part, &reading);
	for (unsigned int i = 0; i < threads; i++)
		error = error_first(error, errors[i]);
	return error;
}

static const struct deferred_chain *find(const struct deferred_part *part, uint32_t tid,
					 uint64_t cookie)
{
	if (!part->count)
		return NULL;
	struct index_probe probe = index_set_probe(&part->index_of, hash_pair(cookie, tid));
	for (uint32_t i; index_set_next(&part->index_of, &probe, &i);)
		if (part->items[i].cookie == cookie && part->items[i].tid == tid)
			return &part->items[i];
	return NULL;
}

bool deferred_append(const struct deferred *deferred, uint32_t tid, uint64_t cookie,
		     struct deferred_ips *to, bool *found_ret)
{
	const struct deferred_chain *chain = NULL;
	const struct radix *radix = NULL;
	/*
	 * If several threads read the same chain, the first one in the file is kept, so that the result
	 * does not depend on threads.
	 */
	for (size_t i = 0; i < deferred->count; i++) {
		const struct deferred_chain *other = find(&deferred->parts[i], tid, cookie);
		if (!other || (chain && chain->offset < other->offset))
			continue;
		chain = other;
		radix = &deferred->parts[i].radix;
	}
	*found_ret = chain != NULL;
	for (uint32_t at = chain ? chain->node : RADIX_NONE; at != RADIX_NONE;
	     at = radix->items[at].parent) {
		const struct radix_node *node = &radix->items[at];
		if (!vec_reserve(to, to->count + node->length))
			return false;
		for (uint32_t i = node->length; i-- > 0;)
			to->items[to->count++] = radix->words.items[node->run + i];
	}
	return true;
}
