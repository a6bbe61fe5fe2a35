/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Chooses the target and its CPUs. */
#include <string.h>
#include "base/cleanup.h"
#include "capture/config/config_internal.h"
#include "proc/cgroup.h"

struct sp_error *config_find_unit(const struct sp_ctx *ctx, struct capture_options *options,
				  struct capture_config *config)
{
	CLEANUP(cgroup_hierarchy_deinit) struct cgroup_hierarchy hierarchy = {0};
	if (!options->target.unit)
		return NULL;
	if (options->target.cgroups)
		return error_new(SP_ERROR_INVALID, "a unit and control groups exclude each other");
	struct sp_error *error = cgroup_hierarchy_find(ctx, &hierarchy);
	if (!error)
		error = unit_find(ctx, &hierarchy, options->target.unit, &config->unit_path);
	options->target.cgroups = config->unit_path;
	return error;
}

static struct sp_error *copy_options(const struct capture_options *options,
				     struct capture_config *config)
{
	const struct sp_capture_target *target = &options->target;
	config->inherit = target->inherit != SP_OFF;
	config->threads_only = target->inherit_threads;
	config->tail_synthesize = options->schedule.tail_synthesize;
	config->duration_ns = options->schedule.duration_ns;
	config->realtime = options->buffers.realtime;
	config->kept_registers = options->fields.user_registers;
	if (target->command && !(config->command_name = strdup(target->command[0])))
		return error_no_memory();
	return NULL;
}

struct sp_error *config_choose_target(const struct capture_options *options,
				      struct capture_config *config)
{
	const struct sp_capture_target *target = &options->target;
	bool tasks = target->pids.count || target->tids.count || target->by_user;
	bool system_wide = target->system_wide || (target->cpus && !tasks) || target->cgroups;
	if ((target->pids.count && target->tids.count) || (tasks && target->system_wide) ||
	    (target->by_user && (target->pids.count || target->tids.count)) ||
	    (tasks && target->cgroups))
		return error_new(SP_ERROR_INVALID, "processes, threads and the whole system exclude "
						   "each other");
	if (!tasks && !system_wide && !target->command)
		return error_new(SP_ERROR_INVALID, "nothing to record");
	if (options->sampling.user_only && options->sampling.kernel_only)
		return error_new(SP_ERROR_INVALID, "user only and kernel only exclude each other");
	if (options->sampling.freq_hz && options->sampling.period)
		return error_new(SP_ERROR_INVALID, "a frequency and a period exclude each other");
	config->target = system_wide ? CAPTURE_SYSTEM_WIDE
			 : target->pids.count || target->by_user ? CAPTURE_PROCESSES
			 : target->tids.count ? CAPTURE_THREADS : CAPTURE_COMMAND;
	if (system_wide && target->scope == SP_CAPTURE_SCOPE_TASK)
		return error_new(SP_ERROR_INVALID, "the whole system can be sampled per CPU only");
	TRY(off_cpu_check(options, system_wide));
	return copy_options(options, config);
}

static bool is_online(const struct capture_config *config, uint32_t cpu)
{
	vec_each (item, &config->online)
		if (*item == cpu)
			return true;
	return false;
}

/* `text`: list of CPUs; NULL: all that are online. */
static struct sp_error *choose_cpus(const struct sp_ctx *ctx, const char *text,
				    struct capture_config *config)
{
	struct cpu_list *cpus = &config->cpus;
	TRY(sysfs_cpus_online(ctx, &config->online));
	if (text)
		TRY(cpu_list_parse(cpus, text));
	NEED(vec_reserve(cpus, config->online.count));
	if (!text) {
		memcpy(cpus->items, config->online.items, config->online.count * sizeof(*cpus->items));
		cpus->count = config->online.count;
	}
	vec_each (cpu, cpus)
		if (!is_online(config, *cpu))
			return error_new(SP_ERROR_INVALID, "CPU %u is not online", *cpu);
	return cpus->count ? NULL : error_new(SP_ERROR_INVALID, "no CPU to record");
}

/* Returns whether events will be of tasks and inherited by their children. */
static bool is_of_tasks(const struct capture_config *config, const struct capture_options *options)
{
	enum event_scope scope = config_scope(config, options);
	return config->inherit &&
	       (scope == EVENT_SCOPE_TASKS || (scope == EVENT_SCOPE_CPUS_IF_ALLOWED &&
					       !rights_cpu_wide(&config->rights)));
}

struct sp_error *config_list_events(const struct sp_ctx *ctx, struct capture_options *options,
				    struct capture_config *config)
{
	TRY(events_parse(&config->events, ctx, options));
	TRY(events_open_cgroups(&config->events, ctx, options));
	events_apply_common_graph(&config->events.specs, options);
	TRY(events_add_waits(&config->events, ctx, options, &config->off_cpu));
	TRY(choose_cpus(ctx, options->target.cpus, config));
	TRY(rights_read(ctx, &config->rights));
	config->switches_limited =
		options->fields.switches == SP_DEFAULT && !options->sampling.off_cpu;
	return events_add_switches(&config->events, ctx, options, is_of_tasks(config, options),
				   &config->switches);
}
