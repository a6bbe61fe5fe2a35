/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/ring_bank/ring_bank.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "base/cleanup.h"

/* Size of a metadata record with the longest path. */
#define PATH_RECORD_MAX 4352

/* Drained bytes that wake the round: with stack copies, and without. */
#define NOTIFY_STACKS (UINT64_C(256) << 10)
#define NOTIFY_SMALL (UINT64_C(512) << 10)

struct sp_error *ring_bank_init(struct ring_bank *bank, const struct ring_place *places, size_t count)
{
	bank->places = calloc(count, sizeof(*places));
	bank->metadata = calloc(count, sizeof(*bank->metadata));
	bank->samples = calloc(count, sizeof(*bank->samples));
	bank->ends = calloc(count, sizeof(*bank->ends));
	bank->heads = calloc(count, sizeof(*bank->heads));
	bank->reads = calloc(count, sizeof(*bank->reads));
	NEED(bank->places && bank->metadata && bank->samples && bank->ends && bank->heads &&
	     bank->reads);
	memcpy(bank->places, places, count * sizeof(*places));
	bank->count = count;
	return NULL;
}

static void unmap(struct ring_bank *bank)
{
	for (size_t i = 0; i < bank->count; i++) {
		ring_deinit(&bank->metadata[i]);
		ring_deinit(&bank->samples[i]);
	}
}

void ring_bank_deinit(struct ring_bank *bank)
{
	thread_priority_end(&bank->thread_priority);
	drain_threads_free(bank->drain_threads);
	unmap(bank);
	free(bank->places);
	free(bank->metadata);
	free(bank->samples);
	free(bank->ends);
	free(bank->heads);
	free(bank->reads);
	rewrite_deinit(&bank->rewrite);
	*bank = (struct ring_bank){0};
}

struct sp_error *ring_bank_map(struct ring_bank *bank, size_t metadata_bytes, size_t sample_bytes)
{
	struct sp_error *error = NULL;
	for (size_t i = 0; i < bank->count && !error; i++)
		error = ring_map(&bank->metadata[i], bank->places[i].metadata_fd, metadata_bytes);
	for (size_t i = 0; i < bank->count && !error; i++)
		error = ring_map_protected(&bank->samples[i], bank->places[i].samples_fd,
					   sample_bytes,
					   PROT_READ | (bank->overwrites ? 0 : PROT_WRITE));
	if (error)
		unmap(bank);
	return error;
}

/* -- Threads that drain ---------------------------------------------------- */

/* Starts drains with the bank's rings; `groups` NULL: one group. */
static struct sp_error *start(struct ring_bank *bank, struct drain_threads_options *options,
			      const uint32_t *groups, uint32_t stack_bytes)
{
	CLEANUP_FREE struct drain_place *places = calloc(bank->count, sizeof(*places));
	NEED(places);
	for (size_t i = 0; i < bank->count; i++)
		places[i] = (struct drain_place){
			.ring = &bank->samples[i], .fd = bank->places[i].samples_fd,
			.cpu = bank->places[i].cpu, .group = groups ? groups[i] : 0,
		};
	options->places = places;
	options->count = bank->count;
	options->relay_bytes =
		drain_threads_relay_bytes(ring_bank_sample_bytes(bank), bank->count, stack_bytes);
	options->record_max = RING_RECORD_MAX;
	return drain_threads_new(options, &bank->drain_threads);
}

struct sp_error *ring_bank_copy_changed(struct ring_bank *bank)
{
	if (bank->drain_threads || bank->overwrites || !rewrite_is_needed(&bank->rewrite))
		return NULL;
	struct drain_threads_options options = {.threads = 1, .by_reader = true};
	return start(bank, &options, NULL, 0);
}

struct sp_error *ring_bank_start_drain_threads(struct ring_bank *bank,
					       const struct ring_bank_drain_threads *wanted)
{
	if (!wanted->threads)
		return ring_bank_copy_changed(bank);
	struct drain_threads_options options = {
		.threads = wanted->threads,
		.notify_bytes = wanted->every_sample  ? 1
				: wanted->stack_bytes ? NOTIFY_STACKS
						      : NOTIFY_SMALL,
		.realtime = wanted->realtime,
		.polls = wanted->polls,
		.on_arrival = wanted->on_arrival,
		.new_state = wanted->new_state,
		.free_state = wanted->free_state,
		.arg = wanted->arg,
	};
	return start(bank, &options, wanted->groups, wanted->stack_bytes);
}

