/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ring/aux.h"

#include <assert.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

/* Number of bytes at the end of the area that show whether the writer has been there. */
#define ROUND_PROBE ((size_t)4096)

struct sp_error *aux_map(struct aux *aux, const struct ring *ring, int fd, size_t size,
			 bool overwrite)
{
	size_t page_size = sysconf(_SC_PAGESIZE);
	assert(ring->page && size >= page_size && !(size & (size - 1)));
	uint64_t offset = page_size + ring->size;
	/* The control page must have the offset before mmap(). */
	__atomic_store_n(&ring->page->aux_offset, offset, __ATOMIC_RELAXED);
	__atomic_store_n(&ring->page->aux_size, size, __ATOMIC_RELAXED);
	/* A read-only mapping makes the kernel overwrite. */
	void *map = mmap(NULL, size, overwrite ? PROT_READ : PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			 offset);
	if (map == MAP_FAILED && errno == EPERM)
		return error_new(SP_ERROR_LIMIT, "an AUX area of %zu KiB is more locked memory than "
				 "allowed", size / 1024);
	if (map == MAP_FAILED && (errno == EOPNOTSUPP || errno == EINVAL))
		return error_new(SP_ERROR_UNSUPPORTED, "the event has no AUX area of %zu KiB",
				 size / 1024);
	if (map == MAP_FAILED)
		return error_os(errno, "cannot map an AUX area of %zu KiB", size / 1024);
	aux_init_memory(aux, ring->page, map, size, overwrite);
	aux->map_size = size;
	return NULL;
}

void aux_init_memory(struct aux *aux, struct perf_event_mmap_page *page, const void *data,
		     size_t size, bool overwrite)
{
	assert(size >= 8 && !(size & (size - 1)));
	*aux = (struct aux){.page = page, .data = data, .size = size, .overwrite = overwrite,
			    .tail = overwrite ? 0 : page->aux_tail};
}

void aux_deinit(struct aux *aux)
{
	if (aux->map_size)
		munmap((void *)(uintptr_t)aux->data, aux->map_size);
	*aux = (struct aux){0};
}

uint64_t aux_head(const struct aux *aux)
{
	/* Pairs with the barrier before the store in the kernel's perf_aux_output_end(). */
	return __atomic_load_n(&aux->page->aux_head, __ATOMIC_ACQUIRE);
}

void aux_release(struct aux *aux, uint64_t position)
{
	if (aux->overwrite || position == aux->tail)
		return;
	aux->tail = position;
	/* All reads must come before the kernel may overwrite the bytes. */
	__atomic_store_n(&aux->page->aux_tail, position, __ATOMIC_RELEASE);
}

int aux_spans(const struct aux *aux, uint64_t begin, uint64_t end, struct iovec spans[2])
{
	const struct ring ring = {.data = aux->data, .size = aux->size};
	return ring_spans(&ring, begin, end, spans);
}

/* The area was zeroed: other bytes at its end mean that the writer has reached it. */
static bool was_reached(const struct aux *aux)
{
	size_t probe = aux->size / 2 < ROUND_PROBE ? aux->size / 2 : ROUND_PROBE;
	for (size_t i = aux->size - probe; i < aux->size; i++)
		if (aux->data[i])
			return true;
	return false;
}

struct aux_extent aux_snapshot(struct aux *aux)
{
	/* Some PMUs' heads only grow, others restart at 0. */
	uint64_t head = aux_head(aux), at = head & (aux->size - 1);
	aux->went_round = aux->went_round || head > aux->size || was_reached(aux);
	if (aux->went_round)
		return (struct aux_extent){at, at + aux->size};
	return (struct aux_extent){0, head};
}
