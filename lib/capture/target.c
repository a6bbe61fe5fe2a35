/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The target by the options: a command, processes, threads, or the whole system. */
#include "base/cleanup.h"
#include "capture/recorder.h"
#include "proc/unit.h"

struct sp_error *capture_find_unit(struct sp_capture *capture, struct capture_options *options)
{
	CLEANUP(cgroup_hierarchy_deinit) struct cgroup_hierarchy hierarchy = {0};
	if (!options->target.unit)
		return NULL;
	if (options->target.cgroups)
		return error_new(SP_ERROR_INVALID, "a unit and control groups exclude each other");
	struct sp_error *error = cgroup_hierarchy_find(capture->ctx, &hierarchy);
	if (!error)
		error = unit_find(capture->ctx, &hierarchy, options->target.unit, &capture->config.unit_path);
	options->target.cgroups = capture->config.unit_path;
	return error;
}

struct sp_error *capture_choose_target(struct sp_capture *capture,
				       const struct capture_options *options)
{
	const struct sp_capture_target *target = &options->target;
	bool tasks = target->pids.count || target->tids.count || target->by_user;
	bool everyone = target->system_wide || (target->cpus && !tasks) || target->cgroups;
	if ((target->pids.count && target->tids.count) || (tasks && target->system_wide) ||
	    (target->by_user && (target->pids.count || target->tids.count)) ||
	    (tasks && target->cgroups))
		return error_new(SP_ERROR_INVALID, "processes, threads and the whole system exclude "
						   "each other");
	if (!tasks && !everyone && !target->command)
		return error_new(SP_ERROR_INVALID, "nothing to record");
	if (options->sampling.user_only && options->sampling.kernel_only)
		return error_new(SP_ERROR_INVALID, "user only and kernel only exclude each other");
	if (options->sampling.freq_hz && options->sampling.period)
		return error_new(SP_ERROR_INVALID, "a frequency and a period exclude each other");
	capture->config.target = everyone		? CAPTURE_EVERYONE
			  : target->pids.count || target->by_user ? CAPTURE_PROCESSES
			  : target->tids.count ? CAPTURE_THREADS
						: CAPTURE_COMMAND;
	if (everyone && target->scope == SP_CAPTURE_SCOPE_TASK)
		return error_new(SP_ERROR_INVALID, "the whole system can be sampled per CPU only");
	return NULL;
}
