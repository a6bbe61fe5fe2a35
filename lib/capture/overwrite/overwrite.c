/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/overwrite/overwrite.h"

#include <stdlib.h>

static uint64_t now_ns(const struct overwrite *overwrite)
{
	return overwrite->options.now(overwrite->options.arg);
}

static void pause_ring(void *arg, size_t cpu_index, bool pause)
{
	struct overwrite *overwrite = arg;
	struct overwrite_span *span = &overwrite->spans[cpu_index];
	overwrite->options.pause(overwrite->options.arg, cpu_index, pause);
	if (!pause)
		return;
	span->begin_ns = span->end_ns;
	span->end_ns = now_ns(overwrite);
}

struct sp_error *overwrite_start(struct overwrite *overwrite, const struct overwrite_options *options)
{
	if (!overwrite->on)
		return NULL;
	const struct snapshot_options rings = {
		.rings = options->rings, .count = options->count, .pause = pause_ring, .arg = overwrite,
	};
	overwrite->options = *options;
	overwrite->spans = calloc(options->count, sizeof(*overwrite->spans));
	NEED(overwrite->spans);
	for (size_t i = 0; i < options->count; i++)
		overwrite->spans[i].end_ns = now_ns(overwrite);
	return snapshot_init(&overwrite->snapshot, &rings);
}

void overwrite_deinit(struct overwrite *overwrite)
{
	free(overwrite->spans);
	snapshot_deinit(&overwrite->snapshot);
	*overwrite = (struct overwrite){0};
}

struct sp_error *overwrite_expire(const struct overwrite *overwrite, struct live_state *live_state)
{
	uint64_t end_ns = overwrite->dump_ns ?: now_ns(overwrite);
	struct sp_error *error = NULL;
	if (overwrite->window_ns && end_ns > overwrite->window_ns)
		error = live_state_expire(live_state, end_ns - overwrite->window_ns);
	return error ? error : live_state_trim(live_state, OVERWRITE_LOG_BYTES);
}

void overwrite_begin_dump(struct overwrite *overwrite, uint64_t most_bytes)
{
	overwrite->dump_ns = now_ns(overwrite);
	overwrite->overwritten = 0;
	snapshot_copy_rings(&overwrite->snapshot, most_bytes);
}

/* Finds the first sample that is not older than `from_ns`. */
static uint64_t find_first(const struct overwrite_options *options, const struct ring *ring, uint64_t end,
			   uint64_t from_ns, uint64_t *first_ns_ret)
{
	struct record_values record;
	*first_ns_ret = 0;
	for (uint64_t at = 0; at < end && record_values_read(ring, at, end, &options->fields, &record);
	     at += record.header.size) {
		if (record.header.type != PERF_RECORD_SAMPLE ||
		    record.header.size < options->fields.sample_end)
			continue;
		*first_ns_ret = record.time_ns + options->shift_ns;
		if (*first_ns_ret >= from_ns)
			return at;
	}
	return end;
}

void overwrite_read(struct overwrite *overwrite, size_t cpu_index, uint64_t from_ns,
		    struct overwrite_records *ret)
{
	const struct backward_copy *copy = snapshot_read(&overwrite->snapshot, cpu_index);
	struct overwrite_span *span = &overwrite->spans[cpu_index];
	uint64_t first_ns;
	*ret = (struct overwrite_records){.end = copy->size, .damaged = copy->damaged};
	ring_init_memory(&ret->ring, &ret->page, copy->records, overwrite->snapshot.ring_size);
	ret->ring.tail = find_first(&overwrite->options, &ret->ring, ret->end, from_ns, &first_ns);
	overwrite->overwritten += copy->overwritten + ret->ring.tail;
	/* Unless data were overwritten, the ring has everything since the last dump. */
	if (copy->overwritten)
		span->begin_ns = first_ns;
	if (span->begin_ns < from_ns)
		span->begin_ns = from_ns;
}

void overwrite_end_dump(struct overwrite *overwrite)
{
	snapshot_drop(&overwrite->snapshot);
	overwrite->dump_ns = 0;
}

struct sp_error *overwrite_note(const struct overwrite *overwrite, const struct note_records *to)
{
	uint64_t least_ns = UINT64_MAX, most_ns = 0;
	for (size_t i = 0; i < overwrite->options.count; i++) {
		const struct overwrite_span *span = &overwrite->spans[i];
		uint64_t ns = span->end_ns > span->begin_ns ? span->end_ns - span->begin_ns : 0;
		least_ns = ns < least_ns ? ns : least_ns;
		most_ns = ns > most_ns ? ns : most_ns;
	}
	return notes_write_once(to, NOTE_OF(NOTE_OVERWRITTEN, NULL, least_ns, most_ns,
					    overwrite->options.count, overwrite->overwritten / 1000));
}
