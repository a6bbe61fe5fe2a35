/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The AUX areas of a recording's tracing event: which event has them, how it is opened, and their
 * way to the file. The round's thread calls all functions.
 */
#pragma once

#include "capture/config/capture_options.h"
#include "capture/output/auxtrace.h"
#include "event/open.h"
#include "event/parse.h"

/* Zeroed: there is no tracing event. */
struct aux_areas {
	struct auxtrace_pmu pmu;
	size_t event;        /* index in the plan's samples */
	uint64_t area_bytes; /* one for each CPU */
	bool snapshot;       /* areas are overwritten, and read only on demand */
	bool sampled;        /* areas are overwritten, and parts of them are in samples */
	struct auxtrace_area *items; /* owned; the session maps them */
	size_t count;
};

/*
 * Finds the tracing event among the specs, sets its period and attr, and chooses the size of its
 * areas. With --aux-sample, it becomes the leader of all other events. Fails with SP_ERROR_INVALID
 * or SP_ERROR_UNSUPPORTED if options need an area and no event has one, or if they contradict each
 * other.
 */
struct sp_error *aux_areas_find(struct aux_areas *areas, const struct sp_ctx *ctx,
				const struct capture_options *options, uint64_t page_size,
				struct event_specs *specs) SP_MUST_CHECK;

/*
 * Sets what the tracing event needs of all events: the kernel's clock, and areas that are mapped
 * before the start.
 */
void aux_areas_request(const struct aux_areas *areas, struct event_request *request);

/*
 * Writes the content of all areas. *drained_ret is set if there was any. Without `waits`, areas for
 * which the queue has no room keep theirs.
 */
struct sp_error *aux_areas_drain(struct aux_areas *areas, struct write_queue *write_queue,
				 bool waits, bool *drained_ret) SP_MUST_CHECK;

/* Unmaps the areas. */
void aux_areas_deinit(struct aux_areas *areas);
