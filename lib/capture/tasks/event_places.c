/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/tasks/event_places.h"

#include "event/fd_budget.h"

void event_places_deinit(struct event_places *places)
{
	vec_deinit(places);
}

struct sp_error *event_places_add(struct event_places *places, const struct capture_config *config,
				  int32_t tid, int32_t last_cpu)
{
	for (uint32_t i = 0; i < config->cpus.count; i++) {
		struct event_place *place = vec_push(places);
		NEED(place);
		*place = (struct event_place){
			.tid = tid, .cpu_index = i,
			.last_cpu = tid < 0 ? (int32_t)config->cpus.items[i] : last_cpu};
	}
	return NULL;
}

/* Below this number of files, the machine's limits are not read. */
#define FEW_FILES 1000

static struct sp_error *check_demand(const struct sp_ctx *ctx, const struct capture_config *config,
				     size_t task_count)
{
	const struct event_demand demand = {
		.tasks = task_count,
		.cpus = config->cpus.count,
		.events = config->plan->sample_count + 1,
	};
	if (demand_files(&demand) <= FEW_FILES)
		return NULL;
	const struct demand_limits limits = demand_limits_read(ctx, &config->rights);
	return demand_check(&demand, &limits, &config->rights);
}

struct sp_error *event_places_reserve(const struct sp_ctx *ctx, const struct capture_config *config,
				      size_t task_count)
{
	uint64_t soft;
	size_t cpus = config->cpus.count;
	TRY(check_demand(ctx, config, task_count));
	uint64_t files = event_set_fds_needed(config->plan, cpus, task_count * cpus);
	return rights_raise_files(&config->rights, files, &soft);
}
