/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tracing event of a recording. It is opened switched off, like all others of the recording
 * then; each CPU's area is mapped behind the ring that its records go to; and only then it is
 * switched on, since it cannot begin without an area.
 *
 * Decoders bring its time stamps and the times of records together by the conversion that is in
 * the ring's control page, which is that of the kernel's own clock: so all events have that one.
 */
#include <sys/ioctl.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "capture/recorder.h"

/* perf's, for who may lock as much, and for others. */
#define AREA_BYTES ((uint64_t)4 << 20)
#define AREA_BYTES_USER ((uint64_t)128 << 10)

static bool wants_area(const struct capture_options *options)
{
	return options->buffers.aux_bytes || options->buffers.snapshot || options->buffers.aux_sample_bytes;
}

/* An area is asked for, and no event has one. */
static struct sp_error *no_area_error(const struct sp_ctx *ctx)
{
	CLEANUP_FREE char *here = auxtrace_pmus_here(ctx);
	if (here)
		return error_set_remedy(
			error_new(SP_ERROR_INVALID, "no event has a PMU with an AUX area"),
			"name one of this machine's (%s): -e %.*s//", here, (int)strcspn(here, ","), here);
	return error_set_remedy(
		error_new(SP_ERROR_UNSUPPORTED, "no PMU with an AUX area: /sys/bus/event_source/devices "
			  "has neither intel_pt, intel_bts, cs_etm, arm_spe, hisi_ptt nor cpum_sf"),
		"trace on a machine with a tracing processor; most virtual machines hide it");
}

static uint64_t area_bytes(const struct sp_capture *capture, uint64_t asked)
{
	uint64_t least = asked ? asked : geteuid() ? AREA_BYTES_USER : AREA_BYTES;
	uint64_t size = capture->config.rights.page_size;
	while (size < least)
		size *= 2;
	return size;
}

/* The kernel takes what samples hold from the area of their group's leader. */
static struct sp_error *sample_area(struct event_specs *specs, const struct auxtrace_pmu *pmu,
				    uint32_t bytes, size_t index)
{
	if (specs->count < 2)
		return error_set_remedy(error_new(SP_ERROR_INVALID, "--aux-sample: nothing is sampled"),
					"name another event after %s", specs->items[index].name);
	if (index)
		return error_set_remedy(error_new(SP_ERROR_INVALID, "--aux-sample: the tracing event must "
						  "be the first"), "name it first: -e %s//,%s",
					pmu->name, specs->items[0].name);
	for (size_t i = 1; i < specs->count; i++) {
		struct event_spec *spec = &specs->items[i];
		spec->leader = index;
		if (spec->terms.given & EVENT_TERM_AUX_SAMPLE_SIZE)
			continue;
		spec->terms.given |= EVENT_TERM_AUX_SAMPLE_SIZE;
		spec->terms.aux_sample_bytes = bytes;
	}
	return NULL;
}

/* A watermark below the area's size leaves room while the trace is taken. */
static void request_area(const struct aux_areas *areas, struct perf_event_attr *attr)
{
	uint64_t bytes = areas->area_bytes / 4;
	if (!areas->snapshot && !areas->sampled)
		attr->aux_watermark = (uint32_t)(bytes < UINT32_MAX ? bytes : UINT32_MAX);
	attr->size = sizeof(*attr);
}

struct sp_error *capture_find_aux_areas(struct sp_capture *capture,
					const struct capture_options *options,
					struct event_specs *specs)
{
	struct aux_areas *areas = &capture->out.aux_areas;
	size_t index = 0;
	for (size_t i = 0; i < specs->count; i++) {
		struct auxtrace_pmu pmu = auxtrace_pmu_of(capture->ctx, &specs->items[i].attr);
		if (pmu.type == AUXTRACE_NONE)
			continue;
		if (areas->pmu.type != AUXTRACE_NONE)
			return error_new(SP_ERROR_INVALID, "%s and %s: only one event can use the AUX area",
					 areas->pmu.name, specs->items[i].name);
		if (pmu.type == AUXTRACE_CS_ETM)
			return auxtrace_put_info(capture->ctx, &pmu, NULL, NULL, &capture->out.extra);
		areas->pmu = pmu;
		index = i;
		/* Tracing takes no samples; perf sets no frequency either. */
		specs->items[i].terms.given |= EVENT_TERM_PERIOD;
		specs->items[i].terms.given &= ~(uint32_t)EVENT_TERM_FREQ;
		specs->items[i].terms.period = 1;
	}
	if (areas->pmu.type == AUXTRACE_NONE)
		return wants_area(options) ? no_area_error(capture->ctx) : NULL;
	areas->snapshot = options->buffers.snapshot;
	areas->sampled = options->buffers.aux_sample_bytes;
	areas->area_bytes = area_bytes(capture, options->buffers.aux_bytes);
	areas->event = index;
	request_area(areas, &specs->items[index].attr);
	if (areas->sampled && areas->snapshot)
		return error_new(SP_ERROR_INVALID, "--aux-sample and --snapshot cannot be combined");
	return areas->sampled
		       ? sample_area(specs, &areas->pmu, options->buffers.aux_sample_bytes, index)
		       : NULL;
}

void capture_request_aux(const struct sp_capture *capture, struct event_request *request)
{
	if (capture->out.aux_areas.pmu.type == AUXTRACE_NONE)
		return;
	request->clock_id = EVENT_CLOCK_KERNEL;
	/* A trace does not say whose it is. */
	request->asked.context_switch = true;
	if (request->start == EVENT_START_NOW)
		request->start = EVENT_START_LATER;
}

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
	struct aux_areas *areas = &capture->out.aux_areas;
	struct sp_error *error = NULL;
	for (size_t i = 0; !error && i < areas->count; i++) {
		uint64_t taken;
		error = auxtrace_drain(&areas->items[i], capture->out.write_queue, &taken);
		areas->bytes += taken;
		capture->out.dirty |= taken != 0;
	}
	return error;
}

struct sp_error *capture_drain_aux(struct sp_capture *capture)
{
	/* AUX records of the same bytes come first: they are handed on already, or wait. */
	const struct aux_areas *areas = &capture->out.aux_areas;
	return areas->snapshot || areas->sampled ? NULL : capture_drain_all_aux(capture);
}

void capture_unmap_aux_areas(struct sp_capture *capture)
{
	for (size_t i = 0; i < capture->out.aux_areas.count; i++)
		aux_deinit(&capture->out.aux_areas.items[i].aux);
	free(capture->out.aux_areas.items);
	capture->out.aux_areas.items = NULL;
	capture->out.aux_areas.count = 0;
}
