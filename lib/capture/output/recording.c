/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/output/recording.h"

#include "base/clock.h"

/* Marks and commits are at least this far apart, and hold all that was written before. */
#define COMMIT_NS 200000000

/* Bytes of notes, marks and losses in a round, at most. */
#define SLACK_BYTES 4096

/* Bytes of metadata that are handed to the queue at once, when a file begins. */
#define PART_BYTES 131072

struct sp_error *recording_init(struct recording *recording, uint32_t sample_id_at,
				uint32_t sample_cpu_at)
{
	const struct writing_options options = {
		.memory_bytes = RECORDING_QUEUE_BYTES,
		.sample_id_at = sample_id_at,
		.sample_cpu_at = sample_cpu_at,
	};
	return writing_new(&options, &recording->writing);
}

void recording_deinit(struct recording *recording)
{
	if (recording->writing)
		writer_free(writing_take_writer(recording->writing));
	writing_free(recording->writing);
	switching_deinit(&recording->switching);
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
	writing_reserve(recording->writing, recording->dsos.table_bytes);
	if (!error)
		error = batch_add_bytes(&recording->batch, bytes, size);
	recording->dirty |= size != 0;
	return error;
}

struct sp_error *recording_add(struct recording *recording, const uint8_t *bytes, size_t size)
{
	struct switching *switching = &recording->switching;
	struct sp_error *error =
		switching->tracks ? roster_add(&switching->roster, bytes, size) : NULL;
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
static struct sp_error *add_shed(struct recording *recording, const struct recording_progress *progress,
				 bool last)
{
	struct writing_shed shed;
	struct sp_error *error = NULL;
	/* While there is no room: often enough to show when that was. */
	bool now = last || clock_ns(CLOCK_MONOTONIC) - recording->commit_ns >= COMMIT_NS;
	while (!error && writing_next_shed(recording->writing, now, &shed)) {
		const struct sp_record record = {
			.type = PERF_RECORD_LOST_SAMPLES,
			.id = {.time_ns = progress->now_ns, .id = shed.id, .cpu = shed.cpu},
			.lost = {.lost = shed.samples},
		};
		error = record_encode(&recording->extra, &record, progress->attr);
	}
	return error;
}

/*
 * A reader takes it that nothing after a mark is older than the mark before it: so samples that
 * were unwound since then must come first.
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
		error = writing_commit(recording->writing);
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
		error = add_shed(recording, progress, last);
	recording->dirty |= recording->extra.count != 0;
	if (!error && recording->dirty &&
	    (last || clock_ns(CLOCK_MONOTONIC) - recording->commit_ns >= COMMIT_NS))
		error = recording_commit(recording, progress);
	writing_poke(recording->writing);
	return error;
}

/* -- Files ----------------------------------------------------------------- */

/* Moves the table of build-ids to the end of the file. */
static struct file_end end_file(struct recording *recording, const struct recording_end *end, bool dated)
{
	struct switching *switching = &recording->switching;
	struct file_end ret = {
		.dsos = recording->dsos,
		.first_ns = end->first_ns,
		.last_ns = end->last_ns,
		.samples = end->samples - switching->samples_before,
		.dated = dated,
	};
	clock_gettime(CLOCK_REALTIME, &ret.when);
	recording->dsos = (struct dsos){0};
	switching->samples_before = end->samples;
	return ret;
}

struct sp_error *recording_change(struct recording *recording, const struct recording_end *end)
{
	struct switching *switching = &recording->switching;
	struct writing_change *change;
	struct file_end ended = end_file(recording, end, true);
	struct sp_error *error = file_maker_change(switching->maker, &ended, &change);
	if (error) {
		dsos_deinit(&ended.dsos);
		return error;
	}
	error = writing_change(recording->writing, change, switching->begin_bytes);
	/* Notes about the recording hold for this file, too. */
	notes_restart(&recording->notes);
	switching->begun_ns = clock_ns(CLOCK_MONOTONIC);
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
	struct roster_place place = {0};
	struct sp_error *error = batch_flush(&recording->batch);
	bool more = true;
	while (!error && more) {
		error = roster_next(&recording->switching.roster, &place, &part, &more);
		if (!error && (part.count >= PART_BYTES || !more))
			error = add_part(recording, &part);
	}
	vec_deinit(&part);
	return error;
}

void recording_begin_samples(struct recording *recording)
{
	recording->switching.first_bytes = writing_counts(recording->writing).file_bytes;
}

struct sp_error *recording_close(struct recording *recording, const struct recording_end *end)
{
	struct sp_error *error = writing_end(recording->writing);
	struct file_end ended = end_file(recording, end, recording->switching.dated);
	struct sp_error *close_error = file_maker_close(
		recording->switching.maker, writing_take_writer(recording->writing), &ended);
	recording->closed = true;
	return error_first(error, close_error);
}

void recording_abandon(struct recording *recording)
{
	sp_error_free(writing_end(recording->writing));
	writer_free(writing_take_writer(recording->writing));
	recording->closed = true;
}

/* -- Limits ---------------------------------------------------------------- */

uint64_t recording_closing_bytes(const struct recording *recording)
{
	const struct file_maker *maker = recording->switching.maker;
	return recording->dsos.table_bytes + SLACK_BYTES + (maker ? maker->closing_bytes : 0);
}

uint64_t recording_bytes_after(const struct recording *recording, uint64_t more)
{
	return writing_counts(recording->writing).file_bytes + more + recording_closing_bytes(recording);
}

uint64_t recording_limit(const struct recording *recording, bool *ends_ret)
{
	const struct switching *switching = &recording->switching;
	uint64_t most = recording->holds_metadata ? 0 : switching->switch_bytes;
	*ends_ret = switching->max_bytes && (!most || switching->max_bytes <= most);
	return *ends_ret ? switching->max_bytes : most;
}
