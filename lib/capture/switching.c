/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/output/switching.h"

#include <string.h>
#include <time.h>
#include "base/cleanup.h"
#include "capture/recorder.h"

/* Beside samples and side-band: notes, marks, what was lost. */
#define SLACK_BYTES 4096

/* So much of what lives is handed on at a time. */
#define PART_BYTES 131072

struct sp_error *switching_init(struct switching *switching,
				const struct capture_options *options)
{
	const struct sp_capture_output *output = &options->output;
	*switching = (struct switching){
		.max_bytes = output->max_bytes,
		.switch_bytes = output->switch_bytes,
		.switch_ns = output->switch_ns,
		.on_demand = output->switch_on_demand || options->buffers.overwrite,
		.dated = output->timestamp_name || output->switch_bytes || output->switch_ns ||
			 output->switch_on_demand,
	};
	bool switches = switching->switch_bytes || switching->switch_ns || switching->on_demand;
	switching->tracks = switches;
	if (output->keep_files && !switches)
		return error_new(SP_ERROR_INVALID, "--keep needs --switch-output: only one file is written");
	if (output->path && !strcmp(output->path, "-") && (switches || switching->dated))
		return error_set_remedy(error_new(SP_ERROR_INVALID, "cannot split or rename standard "
						  "output"), "name a file with -o");
	return NULL;
}

void switching_deinit(struct switching *switching)
{
	roster_deinit(&switching->roster);
	file_maker_free(switching->maker);
	free(switching->lost_before);
	free(switching->wanted);
	*switching = (struct switching){0};
}

struct sp_error *capture_remember(struct sp_capture *capture, const uint8_t *bytes, size_t size)
{
	return capture->out.switching.tracks ? roster_add(&capture->out.switching.roster, bytes, size) : NULL;
}

struct sp_error *capture_note_files(struct sp_capture *capture, const uint8_t *bytes, size_t size)
{
	struct sp_error *error = dsos_add_records(&capture->out.dsos, bytes, size);
	writing_reserve(capture->out.writing, capture->out.dsos.table_bytes);
	return error;
}

struct file_end capture_file_end(struct sp_capture *capture, bool dated)
{
	struct filter_counts *counts = &capture->samples.filter.counts;
	struct file_end end = {
		.dsos = capture->out.dsos,
		.first_ns = counts->first_ns,
		.last_ns = counts->last_ns,
		.samples = counts->samples - capture->out.switching.samples_before,
		.dated = dated,
	};
	clock_gettime(CLOCK_REALTIME, &end.when);
	capture->out.dsos = (struct dsos){0};
	counts->first_ns = counts->last_ns = 0;
	capture->out.switching.samples_before = counts->samples;
	return end;
}

/* -- Beginning ------------------------------------------------------------- */

static struct sp_error *hand_on(struct sp_capture *capture, struct record_buffer *part)
{
	struct sp_error *error = capture_note_files(capture, part->items, part->count);
	if (!error)
		error = batch_add_bytes(&capture->out.batch, part->items, part->count);
	if (!error)
		error = batch_flush(&capture->out.batch);
	capture->out.dirty |= part->count != 0;
	part->count = 0;
	return error;
}

struct sp_error *capture_write_roster(struct sp_capture *capture)
{
	struct record_buffer part = {0};
	struct roster_place place = {0};
	struct sp_error *error = batch_flush(&capture->out.batch);
	bool more = true;
	while (!error && more) {
		error = roster_next(&capture->out.switching.roster, &place, &part, &more);
		if (!error && (part.count >= PART_BYTES || !more))
			error = hand_on(capture, &part);
	}
	vec_deinit(&part);
	return error;
}

static uint64_t file_bytes(const struct sp_capture *capture)
{
	return writing_counts(capture->out.writing).file_bytes;
}

struct sp_error *capture_change_file(struct sp_capture *capture)
{
	struct switching *switching = &capture->out.switching;
	struct writing_change *change;
	struct sp_error *error = capture_count_lost(capture);
	if (!error)
		error = capture_commit(capture);
	if (error)
		return error;
	struct file_end end = capture_file_end(capture, true);
	error = file_maker_change(switching->maker, &end, &change);
	if (error) {
		dsos_deinit(&end.dsos);
		return error;
	}
	error = writing_change(capture->out.writing, change, switching->begin_bytes);
	/* What was said of the recording holds for this file, too. */
	notes_restart(&capture->out.notes);
	if (capture->samples.unwinding)
		unwinding_restart(capture->samples.unwinding);
	capture->bank.was_full = false;
	switching->begun_ns = capture_now_ns();
	if (!error && !capture->flight.on)
		error = capture_write_roster(capture);
	if (!error && !capture->flight.on)
		error = capture_note_off(capture);
	switching->first_bytes = file_bytes(capture);
	return error;
}

