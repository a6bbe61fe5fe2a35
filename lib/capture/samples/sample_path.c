/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/samples/sample_path.h"

static struct sp_error *add_to_live_unwind(void *arg, const struct ring *ring, uint64_t position,
					   const struct perf_event_header *header, uint64_t id)
{
	return live_unwind_add(arg, ring, position, header, id);
}

struct sp_error *sample_path_unwind(struct sample_path *path, const struct live_unwind_options *options)
{
	struct sp_error *error = live_unwind_new(options, &path->live_unwind);
	if (error)
		return error;
	path->filter.receiver.receive = add_to_live_unwind;
	path->filter.receiver.arg = path->live_unwind;
	return NULL;
}

void sample_path_deinit(struct sample_path *path)
{
	live_unwind_free(path->live_unwind);
}

struct sp_error *sample_path_on_metadata(struct sample_path *path, const uint8_t *bytes, size_t size)
{
	return path->live_unwind ? live_unwind_on_metadata(path->live_unwind, bytes, size) : NULL;
}

struct sp_error *sample_path_write(struct sample_path *path, struct ring_bank *bank, struct batch *batch,
				   bool *wrote_ret)
{
	for (size_t i = 0; i < bank->count; i++) {
		struct ring *ring = ring_bank_ring(bank, i);
		uint64_t end = ring_bank_end(bank, i);
		*wrote_ret |= ring->tail != end;
		struct sp_error *error = filter_ring(&path->filter, ring, end, batch);
		if (error)
			return error;
	}
	return path->live_unwind ? live_unwind_write(path->live_unwind, batch, wrote_ret) : NULL;
}

struct sp_error *sample_path_flush(struct sample_path *path, struct batch *batch, bool *wrote_ret)
{
	if (!path->live_unwind)
		return NULL;
	struct sp_error *error = live_unwind_wait(path->live_unwind);
	if (!error)
		error = live_unwind_write(path->live_unwind, batch, wrote_ret);
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

struct sp_error *sample_path_expire(struct sample_path *path, uint64_t before_ns)
{
	return path->live_unwind ? live_unwind_expire(path->live_unwind, before_ns) : NULL;
}
