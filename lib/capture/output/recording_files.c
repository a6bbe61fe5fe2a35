/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/output/recording_files.h"

#include "base/clock.h"

/* Minimum time between marks and commits. */
#define COMMIT_NS 200000000

/* Limit of bytes of notes, marks and losses in a round. */
#define SLACK_BYTES 4096

/* Bytes of metadata in one call of the queue, at the begin of a file. */
#define PART_BYTES 131072

struct sp_error *recording_init(struct recording *recording, uint32_t sample_id_at,
				uint32_t sample_cpu_at)
{
	const struct write_queue_options options = {
		.memory_bytes = RECORDING_QUEUE_BYTES,
		.sample_id_at = sample_id_at,
		.sample_cpu_at = sample_cpu_at,
	};
	return write_queue_new(&options, &recording->write_queue);
}

void recording_deinit(struct recording *recording)
{
	if (recording->write_queue)
		writer_free(write_queue_take_writer(recording->write_queue));
	write_queue_free(recording->write_queue);
	rotation_deinit(&recording->rotation);
	batch_deinit(&recording->batch);
	dsos_deinit(&recording->dsos);
	vec_deinit(&recording->synthesised);
	vec_deinit(&recording->extra);
	notes_deinit(&recording->notes);
}

/* -- Records --------------------------------------------------------------- */

/* Adds the files that the records map to the table of build-ids, and reserves its space. */
static struct sp_error *add_to_file(struct recording *recording, const uint8_t *bytes, size_t size)
{
	struct sp_error *error = dsos_add_records(&recording->dsos, bytes, size);
	write_queue_reserve(recording->write_queue, recording->dsos.table_bytes);
	if (!error)
		error = batch_add_bytes(&recording->batch, bytes, size);
	recording->dirty |= size != 0;
	return error;
}

struct sp_error *recording_add(struct recording *recording, const uint8_t *bytes, size_t size)
{
	struct rotation *rotation = &recording->rotation;
	struct sp_error *error =
		rotation->tracks ? live_state_add(&rotation->live_state, bytes, size) : NULL;
	return error || recording->holds_metadata ? error : add_to_file(recording, bytes, size);
}

struct sp_error *recording_add_synthesised(struct recording *recording)
{
	struct record_buffer *made = &recording->synthesised;
	struct sp_error *error = recording_add(recording, made->items, made->count);
	if (!error && !recording->holds_metadata)
		error = batch_flush(&recording->batch);
	made->count = 0;
	return error;
}

/* Samples that the queue left out become records of losses. */
static struct sp_error *add_dropped(struct recording *recording, const struct recording_progress *progress,
				    bool last)
{
	struct write_queue_dropped dropped;
	struct sp_error *error = NULL;
	/*
	 * Losses are reported while the queue is full: often enough to show when samples were lost.
	 */
	bool now = last || clock_ns(CLOCK_MONOTONIC) - recording->commit_ns >= COMMIT_NS;
	while (!error && write_queue_next_dropped(recording->write_queue, now, &dropped)) {
		const struct sp_record record = {
			.type = PERF_RECORD_LOST_SAMPLES,
			.id = {.time_ns = progress->now_ns, .id = dropped.id, .cpu = dropped.cpu},
			.lost = {.lost = dropped.samples},
		};
		error = record_encode(&recording->extra, &record, progress->attr);
	}
	return error;
}

/*
 * Readers rely on it that no record after a mark is older than the mark before it. So samples that
 * were unwound since then must be written first.
 */
static struct sp_error *add_mark(struct recording *recording, const struct recording_progress *progress,
				 bool *added_ret)
{
	const struct sp_record mark = {.type = SP_RECORD_FINISHED_ROUND};
	*added_ret = progress->unwritten_ns >= recording->marked_ns;
	if (!*added_ret)
		return NULL;
	recording->marked_ns = progress->seen_ns;
	return record_encode(&recording->extra, &mark, NULL);
}

static struct sp_error *flush_extra(struct recording *recording)
{
	struct sp_error *error =
		batch_add_bytes(&recording->batch, recording->extra.items, recording->extra.count);
	if (!error)
		error = batch_flush(&recording->batch);
	recording->extra.count = 0;
	return error;
}

struct sp_error *recording_commit(struct recording *recording,
				  const struct recording_progress *progress)
{
	bool marked;
	struct sp_error *error = add_mark(recording, progress, &marked);
	if (!error)
		error = flush_extra(recording);
	if (!error)
		error = write_queue_commit(recording->write_queue);
	recording->dirty = !marked;
	recording->commit_ns = clock_ns(CLOCK_MONOTONIC);
	return error;
}

