/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/samples/sample_path.h"

static struct sp_error *take(void *arg, const struct ring *ring, uint64_t position,
			     const struct perf_event_header *header, uint64_t id)
{
	return unwinding_take(arg, ring, position, header, id);
}

struct sp_error *sample_path_unwind(struct sample_path *path, const struct unwinding_options *options)
{
	struct sp_error *error = unwinding_new(options, &path->unwinding);
	if (error)
		return error;
	path->filter.taker.take = take;
	path->filter.taker.arg = path->unwinding;
	return NULL;
}

void sample_path_deinit(struct sample_path *path)
{
	unwinding_free(path->unwinding);
}

struct sp_error *sample_path_see(struct sample_path *path, const uint8_t *bytes, size_t size)
{
	return path->unwinding ? unwinding_see(path->unwinding, bytes, size) : NULL;
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
	return path->unwinding ? unwinding_write(path->unwinding, batch, wrote_ret) : NULL;
}

struct sp_error *sample_path_settle(struct sample_path *path, struct batch *batch, bool *wrote_ret)
{
	if (!path->unwinding)
		return NULL;
	struct sp_error *error = unwinding_wait(path->unwinding);
	if (!error)
		error = unwinding_write(path->unwinding, batch, wrote_ret);
	return error_first(error, batch_flush(batch));
}

struct sp_error *sample_path_finish(struct sample_path *path)
{
	if (!path->unwinding)
		return NULL;
	struct sp_error *error = unwinding_wait(path->unwinding);
	unwinding_counts(path->unwinding, &path->unwound);
	return error;
}

uint64_t sample_path_oldest_ns(const struct sample_path *path)
{
	return path->unwinding ? unwinding_oldest_ns(path->unwinding) : UINT64_MAX;
}

struct sp_error *sample_path_forget(struct sample_path *path, uint64_t before_ns)
{
	return path->unwinding ? unwinding_forget(path->unwinding, before_ns) : NULL;
}
