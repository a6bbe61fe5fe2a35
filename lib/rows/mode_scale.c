/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rows/mode_scale.h"

#include <stdlib.h>
#include "base/cleanup.h"
#include "info/losses.h"
#include "profile/filter.h"
#include "samples/sample_counter.h"

/* A thread is idle if it waited at one place for more than this part of its life. */
#define IDLE_SHARE 0.99

/* Time without samples is split for the timeline, in parts of the recording's length. */
#define REST_PARTS 256

/* Part of the on-CPU samples that may be missing, for the kernel's time to be known. */
#define MISSING_PART_MAX 0.01

static void deinit_weights(struct mode_weights *weights)
{
	mode_weights_deinit(weights);
}

/* Adds the weights of all workers. Returns false when out of memory. */
static bool merge_weights(const struct run *run, struct mode_weights *all)
{
	for (size_t i = 0; i < run->worker_count; i++) {
		const struct mode_weights *from = &run->workers[i].counted.mode_weights;
		for (size_t j = 0; j < from->count; j++)
			if (!mode_weights_add(all, &from->items[j]))
				return false;
	}
	return true;
}

/* Returns whether the thread passes the filters. Filters of code or times exclude time without samples. */
static bool shows_rest(const struct run *run, const struct task_totals *of, const char *name)
{
	const struct sp_filter *filter = &run->options.filter;
	const struct sp_analysis_stacks *stacks = &run->options.stacks;
	if (filter->dsos.count || filter->symbols.count || filter->cpus.count || filter->time_count ||
	    filter->focus.count || filter->ignore.count || filter->parallelism.count || stacks->callers ||
	    stacks->callees || run->options.rows.parent_only)
		return false;
	return filter_name(filter->comms.items, filter->comms.count, name) &&
	       filter_task(filter, of->pid, of->tid);
}

/*
 * Adds time without samples to the timeline. If it is CPU time alone, it goes to the intervals in which the
 * thread ran, else to the thread's begin. Returns false when out of memory.
 */
static bool add_cells(struct counted *counted, const struct task_totals *of, const struct state_sums *rest,
		      uint32_t leaf)
{
	const struct task_states *states = counted->work->mode->states;
	const struct sp_record record = {.sample = {.pid = of->pid, .tid = of->tid, .time_ns = of->begin_ns}};
	struct place_of_sample place;
	if (!counted->cells.limit)
		return true;
	if (!sample_place(counted, &record, &place))
		return false;
	struct sp_cell cell = {
		.time_ns = of->begin_ns,
		.weight = state_sums_total(rest),
		.thread = counted->last_task,
		.node = leaf,
	};
	if (rest->ns[TIME_ON_CPU] != cell.weight)
		return cells_add(&counted->cells, &cell);
	const uint64_t whole_ns = task_states_last_ns(states) - task_states_first_ns(states);
	const uint64_t part_ns = whole_ns / REST_PARTS + 1;
	struct task_interval interval;
	for (uint64_t next = of->begin_ns; task_states_next(states, of, &next, &interval);) {
		uint64_t at = interval.state == TASK_RUNNING ? interval.begin_ns : interval.end_ns;
		for (; at < interval.end_ns; at += cell.weight) {
			cell.time_ns = at;
			cell.weight = interval.end_ns - at < part_ns ? interval.end_ns - at : part_ns;
			if (!cells_add(&counted->cells, &cell))
				return false;
		}
	}
	return true;
}

/* Adds a leaf without a stack for a part of a lifetime's rest. Returns false when out of memory. */
static bool add_rest(struct run *run, uint32_t lifetime, const struct state_sums *rest, uint32_t answer)
{
	struct counted *counted = &run->workers[0].counted;
	const struct task_totals *of = task_states_totals(run->mode.states, lifetime);
	const bool *keys = run->work.group_keys;
	uint64_t words[SP_KEY_COUNT], last_ns = of->end_ns - (of->end_ns > of->begin_ns);
	struct machine_span span = machine_span(run->machine, of->pid, of->tid, last_ns);
	if (!state_sums_total(rest) || !shows_rest(run, of, span.name))
		return true;
	for (size_t i = 0; i < run->work.detail_count; i++)
		words[i] = DETAIL_NONE;
	const struct group group = {
		.event = run->mode.any_event,
		.comm = keys[SP_KEY_COMM] ? span.name : NULL,
		.pid = keys[SP_KEY_PID] ? (int32_t)of->pid : 0,
		.tid = keys[SP_KEY_TID] ? (int32_t)of->tid : 0,
		.cpu = keys[SP_KEY_CPU] ? -1 : 0,
		.detail = run->work.detail_count ? details_add(&counted->details, words) : 0,
		.lifetime = lifetime,
	};
	uint32_t index = group.detail == UINT32_MAX ? UINT32_MAX : groups_add(&counted->groups, &group);
	uint32_t root = index == UINT32_MAX ? RADIX_NONE :
			radix_root(&counted->chains.radix, (uint64_t)index << 32 | span.view);
	uint32_t leaf = root == RADIX_NONE ? UINT32_MAX : sample_leaf(counted, root, answer);
	if (leaf == UINT32_MAX || !counted_add_times(counted, leaf, rest))
		return false;
	counted->leaves.items[leaf].weight = state_sums_total(rest);
	return add_cells(counted, of, rest, leaf);
}

