/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The AUX area of a ring: a tracing PMU writes its own bytes into it, and AUX records in the ring
 * give their offset and size. Like the ring it has a head, moved by the kernel, and a tail, moved
 * by the reader; both are in the ring's control page.
 *
 * In overwrite mode the area is for snapshots: the kernel overwrites the oldest bytes, and the head
 * is the current position. The event must be stopped while it is read.
 */
#ifndef RING_AUX_H
#define RING_AUX_H

#include "ring/ring.h"

struct aux {
	struct perf_event_mmap_page *page; /* the ring's page; NULL: not mapped */
	const uint8_t *data;
	size_t size;     /* a power of two */
	uint64_t tail;   /* all before it was released */
	bool overwrite;
	bool went_round; /* overwritten area: its end has been reached once */
	size_t map_size; /* 0: not ours to unmap */
};

/*
 * Maps an area of `size` bytes (a power of two, whole pages) behind the ring, which must be
 * mapped and be where event `fd`, of a tracing PMU, puts its records. Fails with
 * SP_ERROR_LIMIT where that is more locked memory than is allowed, SP_ERROR_UNSUPPORTED where
 * the event's PMU has no AUX area.
 */
struct sp_error *aux_map(struct aux *aux, const struct ring *ring, int fd, size_t size,
			 bool overwrite) SP_MUST_CHECK;

/* An area in memory that the caller fills and frees. */
void aux_init_memory(struct aux *aux, struct perf_event_mmap_page *page, const void *data,
		     size_t size, bool overwrite);

/* Unmaps; a zeroed area is allowed. */
void aux_deinit(struct aux *aux);

/* How far there are bytes. All before it are visible after this call. */
uint64_t aux_head(const struct aux *aux);

/* Gives everything before `position` back to the kernel. */
void aux_release(struct aux *aux, uint64_t position);

/* The bytes [begin, end) where they lie: one span, or two where they wrap; the count. */
int aux_spans(const struct aux *aux, uint64_t begin, uint64_t end, struct iovec spans[2]);

/* Newest bytes of a stopped area that is overwritten, the oldest first. */
struct aux_extent {
	uint64_t begin, end; /* for aux_spans() */
};
struct aux_extent aux_snapshot(struct aux *aux);

#endif
