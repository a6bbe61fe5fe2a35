/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls of the event control, with what they need of the other parts. */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include "base/cleanup.h"
#include "capture/recorder.h"
#include "capture/tasks/rescan.h"

/*
 * Whether the rate may be lowered. It may not for a control group's events, or if that would change
 * the meaning of counts; the filter renames samples with a single id only.
 */
static bool may_slow_down(const struct sp_capture *capture, const struct capture_options *options)
{
	return options->sampling.adapt != SP_OFF && !options->target.cgroups &&
	       !capture->config.off_cpu.on &&
	       !options->fields.thread_counts && !capture->out.aux_areas.area_bytes &&
	       !capture->samples.filter.fields.sample_id_again;
}

struct sp_error *capture_open_alternates(struct sp_capture *capture,
					 const struct capture_options *options)
{
	const struct alternate_options alternates = {
		.command_tid = capture->tasks.workload.pid,
		.ring_bytes = ring_bank_sample_bytes(&capture->bank),
		.larger = capture->samples.live_unwind,
		.slower = may_slow_down(capture, options),
	};
	capture->samples.filter.alternates = &capture->control.alternate.ids;
	return event_control_open_alternates(&capture->control, &alternates);
}

struct sp_error *capture_connect_events(struct sp_capture *capture)
{
	const struct sp_event *events;
	size_t count;
	TRY(event_set_events(capture->control.set, &events, &count));
	capture->samples.filter.dither = &capture->control.dither;
	TRY(event_control_open_dither(&capture->control, events, capture->bank.samples,
				      capture->bank.rewrite.shift_ns));
	return sample_path_add_events(&capture->samples, events, count);
}

/* Opens the trigger on all CPUs, or for each task that is recorded from the beginning. */
static struct sp_error *open_trigger(struct sp_capture *capture)
{
	struct trigger *trigger = &capture->control.trigger;
	const struct recorded_tasks *tasks = &capture->tasks;
	size_t count = 1;
	vec_each (process, &tasks->processes)
		count += process->threads.count;
	CLEANUP_FREE int32_t *tids = calloc(count, sizeof(*tids));
	NEED(tids);
	count = 0;
	if (tasks->workload.pid)
		tids[count++] = tasks->workload.pid;
	vec_each (item, &tasks->processes)
		vec_each (thread, &item->threads)
			tids[count++] = (int32_t)*thread;
	const struct trigger_places places = {
		.cpus = capture->config.cpus.items, .cpu_count = capture->config.cpus.count,
		.tids = tids, .tid_count = count, .page_size = capture->config.rights.page_size,
	};
	return trigger_open(trigger, &places);
}

struct sp_error *capture_watch_events(struct sp_capture *capture)
{
	struct event_control *control = &capture->control;
	struct sp_error *error = schedule_open_timer(&control->schedule, capture_now_ns());
	if (!error)
		error = capture_watch_fd(capture, control->schedule.fd);
	if (!error && control->trigger.plan)
		error = open_trigger(capture);
	for (size_t i = 0; i < control->trigger.ring_count && !error; i++)
		error = capture_watch_fd(capture, trigger_fd(&control->trigger, i));
	return error ? error : capture_watch_fd(capture, control->cpu_hotplug.fd);
}

struct sp_error *capture_run_schedule(struct sp_capture *capture)
{
	const struct note_records to = capture_note_records(capture);
	TRY(event_control_run_schedule(&capture->control, capture_now_ns(), &to));
	return waits_on_schedule(capture->samples.waits);
}