/* -- Limits ---------------------------------------------------------------- */

/* What would be in the file after this round, and at its end, at most. */
static uint64_t bytes_after(const struct sp_capture *capture, uint64_t samples)
{
	return file_bytes(capture) + samples + capture->tasks.tracker.kept.count +
	       capture->out.dsos.table_bytes + capture->out.switching.maker->closing_bytes + SLACK_BYTES;
}

static uint64_t sample_bytes(const struct sp_capture *capture)
{
	uint64_t bytes = 0;
	for (size_t i = 0; i < capture->config.cpus.count; i++)
		bytes += capture->bank.heads[i] - round_ring(capture, i)->tail;
	return bytes;
}

/* As much of a ring as that; returns whether it is any. */
static bool take_part(struct sp_capture *capture, size_t cpu_index, uint64_t bytes)
{
	const struct ring *ring = round_ring(capture, cpu_index);
	uint64_t *head = &capture->bank.heads[cpu_index];
	*head = ring_whole_records(ring, *head, bytes);
	return *head != ring->tail;
}

/*
 * Of each ring the same share, which was filled in the same time; where none has a record that is
 * so short, of the one with most. Returns whether it is any.
 */
static bool take_share(struct sp_capture *capture, uint64_t room, uint64_t samples)
{
	double share = samples ? (double)room / (double)samples : 0;
	uint64_t most = 0, fullest_head = 0;
	size_t fullest = 0;
	bool any = false;
	for (size_t i = 0; i < capture->config.cpus.count; i++) {
		uint64_t head = capture->bank.heads[i], bytes = head - round_ring(capture, i)->tail;
		any |= take_part(capture, i, (uint64_t)((double)bytes * share));
		if (bytes <= most)
			continue;
		most = bytes;
		fullest = i;
		fullest_head = head;
	}
	if (any || !most)
		return any;
	capture->bank.heads[fullest] = fullest_head;
	return take_part(capture, fullest, room);
}

/* What was taken is in the file: compressed, or unwound, it is far less than it was in the ring. */
static struct sp_error *settle(struct sp_capture *capture)
{
	struct sp_error *error = NULL;
	if (capture->samples.unwinding) {
		error = unwinding_wait(capture->samples.unwinding);
		if (!error)
			error = unwinding_write(capture->samples.unwinding, &capture->out.batch,
						&capture->out.dirty);
		error = error_first(error, batch_flush(&capture->out.batch));
	}
	if (!error && capture->out.switching.maker->info.compression_level)
		error = writing_settle(capture->out.writing);
	return error;
}

/* How large this file may become, and whether recording ends there; 0: nothing is said of it. */
static uint64_t limit(const struct sp_capture *capture, bool *ends_ret)
{
	const struct switching *switching = &capture->out.switching;
	uint64_t most = capture->flight.on ? 0 : switching->switch_bytes;
	*ends_ret = switching->max_bytes && (!most || switching->max_bytes <= most);
	return *ends_ret ? switching->max_bytes : most;
}

/* Whether this one has more than what it began with. */
static bool has_samples(const struct sp_capture *capture)
{
	return capture->samples.filter.counts.samples > capture->out.switching.samples_before;
}

/* All that is wanted of the round, or as much of it as has room in this file; whether it is any. */
static bool take_fitting(struct sp_capture *capture, uint64_t most)
{
	struct switching *switching = &capture->out.switching;
	memcpy(capture->bank.heads, switching->wanted,
	       capture->config.cpus.count * sizeof(*capture->bank.heads));
	uint64_t samples = sample_bytes(capture), without = bytes_after(capture, 0);
	switching->cut = without + samples > most;
	if (!switching->cut)
		return samples != 0;
	return take_share(capture, without < most ? most - without : 0, samples);
}

