/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ring/snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include "base/pages.h"

struct snapshot_ring {
	uint64_t since;  /* its head at the last copy */
	uint8_t *memory; /* memory of the ring's size; NULL: none */
	struct backward_bytes bytes;
	bool paused;
};

struct sp_error *snapshot_init(struct snapshot *snapshot, const struct snapshot_options *options)
{
	*snapshot = (struct snapshot){.options = *options, .ring_size = options->rings[0].size};
	snapshot->rings = calloc(options->count, sizeof(*snapshot->rings));
	snapshot->scratch = malloc(snapshot->ring_size);
	NEED(snapshot->rings && snapshot->scratch);
	return backward_copy_init(&snapshot->copy, snapshot->ring_size);
}

static void pause_ring(struct snapshot *snapshot, size_t index, bool pause)
{
	if (snapshot->rings[index].paused == pause)
		return;
	snapshot->rings[index].paused = pause;
	snapshot->options.pause(snapshot->options.arg, index, pause);
}

static void free_memory(struct snapshot *snapshot, size_t index)
{
	struct snapshot_ring *ring = &snapshot->rings[index];
	if (ring->memory)
		munmap(ring->memory, snapshot->ring_size);
	ring->memory = NULL;
}

void snapshot_deinit(struct snapshot *snapshot)
{
	for (size_t i = 0; snapshot->rings && i < snapshot->options.count; i++)
		free_memory(snapshot, i);
	free(snapshot->rings);
	free(snapshot->scratch);
	backward_copy_deinit(&snapshot->copy);
	*snapshot = (struct snapshot){0};
}

/*
 * Allocates memory for the whole ring, and prefaults as much as the ring holds now, so that no page
 * fault happens while it is paused.
 */
static uint8_t *new_memory(const struct ring *source, size_t held)
{
	void *memory = pages_map(source->size);
	if (!memory)
		return NULL;
	if (!held || !madvise(memory, held, MADV_POPULATE_WRITE) || errno == EINVAL)
		return memory;
	munmap(memory, source->size);
	return NULL;
}

static void read_ring(struct snapshot *snapshot, size_t index, uint8_t *memory)
{
	struct snapshot_ring *ring = &snapshot->rings[index];
	pause_ring(snapshot, index, true);
	ring->bytes = backward_read(&snapshot->options.rings[index], ring->since, memory, &ring->since);
	pause_ring(snapshot, index, false);
}

void snapshot_copy_rings(struct snapshot *snapshot, uint64_t most_bytes)
{
	for (size_t i = 0; i < snapshot->options.count; i++) {
		const struct ring *source = &snapshot->options.rings[i];
		struct snapshot_ring *ring = &snapshot->rings[i];
		uint64_t written = ring->since - ring_head(source);
		size_t held = written < source->size ? (size_t)written : source->size;
		if (source->size <= most_bytes)
			ring->memory = new_memory(source, held);
		if (!ring->memory) {
			pause_ring(snapshot, i, true);
			continue;
		}
		read_ring(snapshot, i, ring->memory);
		most_bytes -= source->size;
	}
}

const struct backward_copy *snapshot_read(struct snapshot *snapshot, size_t index)
{
	struct snapshot_ring *ring = &snapshot->rings[index];
	if (!ring->memory)
		read_ring(snapshot, index, snapshot->scratch);
	backward_order(&ring->bytes, &snapshot->copy);
	free_memory(snapshot, index);
	return &snapshot->copy;
}

void snapshot_drop(struct snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->options.count; i++) {
		pause_ring(snapshot, i, false);
		free_memory(snapshot, i);
	}
}
