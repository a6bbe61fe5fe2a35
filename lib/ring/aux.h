/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The AUX area of a ring: a tracing PMU writes its own bytes into it, and AUX records in the ring
 * give their offset and size. Like the ring it has a head, moved by the kernel, and a tail, moved
 * by the reader; both are in the ring's control page.
 *
 * In overwrite mode the area is for snapshots: the kernel overwrites the oldest bytes, and the head
 * is the current position. The event must be stopped while it is read.
 */
#pragma once

#include "ring/ring.h"

struct aux {
	struct perf_event_mmap_page *page; /* the ring's page; NULL: not mapped */
	const uint8_t *data;
	size_t size;     /* a power of two */
	uint64_t tail;   /* all bytes before it were released */
	bool overwrite;
	bool went_round; /* overwritten area: the writer has reached its end once */
	size_t map_size; /* 0: the caller owns the memory */
};

/*
 * Maps an area of `size` bytes (a power of two, whole pages) after the mapped ring, to which event
 * `fd` of a tracing PMU writes its records. Fails with SP_ERROR_LIMIT if the user may not lock that
 * much memory, with SP_ERROR_UNSUPPORTED if the event's PMU has no AUX area.
 */
struct sp_error *aux_map(struct aux *aux, const struct ring *ring, int fd, size_t size,
			 bool overwrite) SP_MUST_CHECK;

/* Makes an area of memory that the caller fills and frees. */
void aux_init_memory(struct aux *aux, struct perf_event_mmap_page *page, const void *data,
		     size_t size, bool overwrite);

/* Unmaps the area; a zeroed one is allowed. */
void aux_deinit(struct aux *aux);

/* Returns the head. All bytes before it are visible after this call. */
uint64_t aux_head(const struct aux *aux);

/* Releases all bytes before `position` to the kernel. */
void aux_release(struct aux *aux, uint64_t position);

/*
 * Gets the bytes [begin, end) in the area: one span, or two if they wrap. Returns the number of
 * spans.
 */
int aux_spans(const struct aux *aux, uint64_t begin, uint64_t end, struct iovec spans[2]);

/* Gets the newest bytes of a stopped area in overwrite mode, the oldest of these first. */
struct aux_extent {
	uint64_t begin, end; /* for aux_spans() */
};
struct aux_extent aux_snapshot(struct aux *aux);
