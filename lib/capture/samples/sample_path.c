/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/samples/sample_path.h"

static struct sp_error *add_to_live_unwind(void *arg, const struct ring *ring,
					   const struct record_values *record, uint64_t id)
{
	return live_unwind_add(arg, ring, record, id);
}

struct sp_error *sample_path_enable_unwinding(struct sample_path *path,
					      const struct live_unwind_options *options)
{
	TRY(live_unwind_new(options, &path->live_unwind));
	path->filter.receiver.receive = add_to_live_unwind;
	path->filter.receiver.arg = path->live_unwind;
	return NULL;
}

struct sp_error *sample_path_add_events(struct sample_path *path, const struct sp_event *events, size_t count)
{
	path->filter.planned = &path->planned;
	for (size_t i = 0; i < count; i++)
		TRY(planned_ids_add(&path->planned, &events[i]));
	return NULL;
}

void sample_path_deinit(struct sample_path *path)
{
	planned_ids_deinit(&path->planned);
	live_unwind_free(path->live_unwind);
	waits_close(path->waits);
}

void sample_path_restart(struct sample_path *path)
{
	if (path->live_unwind)
		live_unwind_restart(path->live_unwind);
}

struct sp_error *sample_path_on_metadata(struct sample_path *path, const uint8_t *bytes, size_t size)
{
	struct metadata_record record;
	size_t at = path->waits || path->filter.schedstat ? 0 : size;
	while (metadata_next(bytes, size, &at, &path->filter.fields, &record)) {
		if (path->waits)
			TRY(waits_on_change(path->waits, &record.change));
		if (path->filter.schedstat && record.change.kind == TASK_ENDED)
			schedstat_remove(path->filter.schedstat, record.change.tid);
	}
	return path->live_unwind ? live_unwind_on_metadata(path->live_unwind, bytes, size) : NULL;
}

struct sp_error *sample_path_filter(struct sample_path *path, const struct rewrite *rewrite,
				    struct ring *ring, uint64_t end, struct batch *batch)
{
	/* Rewrites in a separate pass: recordings without a rewrite have no branch for it. */
	if (rewrite_is_needed(rewrite))
		rewrite_ring(rewrite, &path->filter.fields, ring, end);
	return filter_ring(&path->filter, ring, end, batch);
}

/*
 * Gives snapshots to the threads that unwind, after the metadata of their time: a thread may
 * wait in a library that was mapped just before.
 */
static struct sp_error *unwind_snapshots(struct sample_path *path, struct record_buffer *snapshots)
{
	struct record_values sample;
	for (size_t at = 0; at < snapshots->count; at += sample.header.size) {
		const struct ring ring = {.data = snapshots->items + at, .size = 1U << 16};
		if (!record_values_read(&ring, 0, snapshots->count - at, &path->filter.fields,
					&sample))
			break;
		TRY(live_unwind_add(path->live_unwind, &ring, &sample, sample.id));
	}
	snapshots->count = 0;
	return NULL;
}

struct sp_error *sample_path_write(struct sample_path *path, struct ring_bank *bank, struct batch *batch,
				   bool *wrote_ret)
{
	struct waits_made *made = path->waits ? waits_made(path->waits) : NULL;
	if (made) {
		/* The last batch was flushed. */
		made->names->count = 0;
		TRY(unwind_snapshots(path, &made->snapshots));
	}
	for (size_t i = 0; i < bank->count; i++) {
		struct ring *ring = ring_bank_ring(bank, i);
		uint64_t end = ring_bank_end(bank, i);
		if (ring->tail == end)
			continue;
		*wrote_ret = true;
		TRY(sample_path_filter(path, &bank->rewrite, ring, end, batch));
		bank->reads[i].time_ns = path->filter.read_ns;
	}
	if (made)
		TRY(batch_add_bytes(batch, made->names->items, made->names->count));
	return path->live_unwind ? live_unwind_write(path->live_unwind, path->waits, batch, wrote_ret) : NULL;
}

struct sp_error *sample_path_write_waits(struct sample_path *path, uint64_t safe_ns,
					 uint64_t split_ns, struct batch *batch, bool *wrote_ret)
{
	struct filter_counts *all = &path->filter.counts;
	struct waits_ended ended;
	if (!path->waits)
		return NULL;
	uint64_t oldest_ns = sample_path_oldest_ns(path);
	TRY(waits_write(path->waits, oldest_ns < safe_ns ? oldest_ns : safe_ns, split_ns, &ended));
	if (!ended.size)
		return NULL;
	*wrote_ret = true;
	all->samples += ended.samples;
	if (ended.first_ns && (!all->first_ns || ended.first_ns < all->first_ns))
		all->first_ns = ended.first_ns;
	if (ended.last_ns > all->last_ns)
		all->last_ns = ended.last_ns;
	if (path->live_unwind)
		live_unwind_count(path->live_unwind, ended.bytes, ended.size);
	struct sp_error *error = batch_add_bytes(batch, ended.bytes, ended.size);
	return error_first(error, batch_flush(batch));
}

struct sp_error *sample_path_flush(struct sample_path *path, struct batch *batch, bool *wrote_ret)
{
	if (!path->live_unwind)
		return NULL;
	struct sp_error *error = live_unwind_wait(path->live_unwind);
	if (!error)
		error = live_unwind_write(path->live_unwind, path->waits, batch, wrote_ret);
	return error_first(error, batch_flush(batch));
}

struct sp_error *sample_path_finish(struct sample_path *path)
{
	if (!path->live_unwind)
		return NULL;
	struct sp_error *error = live_unwind_wait(path->live_unwind);
	live_unwind_counts(path->live_unwind, &path->unwound);
	return error;
}

uint64_t sample_path_oldest_ns(const struct sample_path *path)
{
	return path->live_unwind ? live_unwind_oldest_ns(path->live_unwind) : UINT64_MAX;
}

uint64_t sample_path_unwritten_ns(const struct sample_path *path)
{
	uint64_t unwound_ns = sample_path_oldest_ns(path);
	uint64_t held_ns = path->waits ? waits_oldest_ns(path->waits) : UINT64_MAX;
	return held_ns < unwound_ns ? held_ns : unwound_ns;
}

struct sp_error *sample_path_expire(struct sample_path *path, uint64_t before_ns)
{
	return path->live_unwind ? live_unwind_expire(path->live_unwind, before_ns) : NULL;
}