struct sp_error *recording_end_round(struct recording *recording,
				     const struct recording_progress *progress, bool last)
{
	uint64_t time_ns = recording->commit_ns ? progress->now_ns : 0;
	struct sp_error *error = notes_write(&recording->notes, time_ns, &recording->extra);
	if (!error)
		error = add_dropped(recording, progress, last);
	recording->dirty |= recording->extra.count != 0;
	if (!error && recording->dirty &&
	    (last || clock_ns(CLOCK_MONOTONIC) - recording->commit_ns >= COMMIT_NS))
		error = recording_commit(recording, progress);
	write_queue_poke(recording->write_queue);
	return error;
}

/* -- Files ----------------------------------------------------------------- */

/* Moves the table of build-ids to the end of the file. */
static struct file_end end_file(struct recording *recording, const struct recording_end *end, bool dated)
{
	struct rotation *rotation = &recording->rotation;
	struct file_end ret = {
		.dsos = recording->dsos,
		.first_ns = end->first_ns,
		.last_ns = end->last_ns,
		.samples = end->samples - rotation->samples_before,
		.dated = dated,
	};
	clock_gettime(CLOCK_REALTIME, &ret.when);
	recording->dsos = (struct dsos){0};
	rotation->samples_before = end->samples;
	return ret;
}

struct sp_error *recording_change(struct recording *recording, const struct recording_end *end)
{
	struct rotation *rotation = &recording->rotation;
	struct write_queue_change *change;
	struct file_end ended = end_file(recording, end, true);
	struct sp_error *error = file_maker_change(rotation->maker, &ended, &change);
	if (error) {
		dsos_deinit(&ended.dsos);
		return error;
	}
	error = write_queue_change(recording->write_queue, change, rotation->begin_bytes);
	/* Notes about the recording hold for this file, too. */
	notes_restart(&recording->notes);
	rotation->begun_ns = clock_ns(CLOCK_MONOTONIC);
	return error;
}

static struct sp_error *add_part(struct recording *recording, struct record_buffer *part)
{
	struct sp_error *error = add_to_file(recording, part->items, part->count);
	if (!error)
		error = batch_flush(&recording->batch);
	part->count = 0;
	return error;
}

struct sp_error *recording_write_live(struct recording *recording)
{
	struct record_buffer part = {0};
	struct live_state_place place = {0};
	struct sp_error *error = batch_flush(&recording->batch);
	bool more = true;
	while (!error && more) {
		error = live_state_next(&recording->rotation.live_state, &place, &part, &more);
		if (!error && (part.count >= PART_BYTES || !more))
			error = add_part(recording, &part);
	}
	vec_deinit(&part);
	return error;
}

void recording_begin_samples(struct recording *recording)
{
	recording->rotation.first_bytes = write_queue_counts(recording->write_queue).file_bytes;
}

struct sp_error *recording_close(struct recording *recording, const struct recording_end *end)
{
	struct sp_error *error = write_queue_end(recording->write_queue);
	struct file_end ended = end_file(recording, end, recording->rotation.dated);
	struct sp_error *close_error = file_maker_close(
		recording->rotation.maker, write_queue_take_writer(recording->write_queue), &ended);
	recording->closed = true;
	return error_first(error, close_error);
}

void recording_abandon(struct recording *recording)
{
	sp_error_free(write_queue_end(recording->write_queue));
	writer_free(write_queue_take_writer(recording->write_queue));
	recording->closed = true;
}

/* -- Limits ---------------------------------------------------------------- */

uint64_t recording_closing_bytes(const struct recording *recording)
{
	const struct file_maker *maker = recording->rotation.maker;
	return recording->dsos.table_bytes + SLACK_BYTES + (maker ? maker->closing_bytes : 0);
}

uint64_t recording_bytes_after(const struct recording *recording, uint64_t more)
{
	return write_queue_counts(recording->write_queue).file_bytes + more +
	       recording_closing_bytes(recording);
}

uint64_t recording_limit(const struct recording *recording, bool *ends_ret)
{
	const struct rotation *rotation = &recording->rotation;
	uint64_t most = recording->holds_metadata ? 0 : rotation->switch_bytes;
	*ends_ret = rotation->max_bytes && (!most || rotation->max_bytes <= most);
	return *ends_ret ? rotation->max_bytes : most;
}
