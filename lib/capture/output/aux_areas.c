/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/output/aux_areas.h"

#include <string.h>
#include <unistd.h>
#include "base/cleanup.h"

/* perf's sizes: for users who may lock that much, and for others. */
#define AREA_BYTES ((uint64_t)4 << 20)
#define AREA_BYTES_USER ((uint64_t)128 << 10)

static bool wants_area(const struct capture_options *options)
{
	return options->buffers.aux_bytes || options->buffers.snapshot ||
	       options->buffers.aux_sample_bytes;
}

/* Explains that no event has the requested area. */
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

static uint64_t area_bytes(uint64_t page_size, uint64_t requested)
{
	uint64_t least = requested ? requested : geteuid() ? AREA_BYTES_USER : AREA_BYTES;
	uint64_t size = page_size;
	while (size < least)
		size *= 2;
	return size;
}

/*
 * Makes the tracing event the leader of all others: the kernel copies parts of the leader's area
 * into samples.
 */
static struct sp_error *lead_samples(struct event_specs *specs, const struct auxtrace_pmu *pmu,
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

static struct sp_error *cannot_describe(const struct sp_ctx *ctx, const struct auxtrace_pmu *pmu)
{
	struct record_buffer buffer = {0};
	struct sp_error *error = auxtrace_put_info(ctx, pmu, NULL, NULL, &buffer);
	vec_deinit(&buffer);
	return error;
}

struct sp_error *aux_areas_find(struct aux_areas *areas, const struct sp_ctx *ctx,
				const struct capture_options *options, uint64_t page_size,
				struct event_specs *specs)
{
	size_t index = 0;
	for (size_t i = 0; i < specs->count; i++) {
		struct auxtrace_pmu pmu = auxtrace_pmu_of(ctx, &specs->items[i].attr);
		if (pmu.type == AUXTRACE_NONE)
			continue;
		if (areas->pmu.type != AUXTRACE_NONE)
			return error_new(SP_ERROR_INVALID, "%s and %s: only one event can use the AUX area",
					 areas->pmu.name, specs->items[i].name);
		if (pmu.type == AUXTRACE_CS_ETM)
			return cannot_describe(ctx, &pmu);
		areas->pmu = pmu;
		index = i;
		/* A tracing event takes no samples; perf sets no frequency either. */
		specs->items[i].terms.given |= EVENT_TERM_PERIOD;
		specs->items[i].terms.given &= ~(uint32_t)EVENT_TERM_FREQ;
		specs->items[i].terms.period = 1;
	}
	if (areas->pmu.type == AUXTRACE_NONE)
		return wants_area(options) ? no_area_error(ctx) : NULL;
	areas->snapshot = options->buffers.snapshot;
	areas->sampled = options->buffers.aux_sample_bytes;
	areas->area_bytes = area_bytes(page_size, options->buffers.aux_bytes);
	areas->event = index;
	/* A watermark below the area's size leaves room while the trace is read. */
	struct perf_event_attr *attr = &specs->items[index].attr;
	uint64_t bytes = areas->area_bytes / 4;
	if (!areas->snapshot && !areas->sampled)
		attr->aux_watermark = (uint32_t)(bytes < UINT32_MAX ? bytes : UINT32_MAX);
	attr->size = sizeof(*attr);
	if (areas->sampled && areas->snapshot)
		return error_new(SP_ERROR_INVALID, "--aux-sample and --snapshot cannot be combined");
	return areas->sampled
		       ? lead_samples(specs, &areas->pmu, options->buffers.aux_sample_bytes, index)
		       : NULL;
}

void aux_areas_request(const struct aux_areas *areas, struct event_request *request)
{
	if (areas->pmu.type == AUXTRACE_NONE)
		return;
	request->clock_id = EVENT_CLOCK_KERNEL;
	/* A trace has no task of its own. */
	request->asked.context_switch = true;
}

struct sp_error *aux_areas_drain(struct aux_areas *areas, struct write_queue *write_queue,
				 bool waits, bool *drained_ret)
{
	struct sp_error *error = NULL;
	for (size_t i = 0; !error && i < areas->count; i++) {
		uint64_t bytes = 0;
		if (waits)
			error = write_queue_flush(write_queue);
		if (!error)
			error = auxtrace_drain(&areas->items[i], write_queue, &bytes);
		*drained_ret |= bytes != 0;
	}
	return error;
}

void aux_areas_deinit(struct aux_areas *areas)
{
	vec_each (area, areas)
		aux_deinit(&area->aux);
	free(areas->items);
	areas->items = NULL;
	areas->count = 0;
}