struct sp_error *capture_take_more(struct sp_capture *capture, bool *more_ret)
{
	struct switching *switching = &capture->out.switching;
	bool ends;
	uint64_t most = limit(capture, &ends);
	*more_ret = false;
	if (!switching->cut)
		return NULL;
	struct sp_error *error = settle(capture);
	if (error)
		return error;
	*more_ret = take_fitting(capture, most);
	if (*more_ret || ends || !switching->cut)
		return NULL;
	if (has_samples(capture)) {
		error = capture_change_file(capture);
		*more_ret = !error && take_fitting(capture, most);
	}
	if (*more_ret || error)
		return error;
	/* Not even a new one has room for a record: it takes the rest. */
	memcpy(capture->bank.heads, switching->wanted,
	       capture->config.cpus.count * sizeof(*capture->bank.heads));
	switching->cut = false;
	*more_ret = true;
	return NULL;
}

struct sp_error *capture_end_cut(struct sp_capture *capture)
{
	struct switching *switching = &capture->out.switching;
	if (!switching->cut)
		return NULL;
	switching->cut = false;
	switching->full = true;
	return notes_add(&capture->out.notes, NOTE_MAX_SIZE, NULL, switching->max_bytes);
}

/* Where the round might not fit, it is taken part by part. */
static struct sp_error *keep_size(struct sp_capture *capture)
{
	struct switching *switching = &capture->out.switching;
	bool ends;
	uint64_t samples = sample_bytes(capture), most = limit(capture, &ends);
	if (!most || bytes_after(capture, samples) <= most)
		return NULL;
	struct sp_error *error = settle(capture);
	if (!error && !ends && bytes_after(capture, 0) >= most && has_samples(capture))
		error = capture_change_file(capture);
	if (error || bytes_after(capture, samples) <= most)
		return error;
	size_t cpus = capture->config.cpus.count;
	if (!switching->wanted && !(switching->wanted = calloc(cpus, sizeof(*switching->wanted))))
		return error_no_memory();
	memcpy(switching->wanted, capture->bank.heads, cpus * sizeof(*capture->bank.heads));
	bool full = bytes_after(capture, 0) >= most;
	take_fitting(capture, most);
	if (ends && full)
		capture->tasks.tracker.kept.count = 0; /* no sample comes that it would be for */
	return NULL;
}

struct sp_error *capture_keep_limits(struct sp_capture *capture)
{
	struct switching *switching = &capture->out.switching;
	struct sp_error *error = NULL;
	if (switching->full)
		return NULL;
	if (!capture->flight.on && switching->switch_ns &&
	    capture_now_ns() - switching->begun_ns >= switching->switch_ns)
		error = capture_change_file(capture);
	return error ? error : keep_size(capture);
}

/* -- From outside ---------------------------------------------------------- */

struct sp_error *sp_capture_switch(struct sp_capture *capture)
{
	if (!capture->out.switching.tracks)
		return error_new(SP_ERROR_INVALID,
				 "the recording does not switch files: use --switch-output");
	if (capture->flight.on)
		return capture_dump(capture, false);
	/* What there is now goes to the file that ends. */
	struct sp_error *error = capture_round(capture, false);
	return error ? error : capture_change_file(capture);
}

bool sp_capture_next_file(struct sp_capture *capture, struct sp_capture_file *ret)
{
	return capture->out.switching.maker && file_maker_next_done(capture->out.switching.maker, ret);
}

uint64_t sp_capture_file_limit(const struct sp_capture *capture)
{
	const struct switching *switching = &capture->out.switching;
	uint64_t most = switching->switch_bytes ?: switching->max_bytes;
	uint64_t rings = capture->config.cpus.count * (sample_rings(capture)->size +
						sideband_rings(capture)->size);
	uint64_t closing = capture->out.dsos.table_bytes + SLACK_BYTES +
			   (switching->maker ? switching->maker->closing_bytes : 0);
	if (capture->flight.on)
		most = switching->first_bytes + rings + FLIGHT_LOG_BYTES + closing;
	if (switching->max_bytes && switching->max_bytes < most)
		most = switching->max_bytes;
	/* A new file takes the rest of a round, if not even one record fits. */
	if (switching->switch_bytes && most < switching->first_bytes + CAPTURE_RECORD_MAX + closing)
		most = switching->first_bytes + rings + closing;
	return most;
}