/* Adds a lifetime's time without samples; answers[]: by cause. */
static bool add_rests(struct run *run, uint32_t lifetime, const uint32_t *answers)
{
	struct state_sums rests[REST_COUNT] = {
		[REST_NO_STACK] = run->mode_times.rest[lifetime],
		[REST_KERNEL].ns[TIME_ON_CPU] = run->mode_times.kernel_ns[lifetime],
	};
	/* In latency mode, blocked time is the process's, and no sample can have it. */
	if (run->mode.kind == SP_MODE_LATENCY) {
		rests[REST_ALL_BLOCKED].ns[TIME_BLOCKED] = rests[REST_NO_STACK].ns[TIME_BLOCKED];
		rests[REST_NO_STACK].ns[TIME_BLOCKED] = 0;
	}
	for (enum names_rest i = 0; i < REST_COUNT; i++)
		if (!add_rest(run, lifetime, &rests[i], answers[i]))
			return false;
	return true;
}

/*
 * Returns whether a significant part of the on-CPU samples is missing: by losses, by throttling, or because
 * single events were disabled.
 */
static bool misses_samples(const struct run *run)
{
	const struct sp_losses *losses = run->sideband.losses;
	double weight = 0, missing = 0;
	bool open = false; /* a throttling has no known end */
	if (run->mode.states && task_states_partly_off(run->mode.states))
		return true;
	for (uint16_t event = 0; event < run->event_count; event++) {
		if (run->mode.roles[event] != ROLE_ON_CPU)
			continue;
		for (size_t i = 0; i < run->worker_count; i++)
			weight += (double)run->workers[i].counted.events[event].all.weight;
		missing += (double)sp_losses_count(losses, event) * (double)run->mode.period +
			   (double)losses_throttling(losses, event).ns;
		for (size_t i = 0; i < sp_losses_throttling_count(losses); i++)
			open |= sp_losses_throttling(losses, i)->event == event &&
				!sp_losses_throttling(losses, i)->end_ns;
	}
	return open || missing > weight * MISSING_PART_MAX;
}

struct sp_error *mode_add_rests(struct run *run)
{
	CLEANUP(deinit_weights) struct mode_weights weights = {0};
	NEED(merge_weights(run, &weights));
	/* Missing samples may have been in user code. */
	run->mode.user_only &= !misses_samples(run);
	struct sp_error *error = mode_times_make(&run->mode_times, &run->mode, &weights);
	uint32_t answers[REST_COUNT];
	for (enum names_rest i = 0; i < REST_COUNT; i++) {
		answers[i] = names_add_rest(&run->names, i);
		if (!error && answers[i] == ANSWER_FAILED)
			error = error_no_memory();
	}
	for (uint32_t i = 0; !error && i < run->mode_times.lifetime_count; i++)
		if (!add_rests(run, i, answers))
			error = error_no_memory();
	return error;
}

static const struct group *group_of(const struct worker *worker, const struct leaf *leaf)
{
	return &worker->counted.groups.items[worker->resolved.states[leaf->node].group];
}

/* Adds the times that samples of a stratum stand for. */
static void scale(struct stratum *stratum, const struct mode_weight *part, struct state_sums *times)
{
	uint64_t before = state_sums_total(times);
	stratum_scale(stratum, part->weight, times->ns);
	double ns = (double)(state_sums_total(times) - before);
	double factor = part->weight ? ns / (double)part->weight : 0;
	times->variance += part->variance * factor * factor;
	times->waits += part->waits * stratum->waits_factor;
}

/* Scales a leaf without wait parts: on-CPU samples, or waits of threads without known states. */
static void scale_leaf(struct run *run, const struct worker *worker, const struct leaf *leaf,
		       struct state_sums *times)
{
	const struct group *group = group_of(worker, leaf);
	bool is_wait = run->mode.roles[group->event] != ROLE_ON_CPU;
	uint32_t id = is_wait ? 0 : group->stratum;
	struct stratum *stratum = mode_times_find(&run->mode_times,
						  mode_stratum_key(group->lifetime, is_wait, id));
	const struct mode_weight part = {.weight = leaf->weight, .waits = times->waits,
					 .variance = times->variance};
	if (!stratum)
		return;
	times->waits = times->variance = 0;
	scale(stratum, &part, times);
}

