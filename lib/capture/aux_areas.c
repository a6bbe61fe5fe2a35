/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tracing event of a recording. It is opened switched off, like all others of the recording
 * then; each CPU's area is mapped behind the ring that its records go to; and only then it is
 * switched on, since it cannot begin without an area.
 *
 * Decoders bring its time stamps and the times of records together by the conversion that is in
 * the ring's control page, which is that of the kernel's own clock: so all events have that one.
 */
#include "capture/recorder.h"

static struct sp_error *map_area(struct sp_capture *capture, size_t cpu_index)
{
	struct aux_areas *areas = &capture->out.aux_areas;
	struct auxtrace_area *area = &areas->items[areas->count];
	int fd = event_set_fd(capture->control.set, areas->event, cpu_index);
	if (fd < 0)
		return NULL; /* the CPU went away */
	struct sp_error *error = aux_map(&area->aux, &capture->bank.samples[cpu_index], fd,
					 areas->area_bytes, areas->snapshot || areas->sampled);
	if (error && sp_error_code(error) == SP_ERROR_LIMIT)
		return error_set_remedy(error, "use a smaller one (-m ,PAGES), or allow more: "
					"sudo sysctl kernel.perf_event_mlock_kb=N");
	if (error)
		return error_prefix(error, "%s", areas->pmu.name);
	area->index = (uint32_t)cpu_index;
	area->cpu = capture->config.cpus.items[cpu_index];
	area->tid = capture->config.plan->cpu_wide ? -1 : (int32_t)capture->tasks.workload.pid ?: -1;
	areas->count++;
	return NULL;
}

/* Returns whether events that waited for the areas are enabled now. */
static bool begins_now(const struct sp_capture *capture)
{
	return !capture->control.schedule.later && !capture_waits(capture);
}

struct sp_error *capture_map_aux_areas(struct sp_capture *capture)
{
	struct aux_areas *areas = &capture->out.aux_areas;
	if (areas->pmu.type == AUXTRACE_NONE)
		return NULL;
	areas->items = calloc(capture->config.cpus.count, sizeof(*areas->items));
	struct sp_error *error = areas->items ? NULL : error_no_memory();
	for (size_t i = 0; !error && i < capture->config.cpus.count; i++)
		error = map_area(capture, i);
	bool cpu_wide = capture->config.plan->cpu_wide;
	const struct auxtrace_settings settings = {
		.snapshot = areas->snapshot,
		.per_cpu = true,
		.switches = !capture->config.plan->sideband.attr.context_switch ? 0 : cpu_wide ? 3 : 2,
	};
	if (!error)
		error = auxtrace_put_info(capture->ctx, &areas->pmu, capture->bank.samples[0].page,
					  &settings, &capture->out.synthesised);
	if (!error && begins_now(capture))
		error = event_control_resume(&capture->control);
	return error;
}

struct sp_error *capture_drain_all_aux(struct sp_capture *capture)
{
	struct recording *out = &capture->out;
	return aux_areas_drain(&out->aux_areas, out->write_queue, &out->dirty);
}

struct sp_error *capture_drain_aux(struct sp_capture *capture)
{
	/* AUX records of the same bytes come first: they are handed on already, or wait. */
	const struct aux_areas *areas = &capture->out.aux_areas;
	return areas->snapshot || areas->sampled ? NULL : capture_drain_all_aux(capture);
}
