/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Recording of waits: creates the part that matches samples and switches, and calls it in each round. */
#include "capture/recorder.h"

/* Memory of the samples that are held, one for each thread that waits. */
#define HELD_BYTES ((size_t)64 << 20)
#define THREADS_MAX ((size_t)1 << 18)

struct sp_error *capture_record_waits(struct sp_capture *capture)
{
	const struct off_cpu *off_cpu = &capture->config.off_cpu;
	struct waits_options options = {
		.thin_ns = off_cpu->thin_ns,
		.threads_max = THREADS_MAX,
		.bytes_max = HELD_BYTES,
	};
	if (!off_cpu->on)
		return NULL;
	/* The fields of all events have no period if one of them has none. */
	const struct event_planned *event = &capture->config.plan->samples[off_cpu->event];
	if (!record_fields_make(event->attr.sample_type, &options.fields))
		return error_new(SP_ERROR_INVALID, "no event to sample");
	struct waits *waits = waits_new(&options);
	if (!waits)
		return error_no_memory();
	sample_path_record_waits(&capture->samples, waits);
	return NULL;
}

struct sp_error *capture_find_waits(struct sp_capture *capture)
{
	const struct sp_event *events;
	size_t count;
	if (!capture->samples.waits)
		return NULL;
	struct sp_error *error = event_set_events(capture->control.set, &events, &count);
	if (error)
		return error;
	const struct sp_event *event = &events[capture->config.off_cpu.event];
	for (size_t i = 0; i < event->id_count && !error; i++)
		error = waits_add_id(capture->samples.waits, event->ids[i]);
	return error;
}

struct sp_error *capture_write_waits(struct sp_capture *capture, bool last)
{
	struct recording *out = &capture->out;
	uint64_t safe_ns = last ? UINT64_MAX : capture->round_ns;
	struct sp_error *error = sample_path_write_waits(&capture->samples, safe_ns, &out->batch,
							 &out->dirty);
	if (error || !last)
		return error;
	/* The samples of the round before the last were all that was read. */
	return sample_path_split_waits(&capture->samples, capture->round_ns, &out->batch, &out->dirty);
}

struct sp_error *capture_split_waits(struct sp_capture *capture)
{
	struct recording *out = &capture->out;
	return sample_path_split_waits(&capture->samples, capture->round_ns, &out->batch, &out->dirty);
}

struct sp_error *capture_note_waits(struct sp_capture *capture)
{
	if (!capture->samples.waits)
		return NULL;
	const struct waits_counts *counts = waits_counts(capture->samples.waits);
	if (!counts->unmatched && !counts->dropped)
		return NULL;
	return notes_add(&capture->out.notes, NOTE_WAITS_LOST, NULL, counts->unmatched,
			 counts->waits + counts->unmatched, counts->dropped);
}
