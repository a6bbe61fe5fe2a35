/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Private to this folder. */
#pragma once

#include "capture/config/config.h"

#define DEFAULT_FREQ_HZ 997

/*
 * Default period of clocks that are not dithered: 2 ms divided by the golden ratio. Small multiples
 * of it are far from those of 1, 4 and 10 ms, the periods of most timers. Those of 997 and 99 Hz
 * are near.
 */
#define DEFAULT_CLOCK_PERIOD_NS 1236068

/* Requested rate: 0 for periods, or SP_CAPTURE_FREQ_MAX. */
static inline uint64_t config_freq_hz(const struct capture_options *options)
{
	return options->sampling.freq_hz ? options->sampling.freq_hz
	       : options->sampling.period ? 0 : DEFAULT_FREQ_HZ;
}

/*
 * First step of config_list_events(): appends the events of the options' lists with their filters,
 * or the default event. --all-user and --all-kernel apply to events without modes of their own.
 */
struct sp_error *events_parse(struct capture_events *events, const struct sp_ctx *ctx,
			      const struct capture_options *options) SP_MUST_CHECK;

/* Second step: opens the requested control groups, one for each event, or one for all. */
struct sp_error *events_open_cgroups(struct capture_events *events, const struct sp_ctx *ctx,
				     const struct capture_options *options) SP_MUST_CHECK;

/* Also closes the control groups. */
void events_deinit(struct capture_events *events);

/* Adds the events of waits, without filters. */
struct sp_error *events_add_waits(struct capture_events *events, const struct sp_ctx *ctx,
				  const struct capture_options *options,
				  struct off_cpu *ret) SP_MUST_CHECK;

/*
 * Adds the dummy event that has the SWITCH records, if waits have not added it. Their rings are
 * those of the samples: there they cannot push out MMAP2. `of_tasks`: events will be of tasks.
 * *added_ret: the events have one. Without samples, in overwrite mode and for control groups, the
 * event of the metadata has those of --switch-events.
 */
struct sp_error *events_add_switches(struct capture_events *events, const struct sp_ctx *ctx,
				     const struct capture_options *options, bool of_tasks,
				     bool *added_ret) SP_MUST_CHECK;

/* Returns the scope to request. */
enum event_scope config_scope(const struct capture_config *config,
			      const struct capture_options *options);

/* Moves a term call-graph= that all events have to the options. */
void events_apply_common_graph(struct event_specs *specs, struct capture_options *options);