static void scale_parts(struct run *run, struct worker *worker)
{
	struct counted *counted = &worker->counted;
	for (size_t i = 0; i < counted->wait_parts.count; i++) {
		const struct mode_weight *part = &counted->wait_parts.items[i];
		const uint32_t leaf = (uint32_t)(part->key >> 32), class = (uint32_t)part->key;
		const struct group *group = group_of(worker, &counted->leaves.items[leaf]);
		struct stratum *stratum =
			mode_times_find(&run->mode_times,
					mode_stratum_key(group->lifetime, true, class));
		if (stratum)
			scale(stratum, part, &counted->leaf_times.items[leaf]);
	}
}

static void scale_worker(struct run *run, struct worker *worker)
{
	struct counted *counted = &worker->counted;
	scale_parts(run, worker);
	for (size_t i = 0; i < counted->leaf_times.count; i++) {
		struct leaf *leaf = &counted->leaves.items[i];
		struct state_sums *times = &counted->leaf_times.items[i];
		if (!leaf->samples)
			continue;
		scale_leaf(run, worker, leaf, times);
		leaf->weight = state_sums_total(times);
		/* Samples without time, such as on-CPU samples in mode off-cpu, make no rows and no nodes. */
		if (!leaf->weight && run->mode.kind != SP_MODE_WAKERS)
			leaf->samples = 0;
	}
}

/* Longest blocked time of a lifetime at one place: a chain with its sampled address. */
struct places {
	struct u64map index_of; /* hash of lifetime and place -> index */
	VEC(uint64_t) ns;
	uint64_t *longest;      /* by lifetime */
};

static void places_deinit(struct places *places)
{
	u64map_deinit(&places->index_of);
	vec_deinit(&places->ns);
	free(places->longest);
}

/* Returns a hash of the chain from its root to a node, equal in all workers. */
static uint64_t hash_chain(const struct radix *radix, uint32_t at, uint64_t hash)
{
	for (; at != RADIX_NONE; at = radix->items[at].parent)
		for (uint32_t i = radix->items[at].run + radix->items[at].length; i-- > radix->items[at].run;)
			hash = hash_pair(hash, radix->words.items[i]);
	return hash;
}

static bool add_place(struct places *places, uint32_t lifetime, uint64_t hash, uint64_t ns)
{
	bool added;
	if (!vec_reserve(&places->ns, places->ns.count + 1))
		return false;
	const uint32_t *index = u64map_put(&places->index_of, hash, (uint32_t)places->ns.count, &added);
	if (!index)
		return false;
	if (added)
		*vec_push(&places->ns) = 0;
	uint64_t *sum = &places->ns.items[*index];
	*sum = weight_add(*sum, ns);
	if (*sum > places->longest[lifetime])
		places->longest[lifetime] = *sum;
	return true;
}

static bool find_places(const struct run *run, struct places *places)
{
	places->longest = calloc(run->mode_times.lifetime_count + 1, sizeof(*places->longest));
	for (size_t i = 0; places->longest && i < run->worker_count; i++) {
		const struct worker *worker = &run->workers[i];
		const struct counted *counted = &worker->counted;
		for (size_t j = 0; j < counted->leaf_times.count; j++) {
			const struct leaf *leaf = &counted->leaves.items[j];
			uint64_t ns = counted->leaf_times.items[j].ns[TIME_BLOCKED];
			uint32_t group = worker->resolved.states[leaf->node].group;
			uint32_t lifetime = counted->groups.items[group].lifetime;
			if (!ns || lifetime == LIFETIME_NONE)
				continue;
			uint64_t hash = hash_pair(lifetime, leaf->answer >> ANSWER_SHIFT);
			hash = hash_chain(&counted->chains.radix, leaf->node, hash);
			if (!add_place(places, lifetime, hash, ns))
				return false;
		}
	}
	return places->longest;
}

static bool is_idle(const struct run *run, const struct places *places, uint32_t lifetime)
{
	const struct task_totals *of = task_states_totals(run->mode.states, lifetime);
	return (double)places->longest[lifetime] > IDLE_SHARE * (double)(of->end_ns - of->begin_ns);
}

/* Drops the leaves of idle lifetimes; their times were subtracted from the whole. */
static void drop_idle(struct run *run, const struct places *places)
{
	for (size_t i = 0; i < run->worker_count; i++) {
		struct worker *worker = &run->workers[i];
		struct counted *counted = &worker->counted;
		for (size_t j = 0; j < counted->leaf_times.count; j++) {
			struct leaf *leaf = &counted->leaves.items[j];
			uint32_t group = worker->resolved.states[leaf->node].group;
			uint32_t lifetime = counted->groups.items[group].lifetime;
			if (lifetime == LIFETIME_NONE || !is_idle(run, places, lifetime))
				continue;
			leaf->samples = leaf->weight = 0;
			counted->leaf_times.items[j] = (struct state_sums){0};
		}
	}
}