int ring_bank_fd(const struct ring_bank *bank)
{
	return bank->drain_threads && !drain_threads_is_by_reader(bank->drain_threads)
		       ? drain_threads_fd(bank->drain_threads)
		       : -1;
}

/* -- A round --------------------------------------------------------------- */

void ring_bank_end_round(struct ring_bank *bank, bool samples)
{
	samples &= !bank->overwrites;
	if (bank->drain_threads) {
		drain_threads_move(bank->drain_threads);
		bank->leaves_samples = drain_threads_are_full(bank->drain_threads);
	}
	for (size_t i = 0; i < bank->count; i++) {
		const struct ring *ring = ring_bank_ring(bank, i);
		uint64_t head = samples ? ring_head(ring) : ring->tail;
		bank->heads[i] = bank->ends[i] = head;
		if (bank->drain_threads)
			bank->reads[i].was_full = drain_threads_was_full(bank->drain_threads, i);
		else if (head != ring->tail)
			bank->reads[i].was_full = head - ring->tail + RING_RECORD_MAX > ring->size;
		/* An empty ring may have lost records that are larger than the ring. */
		bank->was_full |=
			bank->reads[i].was_full || (samples && ring->size < RING_RECORD_MAX);
	}

	/*
	 * The kernel reports a loss with the next record that finds room. If nothing begins or
	 * ends on that CPU, that may be never, although a task that began unseen runs on.
	 */
	for (size_t i = 0; i < bank->count; i++) {
		const struct ring *ring = &bank->metadata[i];
		size_t room = ring->size / 2 < PATH_RECORD_MAX ? ring->size / 2 : PATH_RECORD_MAX;
		bank->metadata_was_full |= ring_head(ring) - ring->tail + room > ring->size;
	}
}

uint64_t ring_bank_round_bytes(const struct ring_bank *bank)
{
	uint64_t bytes = 0;
	for (size_t i = 0; i < bank->count; i++)
		bytes += bank->ends[i] - ring_bank_ring(bank, i)->tail;
	return bytes;
}

/*
 * Ends the round in a ring after at most `bytes` bytes of whole records; returns whether it has
 * any.
 */
static bool end_after(struct ring_bank *bank, size_t index, uint64_t bytes)
{
	const struct ring *ring = ring_bank_ring(bank, index);
	bank->ends[index] = ring_whole_records(ring, bank->heads[index], bytes);
	return bank->ends[index] != ring->tail;
}

bool ring_bank_limit(struct ring_bank *bank, uint64_t room)
{
	memcpy(bank->ends, bank->heads, bank->count * sizeof(*bank->ends));
	uint64_t all = ring_bank_round_bytes(bank), most = 0;
	if (all <= room)
		return all != 0;
	double share = (double)room / (double)all;
	size_t fullest = 0;
	bool any = false;
	for (size_t i = 0; i < bank->count; i++) {
		uint64_t bytes = bank->heads[i] - ring_bank_ring(bank, i)->tail;
		any |= end_after(bank, i, (double)bytes * share);
		if (bytes > most) {
			most = bytes;
			fullest = i;
		}
	}
	return any || !most ? any : end_after(bank, fullest, room);
}

/* Finds the oldest record after the ends of the round. Returns its ring's index, or `count`. */
static size_t find_oldest(const struct ring_bank *bank, const struct record_fields *fields,
			  struct record_values *ret)
{
	size_t oldest = bank->count;
	struct record_values record;
	for (size_t i = 0; i < bank->count; i++) {
		const struct ring *ring = ring_bank_ring(bank, i);
		if (bank->ends[i] >= bank->heads[i] ||
		    !record_values_read(ring, bank->ends[i], bank->heads[i], fields, &record))
			continue;
		if (oldest < bank->count && record.time_ns >= ret->time_ns)
			continue;
		oldest = i;
		*ret = record;
	}
	return oldest;
}

uint64_t ring_bank_limit_in_time(struct ring_bank *bank, const struct record_fields *fields, uint64_t room)
{
	struct record_values record = {0};
	size_t oldest;
	for (size_t i = 0; i < bank->count; i++)
		bank->ends[i] = ring_bank_ring(bank, i)->tail;
	while ((oldest = find_oldest(bank, fields, &record)) < bank->count && record.header.size <= room) {
		bank->ends[oldest] += record.header.size;
		room -= record.header.size;
	}
	return oldest < bank->count ? record.time_ns : UINT64_MAX;
}
