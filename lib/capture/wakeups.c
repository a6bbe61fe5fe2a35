/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Wake-ups of recorded threads (`--wakers`): connects the events of whole CPUs with the filter of samples. */
#include "capture/recorder.h"

static struct sp_error *note_scope(struct sp_capture *capture)
{
	const struct off_cpu *off_cpu = &capture->config.off_cpu;
	bool known = off_cpu_has_outside_wakers(off_cpu, capture->config.plan);
	if (known && !capture->control.outside_errnum)
		return notes_add(&capture->out.notes, NOTE_WAKEUPS_BY_ALL, NULL);
	return notes_add(&capture->out.notes, NOTE_WAKEUPS_BY_RECORDED, NULL,
			 (uint64_t)capture->control.outside_errnum);
}

struct sp_error *capture_watch_wakeups(struct sp_capture *capture)
{
	const struct sp_event *events;
	const struct wakeup_event *event = &capture->config.off_cpu.wakeups;
	struct wakeups *wakeups = &capture->samples.wakeups;
	size_t count;
	if (!event->on || capture->config.plan->cpu_wide)
		return NULL;
	if (!off_cpu_has_outside_wakers(&capture->config.off_cpu, capture->config.plan))
		return note_scope(capture);
	const struct wakeups_options options = {
		.ctx = capture->ctx, .event = event,
		.attr = &capture->config.plan->samples[event->event].attr,
		.threads = tasks_threads(&capture->tasks), .fields = &capture->samples.filter.fields,
	};
	sample_path_filter_wakeups(&capture->samples, &options);
	struct sp_error *error = event_set_events(capture->control.set, &events, &count);
	for (size_t i = 0; !error && i < events[event->event].id_count; i++)
		if (!wakeups_add_id(wakeups, events[event->event].ids[i], false))
			error = error_no_memory();
	if (!error)
		error = capture_add_outside_wakeups(capture);
	return error ? error : note_scope(capture);
}

struct sp_error *capture_add_outside_wakeups(struct sp_capture *capture)
{
	const struct alternate_ids *ids = &capture->control.alternate.ids;
	for (size_t i = 0; i < ids->outside.count; i++)
		NEED(wakeups_add_id(&capture->samples.wakeups, ids->outside.items[i], true));
	return NULL;
}