struct sp_error *capture_fit_events(struct sp_capture *capture)
{
	const struct filter_counts *counts = &capture->samples.filter.counts;
	const struct rate_control_seen rate_control = {.samples = counts->samples + counts->filtered,
						       .lost = counts->lost};
	struct live_unwind *live_unwind = capture->samples.live_unwind;
	uint64_t now_ns = capture_now_ns();
	const struct note_records to = capture_note_records(capture);
	TRY(event_control_fit_switches(&capture->control, counts->switches, now_ns, &to));
	struct sp_error *error = event_control_fit_rate(&capture->control, &rate_control, now_ns,
							&capture->out.notes);
	if (error || !live_unwind)
		return error;
	struct alternate_seen seen = live_unwind_demand(live_unwind);
	seen.need.lost = counts->lost;
	error = event_control_fit_copies(&capture->control, &seen, now_ns);
	live_unwind_alarm(live_unwind, event_control_can_grow(&capture->control, now_ns));
	return error;
}

/* Records of a reopened event get the id that the file lists. */
static struct sp_error *adopt(struct sp_capture *capture, const struct event_renamed *renamed)
{
	const struct event_plan *plan = capture->config.plan;
	struct rewrite_name name = {.listed = renamed->listed, .counted = renamed->counted};
	struct record_fields fields;
	if (renamed->event < plan->sample_count &&
	    record_fields_make(plan->samples[renamed->event].attr.sample_type, &fields)) {
		const struct perf_event_attr *attr = &plan->samples[renamed->event].attr;
		name.read_format = attr->sample_type & PERF_SAMPLE_READ ? attr->read_format : 0;
		name.read_at = fields.sample_end;
	}
	return rewrite_rename(&capture->bank.rewrite, renamed->id, name);
}

struct sp_error *capture_check_cpus(struct sp_capture *capture, bool now)
{
	struct event_renamed_list renamed = {0};
	bool back;
	const struct cpu_check check = {.now = now, .is_mapped = capture->out.aux_areas.area_bytes,
					.notes = &capture->out.notes, .begin_ns = capture->begin_ns};
	struct sp_error *error = event_control_check_cpus(&capture->control, &check, &renamed, &back);
	/* Some events may be open although the CPU went offline again. */
	for (size_t i = 0; i < renamed.count && !error; i++)
		error = adopt(capture, &renamed.items[i]);
	vec_deinit(&renamed);
	if (!error && back) /* metadata of that CPU may be missing: /proc is read again */
		tasks_request_rescan(&capture->tasks, true);
	return error ? error : ring_bank_copy_changed(&capture->bank);
}

static struct sp_error *switch_named(struct sp_capture *capture, const char *event, bool on)
{
	const struct event_plan *plan = capture->config.plan;
	const struct note_records to = capture_note_records(capture);
	size_t index = event ? 0 : SCHEDULE_ALL;
	while (event && index < plan->sample_count && strcmp(plan->samples[index].name, event))
		index++;
	if (event && index == plan->sample_count)
		return error_new(SP_ERROR_NOT_FOUND, "no event %s is recorded", event);
	TRY(event_control_switch(&capture->control, index, on, capture_now_ns(), &to));
	return waits_on_schedule(capture->samples.waits);
}

struct sp_error *sp_capture_enable(struct sp_capture *capture, const char *event)
{
	return switch_named(capture, event, true);
}

struct sp_error *sp_capture_disable(struct sp_capture *capture, const char *event)
{
	return switch_named(capture, event, false);
}

size_t sp_capture_event_count(const struct sp_capture *capture)
{
	return capture->config.plan->sample_count;
}

const char *sp_capture_event_name(const struct sp_capture *capture, size_t index)
{
	return capture->config.plan->samples[index].name;
}

const struct perf_event_attr *sp_capture_event_attr(const struct sp_capture *capture, size_t index)
{
	return &capture->config.plan->samples[index].attr;
}

bool sp_capture_event_enabled(const struct sp_capture *capture, size_t index)
{
	return capture->control.schedule.on[index];
}

struct sp_error *capture_watch_fd(struct sp_capture *capture, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
	if (fd >= 0 && epoll_ctl(capture->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0)
		return error_os(errno, "epoll_ctl");
	return NULL;
}