/* Leaves out the idle lifetimes, unless all are idle. Returns false when out of memory. */
static bool leave_out_idle(struct run *run)
{
	CLEANUP(places_deinit) struct places places = {0};
	struct state_sums *whole = &run->mode_times.whole;
	size_t count = run->mode_times.lifetime_count, idle = 0;
	if (!find_places(run, &places))
		return false;
	for (uint32_t i = 0; i < count; i++)
		idle += is_idle(run, &places, i);
	if (!idle || idle == count)
		return true;
	for (uint32_t i = 0; i < count; i++) {
		const struct task_totals *of = task_states_totals(run->mode.states, i);
		if (!is_idle(run, &places, i))
			continue;
		whole->ns[TIME_ON_CPU] -= of->running_ns;
		whole->ns[TIME_RUNNABLE] -= of->runnable_ns;
		whole->ns[TIME_BLOCKED] -= of->blocked_ns;
		whole->ns[TIME_UNKNOWN] -= of->unknown_ns;
		whole->waits -= (double)of->waits;
		run->idle_ns = weight_add(run->idle_ns, of->end_ns - of->begin_ns);
	}
	run->idle_threads = idle;
	drop_idle(run, &places);
	return true;
}

struct sp_error *mode_scale(struct run *run)
{
	for (size_t i = 0; i < run->worker_count; i++)
		scale_worker(run, &run->workers[i]);
	run->work.frame_reasons = run->frame_reasons = leaf_states_frames(&run->names);
	NEED(run->frame_reasons);
	if (run->mode.kind == SP_MODE_WALL && !run->options.samples.all_threads && run->mode.states &&
	    !leave_out_idle(run))
		return error_no_memory();
	return NULL;
}

/* Adds the times and samples of all leaves that pass the filters. */
static void add_leaves(const struct run *run, struct state_sums *sums, struct sp_profile *profile)
{
	for (size_t i = 0; i < run->worker_count; i++) {
		const struct counted *counted = &run->workers[i].counted;
		for (size_t j = 0; j < counted->leaf_times.count; j++) {
			const struct leaf *leaf = &counted->leaves.items[j];
			profile->shown_samples += leaf->samples;
			profile->shown_weight = weight_add(profile->shown_weight, leaf->weight);
			if (leaf_is_shown(leaf))
				state_sums_add(sums, &counted->leaf_times.items[j]);
		}
	}
}

/* Returns the blocked time of all threads; 0 if switches were not recorded. */
static uint64_t blocked_ns(const struct task_states *states)
{
	uint64_t sum = 0;
	for (size_t i = 0; states && i < task_states_count(states); i++)
		sum = weight_add(sum, task_states_totals(states, i)->blocked_ns);
	return sum;
}

/* Sets the sums of SP_MODE_WAKERS before the recording's are added to *whole. */
static void add_wakeups(const struct run *run, const struct state_sums *all, struct state_whole *whole)
{
	/* Wake-ups of recordings without switches weigh 1 ns, far less than those with switches. */
	bool counted = whole->counts || !state_sums_total(&whole->sums);
	uint64_t blocked = blocked_ns(run->mode.states), ended = state_sums_total(all);
	whole->counts = !run->mode.states && counted;
	if (blocked > ended)
		whole->unended_ns = weight_add(whole->unended_ns, blocked - ended);
}

void mode_add_totals(const struct run *run, struct sp_profile *profile, struct state_whole *whole)
{
	struct state_sums sums = {0}, all = run->mode_times.whole;
	bool wakers = run->mode.kind == SP_MODE_WAKERS;
	add_leaves(run, &sums, profile);
	for (size_t i = 0; i < run->worker_count; i++)
		state_sums_add(&all, &run->workers[i].counted.wakeups);
	all.variance = sums.variance;
	if ((!run->mode.states || run->mode.latency) && !wakers)
		all.waits = sums.waits;
	if ((!run->mode.states || run->mode.latency || run->idle_threads) && !wakers)
		all.longest_ns = sums.longest_ns;
	if (wakers)
		add_wakeups(run, &all, whole);
	state_sums_add(&whole->sums, &all);
	state_sums_add(&whole->shown, &sums);
	profile->mode = run->mode.kind;
	profile->weight_is_time = !whole->counts;
	profile->weight = state_sums_total(&whole->sums);
	profile->times = state_times(&whole->sums, whole);
	profile->times.unknown_ns += whole->unended_ns;
	profile->threads += run->mode_times.lifetime_count;
	profile->idle_threads += run->idle_threads;
	profile->idle_ns = weight_add(profile->idle_ns, run->idle_ns);
}
