/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rows/merged.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/ctx.h"
#include "info/losses.h"
#include "record/types.h"
#include "rows/timed_leaves.h"
#include "rows/timeline.h"
#include "rows/tree_build.h"

/*
 * Numbers the events of all recordings: events with the same name get the same number. If a
 * recording has several events of one name, they are matched by their order.
 */
struct event_names {
	struct strtab names;
	struct u64map event_of; /* name and its occurrence -> number */
	struct u64map count_of; /* name -> occurrences so far in this recording */
};

static void event_names_deinit(struct event_names *names)
{
	strtab_deinit(&names->names);
	u64map_deinit(&names->event_of);
	u64map_deinit(&names->count_of);
}

/*
 * Returns the number of the recording's next event with this name; `next` if it is new. NULL when
 * out of memory.
 */
static const uint32_t *number_event(struct event_names *names, const char *name, uint32_t next)
{
	bool added;
	const char *interned = strtab_add(&names->names, name);
	uint32_t *before =
		interned ? u64map_put(&names->count_of, (uintptr_t)interned, 0, &added) : NULL;
	if (!before)
		return NULL;
	return u64map_put(&names->event_of, (uint64_t)(uintptr_t)interned << 16 | (*before)++, next,
			  &added);
}

/*
 * Gives all events of a recording the number 0, in modes that add them up. The profile's event is
 * the on-CPU event, or that of waits.
 */
static struct sp_error *number_one_event(struct merged *merged, const struct sp_reader *reader,
					 struct merged_recording *recording)
{
	struct sp_analysis *analysis = merged->analysis;
	CLEANUP_FREE uint8_t *roles = calloc(recording->event_count + 1, sizeof(*roles));
	NEED(roles && vec_reserve(&analysis->events, 1));
	merged->weigher->find_roles(reader, &merged->options->samples, roles);
	size_t chosen = 0;
	for (size_t i = recording->event_count; i-- > 0;)
		if (roles[i] == ROLE_ON_CPU || (roles[i] && roles[chosen] != ROLE_ON_CPU))
			chosen = i;
	if (!analysis->events.count && recording->event_count)
		*vec_push(&analysis->events) = sp_reader_event(reader, chosen);
	return NULL;
}

/* Numbers the events of a recording, and adds the new ones to the analysis. */
static struct sp_error *number_events(struct merged *merged, struct event_names *names,
				      const struct sp_reader *reader,
				      struct merged_recording *recording)
{
	size_t count = sp_reader_event_count(reader);
	struct sp_analysis *analysis = merged->analysis;
	recording->event_count = count;
	recording->events = calloc(count + 1, sizeof(*recording->events));
	recording->totals = calloc(count + 1, sizeof(*recording->totals));
	NEED(recording->events && recording->totals &&
	     vec_reserve(&analysis->events, analysis->events.count + count));
	if (merged->weigher->of_threads)
		return number_one_event(merged, reader, recording);
	u64map_deinit(&names->count_of);
	names->count_of = (struct u64map){0};
	for (size_t i = 0; i < count; i++) {
		const struct sp_event *event = sp_reader_event(reader, i);
		const uint32_t *number = number_event(names, event->name, analysis->events.count);
		NEED(number);
		if (*number >= SP_EVENT_NONE)
			return error_new(SP_ERROR_LIMIT, "the recordings have more than %u events",
					 SP_EVENT_NONE);
		if (*number == analysis->events.count)
			*vec_push(&analysis->events) = event;
		recording->events[i] = (uint16_t)*number;
	}
	return NULL;
}

/* Returns whether two recordings have the same groups, with the same events. */
static bool same_groups(const struct event_groups *groups, const struct event_groups *others,
			const struct merged_recording *recording)
{
	for (size_t i = 0; i < groups->count && groups->count == others->count; i++) {
		const struct sp_group *group = &groups->items[i], *other = &others->items[i];
		if (group->profile_count != other->profile_count)
			return false;
		for (size_t j = 0; j < group->profile_count; j++)
			if (group->profiles[j] != recording->events[other->profiles[j]])
				return false;
	}
	return groups->count == others->count;
}

/*
 * Finds the event groups of the recordings. Keeps none unless all recordings have the same ones.
 * Modes of threads have one profile for all events.
 */
static struct sp_error *find_groups(struct merged *merged, const struct sp_recording *recordings)
{
	struct sp_analysis *analysis = merged->analysis;
	for (size_t i = 0; !merged->weigher->of_threads && i < merged->recording_count; i++) {
		struct event_groups groups;
		struct sp_error *error =
			event_groups_find(recordings[i].reader, merged->options->rows.groups,
					  &analysis->arena, &groups);
		if (!i) {
			analysis->groups = groups;
		} else {
			if (!error &&
			    !same_groups(&analysis->groups, &groups, &merged->recordings[i]))
				analysis->groups.count = 0;
			event_groups_deinit(&groups);
		}
		if (error)
			return error;
	}
	vec_each (group, &analysis->groups)
		merged->keys.replicates |= group->ratio_count > 0;
	return NULL;
}

/* Returns whether two recordings are of the same command, with the same arguments. */
static bool same_command(const struct sp_recording *a, const struct sp_recording *b)
{
	const char *const *x = sp_reader_info(a->reader)->cmdline;
	const char *const *y = sp_reader_info(b->reader)->cmdline;
	if (!x || !y)
		return false;
	x += sp_recorded_program(x);
	y += sp_recorded_program(y);
	for (; *x && *y && !strcmp(*x, *y); x++)
		y++;
	return !*x && !*y;
}

/* Returns the number of batches of between-run intervals; 0: rows have none. */
static size_t count_batches(const struct merged *merged, const struct sp_recording *recordings,
			    size_t count)
{
	const struct analysis_options *options = merged->options;
	bool by_sample = !merged->weigher->of_threads && merged->weigher->unit != WEIGHER_BRANCHES;
	if (!options->rows.between || !by_sample || options->stacks.callers ||
	    merged->keys.rows[SP_KEY_TIME] || count == 2)
		return 0;
	for (size_t i = 0; i < count; i++)
		if (options->filter.time_count || recordings[i].time_count ||
		    (i && !same_command(&recordings[0], &recordings[i])))
			return 0;
	return count > 1 ? count : INTERVAL_PARTS;
}

struct sp_error *merged_init(struct merged *merged, struct sp_analysis *analysis,
			   const struct analysis_options *options,
			   const struct sp_recording *recordings, size_t count)
{
	CLEANUP(event_names_deinit) struct event_names names = {0};
	*merged = (struct merged){.analysis = analysis,
				  .options = options,
				  .weigher = weigher_of(&options->samples),
				  .keys = analysis_keys_of(options)};
	merged->recordings = calloc(count + 1, sizeof(*merged->recordings));
	NEED(merged->recordings);
	while (merged->recording_count < count) {
		size_t i = merged->recording_count++;
		TRY(number_events(merged, &names, recordings[i].reader, &merged->recordings[i]));
	}
	merged->batch_count = count_batches(merged, recordings, count);
	size_t events = analysis->events.count;
	merged->events = calloc(events + 1, sizeof(*merged->events));
	analysis->profiles = calloc(events + 1, sizeof(*analysis->profiles));
	NEED(merged->events && analysis->profiles);
	merged->event_count = analysis->profile_count = events;
	if (options->samples.timeline &&
	    !(analysis->timelines = calloc(events + 1, sizeof(*analysis->timelines))))
		return error_no_memory();
	for (size_t i = 0; i < events; i++) {
		memcpy(merged->events[i].tallies.keys, merged->keys.rows,
		       sizeof(merged->keys.rows));
		merged->events[i].details.width = merged->keys.detail_count;
		merged->events[i].cells.limit = options->samples.timeline_cells;
		const char *name = merged->weigher->of_threads ? sp_mode_name(options->samples.mode)
							       : analysis->events.items[i]->name;
		analysis->profiles[i].event = strtab_add(&analysis->strings, name);
		NEED(analysis->profiles[i].event && tallies_reserve(&merged->events[i].tallies, 1));
	}
	return find_groups(merged, recordings);
}

void merged_deinit(struct merged *merged)
{
	for (size_t i = 0; i < merged->event_count; i++)
		merged_event_deinit(&merged->events[i]);
	for (size_t i = 0; i < merged->recording_count; i++) {
		free(merged->recordings[i].events);
		free(merged->recordings[i].totals);
	}
	free(merged->events);
	free(merged->recordings);
	vec_deinit(&merged->numbered);
	u64map_deinit(&merged->numbered_of);
	u64map_deinit(&merged->thread_of);
	pools_deinit(&merged->pools);
	vec_deinit(&merged->timed);
}

/*
 * Returns the index of a cgroup or namespace in `numbered`, and adds it if it is new. UINT64_MAX
 * when out of memory.
 */
static uint64_t add_numbered(struct merged *merged, const struct numbered *added)
{
	bool is_new;
	if (!vec_reserve(&merged->numbered, merged->numbered.count + 1))
		return UINT64_MAX;
	const uint32_t *first =
		u64map_put(&merged->numbered_of, added->number, merged->numbered.count, &is_new);
	if (!first)
		return UINT64_MAX;
	for (size_t i = *first; i < merged->numbered.count; i++) {
		const struct numbered *other = &merged->numbered.items[i];
		if (other->number == added->number && other->device == added->device &&
		    other->path == added->path)
			return i;
	}
	*vec_push(&merged->numbered) = *added;
	return merged->numbered.count - 1;
}

/*
 * Converts a word of a worker's tuple to a word that is valid for all recordings, for example a
 * function's merged index. Returns false when out of memory.
 */
static bool translate(struct merged *merged, const struct work *work, enum sp_key key,
		      uint64_t *word)
{
	struct strtab *strings = &merged->analysis->strings;
	if (*word == DETAIL_NONE)
		return true;
	if (key_is_text(key)) {
		const char *text = strtab_add(strings, (const char *)(uintptr_t)*word);
		*word = (uintptr_t)text;
		return text;
	}
	if (key == SP_KEY_TIME && work->options->rows.time_offsets)
		*word -= work->options->rows.time_origin_ns;
	if (key == SP_KEY_CGROUP) {
		const char *path = sideband_cgroup(&work->read->sideband, *word);
		struct numbered cgroup = {*word, 0, path ? strtab_add(strings, path) : NULL};
		*word = path && !cgroup.path ? UINT64_MAX : add_numbered(merged, &cgroup);
	} else if (key == SP_KEY_CGROUP_ID) {
		const struct cgroup_namespace *of = &work->read->sideband.namespaces.items[*word];
		*word = add_numbered(merged, &(struct numbered){of->ino, of->dev, NULL});
	}
	return *word != UINT64_MAX;
}

/*
 * Adds a worker's tuple of values to the merged event. Returns its index there; UINT32_MAX when
 * out of memory.
 */
static uint32_t add_detail(struct merged *merged, const struct work *work,
			   struct merged_event *into, const uint64_t *from)
{
	uint64_t words[SP_KEY_LIMIT];
	for (size_t i = 0; i < merged->keys.detail_count; i++) {
		words[i] = from[i];
		if (!translate(merged, work, merged->keys.details[i], &words[i]))
			return UINT32_MAX;
	}
	return details_add(&into->details, words);
}

/* Returns whether rows have the threads of each process that have one name, and their number. */
static bool counts_threads(const struct merged *merged, const struct work *work)
{
	const bool *keys = merged->keys.rows;
	return merged->options->rows.pools && keys[SP_KEY_PID] && !keys[SP_KEY_TID] &&
	       work->times->weigher->of_threads && work->times->states;
}

/* Returns whether a lifetime is not left out, and has a part in the ranges of --time. */
static bool is_shown(const struct times *times, uint32_t lifetime)
{
	const struct slices *slices = &times->slices;
	bool shown = false;
	for (uint32_t i = slices->first[lifetime]; i < slices->first[lifetime + 1]; i++)
		shown |= slices_get(slices, i).shown;
	return shown && !times_leaves_out(times, lifetime);
}

/* Counts the shown threads by their last name. Returns false when out of memory. */
static bool count_threads(struct merged *merged, const struct work *work)
{
	const struct times *times = work->times;
	bool done = true;
	pools_deinit(&merged->pools);
	merged->pools = (struct pools){0};
	if (!counts_threads(merged, work))
		return true;
	for (size_t i = 0; done && i < task_states_count(times->states); i++) {
		const struct task_totals *of = task_states_totals(times->states, i);
		uint64_t last_ns = of->end_ns - (of->end_ns > of->begin_ns);
		if (is_shown(times, i))
			done = pools_count(&merged->pools, of->pid,
					   machine_span(work->read->machine, of->pid, of->tid,
							last_ns).comm);
	}
	return done;
}

/*
 * Adds a worker's group to the merged event. Returns its index there; UINT32_MAX when out of memory
 * for its texts.
 */
static uint32_t add_group(struct merged *merged, const struct merged_recording *recording,
			  const struct worker *worker, const struct group *from)
{
	const struct work *work = worker->counted.work;
	struct group group = *from;
	group.event = recording->events[from->event];
	struct merged_event *into = &merged->events[group.event];
	group.replicate = 0;
	if (merged->keys.detail_count) {
		group.detail = add_detail(merged, work, into,
					  details_words(&worker->summed.details, from->detail));
		if (group.detail == UINT32_MAX)
			return UINT32_MAX;
	}
	const char *comm = from->comm && counts_threads(merged, work)
				   ? pools_find_counted(&merged->pools, from->pid, from->comm)
				   : NULL;
	if (from->comm)
		group.comm = strtab_add(&merged->analysis->strings,
					comm ?: work_comm(work, from->comm));
	return from->comm && !group.comm ? UINT32_MAX : groups_add(&into->groups, &group);
}

/*
 * Adds the weights by batch of a worker's row `from` to those of the merged row `to`. Returns false
 * when out of memory.
 */
static bool add_batches(const struct merged *merged, const struct merged_recording *recording,
			const struct worker *worker, size_t from, struct tallies *into, uint32_t to)
{
	const struct tallies *tallies = &worker->summed.tallies;
	const struct tally *tally = &tallies->items[from];
	size_t width = merged->batch_count, begin = from * INTERVAL_PARTS;
	uint64_t *self = batches_row(&into->self_batches, width, to), *total = NULL;
	bool has_total = merged_by_run(merged) || begin < tallies->total_batches.count;
	if (!self || (has_total && !(total = batches_row(&into->total_batches, width, to))))
		return false;
	if (merged_by_run(merged)) {
		self[recording - merged->recordings] += tally->self_weight;
		total[recording - merged->recordings] += tally->total_weight;
		return true;
	}
	for (size_t i = 0; begin < tallies->self_batches.count && i < INTERVAL_PARTS; i++)
		self[i] += tallies->self_batches.items[begin + i];
	for (size_t i = 0; has_total && i < INTERVAL_PARTS; i++)
		total[i] += tallies->total_batches.items[begin + i];
	return true;
}

static bool add_tallies(struct merged *merged, const struct merged_recording *recording,
			const struct worker *worker)
{
	const struct summed *summed = &worker->summed;
	struct sp_ctx *ctx = worker->counted.work->ctx;
	/* Replicates have rows of their own in `summed`, and events have rows of their own here. */
	if (merged->event_count == 1 && !merged->keys.replicates &&
	    (!tallies_reserve(&merged->events->tallies, summed->tallies.count) ||
	     !vec_reserve(&merged->events->tallies.self_batches,
			  summed->tallies.count * merged->batch_count)))
		return false;
	for (size_t i = 0; i < summed->tallies.count && !ctx_cancelled(ctx); i++) {
		const struct tally *tally = &summed->tallies.items[i];
		const struct group *group = &summed->groups.items[tally->group];
		struct merged_event *into = &merged->events[recording->events[group->event]];
		uint32_t index = add_group(merged, recording, worker, group);
		uint32_t row = tallies_merge(&into->tallies, index, tally);
		if (i < summed->tallies.times.count)
			tallies_merge_times(&into->tallies, row, &summed->tallies.times.items[i]);
		if (index == UINT32_MAX || into->groups.failed || into->details.failed ||
		    into->tallies.failed ||
		    (merged->batch_count &&
		     !add_batches(merged, recording, worker, i, &into->tallies, row)))
			return false;
		if (merged->keys.replicates &&
		    !merged_event_replicate(into, row, group->replicate, tally))
			return false;
	}
	return true;
}

/* Adds numbers of stacks by their ends. */
static void add_ends(uint64_t *to, const uint64_t *from)
{
	for (int i = 0; i < STACK_ENDS; i++)
		to[i] += from[i];
}

/*
 * Estimates the weight that lost samples and throttling stand for. Each lost sample counts the mean
 * weight of the others.
 */
static uint64_t missing_weight(const struct sp_profile *profile)
{
	if (profile->of_branches || profile->weight_is_latency || !profile->samples)
		return 0;
	double each = (double)profile->weight / (double)profile->samples;
	double missing = each * (double)(profile->lost_own + profile->lost_unknown) +
			 (profile->weight_is_time ? (double)profile->throttled_ns : 0);
	return missing < 1e19 ? (uint64_t)missing : UINT64_MAX;
}

/*
 * Returns whether the recording has a sample of each occurrence of an event, if none was lost.
 * Clocks have a least period, counters of the CPU go on during an interrupt, rings that are
 * written backward (--overwrite) have the last occurrences only, and 2 % of page faults were
 * missing with copies of stacks, which can fault themselves.
 */
static bool samples_all(const struct perf_event_attr *attr)
{
	return !attr->freq && attr->sample_period == 1 && !attr->write_backward &&
	       !(attr->sample_type & PERF_SAMPLE_STACK_USER) &&
	       (attr->type == PERF_TYPE_TRACEPOINT || attr->type == PERF_TYPE_BREAKPOINT ||
		(attr->type == PERF_TYPE_SOFTWARE && !record_is_clock(attr->type, attr->config)));
}

/*
 * Replaces the weights of a clock's samples by the times to which they were scaled. Time without
 * samples counts as samples of the mean weight.
 */
static void scale_sums(const struct workers *workers, const struct scaled_clock *clock,
		       struct weight_sums *all, struct weight_sums *shown)
{
	double mean = all->samples ? (double)all->weight / (double)all->samples : 0;
	uint64_t each = weight_round(mean * clock->factor);
	all->weight = clock->ns;
	shown->weight = 0;
	for (struct worker_leaf at = {0}; workers_next_leaf(workers, &at);)
		if (resolved_event(&at.worker->resolved, at.leaf) == clock->event)
			shown->weight = weight_add(shown->weight, at.leaf->weight);
	all->squares = wide_product(all->weight, each);
	shown->squares = wide_product(shown->weight, each);
}

/* Sets the totals of one event of a recording, and adds its weight to the merged event. */
static void sum_up(const struct workers *workers, uint16_t event, struct sp_profile *profile,
		   struct merged_event *into)
{
	const struct work *work = workers->work;
	const struct sp_event *of = &work->read->sideband.layout->events[event];
	const struct sp_losses *losses = work->read->sideband.losses;
	const struct event_throttling throttling = losses_throttling(losses, event);
	const struct sp_analysis_samples *samples = &work->options->samples;
	struct weight_sums all = {0}, shown = {0};
	vec_each (worker, workers) {
		const struct event_sums *sums = &worker->counted.events[event];
		weight_sums_merge(&all, &sums->all);
		weight_sums_merge(&shown, &sums->shown);
		add_ends(profile->stacks, sums->ends);
		profile->repaired += sums->repaired;
		profile->shortened += sums->shortened;
		profile->guessed += sums->guessed;
		profile->system_stack += sums->system_stack;
		profile->limited += sums->limited;
		profile->branch_stacks += sums->branch_stacks;
		profile->accesses += sums->accesses;
	}
	const struct scaled_clock *clock = times_scaled_clock(work->times, event);
	if (clock)
		scale_sums(workers, clock, &all, &shown);
	if (work->times->roles[event] == ROLE_PREEMPTED)
		weight_sums_merge(&into->preempted, &all);
	if (work->times->roles[event] == ROLE_ON_CPU) {
		weight_sums_merge(&into->all, &all);
		weight_sums_merge(&into->shown, &shown);
	}
	profile->samples = all.samples;
	profile->weight = all.weight;
	profile->weight_has_kernel = clock && clock->user_only;
	profile->kernel_weight = clock ? clock->kernel_ns : 0;
	profile->weight_is_scaled = clock || (work->read->sideband.dithered && of->attr.freq &&
					      record_is_clock(of->attr.type, of->attr.config));
	profile->shown_samples = shown.samples;
	profile->shown_weight = shown.weight;
	profile->lost = sp_losses_count(losses, event);
	profile->lost_own = sp_losses_own(losses, event);
	profile->lost_unknown = sp_losses_unknown(losses, event);
	profile->throttled_count = throttling.count;
	profile->throttled_ns = throttling.ns;
	profile->weight_is_latency = samples->memory && of->attr.sample_type &
				     (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT);
	/* Old kernels count 1 for each sample of a clock. */
	bool has_time = all.weight > all.samples || !all.samples;
	profile->weight_is_time = !samples->memory && !samples->branches &&
				  record_is_clock(of->attr.type, of->attr.config) && has_time;
	profile->of_branches = samples->branches;
	profile->missing_weight = missing_weight(profile);
	profile->is_estimate = samples->mode != SP_MODE_CPU || samples->branches ||
			       samples->memory || clock || profile->lost ||
			       profile->throttled_count || !samples_all(&of->attr) ||
			       sp_reader_damage_count(work->read->reader) ||
			       !strcmp(profile->event, TIMES_WAIT_EVENT);
	profile->has_callchains =
		!samples->branches &&
		(of->attr.sample_type & PERF_SAMPLE_CALLCHAIN ||
		 (work->read->unwinding.unwinder && dump_unwind_has_dump(&of->attr)));
}

/* Adds one recording's totals of an event to the totals of all recordings. */
static void add_totals(struct sp_profile *all, const struct sp_profile *one)
{
	all->samples += one->samples;
	all->weight = weight_add(all->weight, one->weight);
	all->weight_has_kernel |= one->weight_has_kernel;
	all->kernel_weight = weight_add(all->kernel_weight, one->kernel_weight);
	all->shown_samples += one->shown_samples;
	all->shown_weight = weight_add(all->shown_weight, one->shown_weight);
	all->lost += one->lost;
	all->lost_own += one->lost_own;
	all->lost_unknown += one->lost_unknown;
	all->throttled_count += one->throttled_count;
	all->throttled_ns += one->throttled_ns;
	all->missing_weight = weight_add(all->missing_weight, one->missing_weight);
	all->unplaced_weight = weight_add(all->unplaced_weight, one->unplaced_weight);
	all->weight_is_time |= one->weight_is_time;
	all->weight_is_latency |= one->weight_is_latency;
	all->weight_is_scaled |= one->weight_is_scaled;
	all->is_estimate |= one->is_estimate;
	all->has_callchains |= one->has_callchains;
	all->of_branches |= one->of_branches;
	all->branch_stacks += one->branch_stacks;
	all->accesses += one->accesses;
	add_ends(all->stacks, one->stacks);
	all->repaired += one->repaired;
	all->shortened += one->shortened;
	all->limited += one->limited;
	all->guessed += one->guessed;
	all->system_stack += one->system_stack;
}

/* Adds the recording's times to the profile, and the sums of all leaves that pass the filters. */
static void add_times_of_threads(const struct workers *workers, const struct times *times,
				 struct sp_profile *profile, struct state_whole *whole)
{
	struct state_sums leaves = {0}, wakeups = {0};
	vec_each (worker, workers) {
		const struct counted *counted = &worker->counted;
		for (uint32_t j = 0; j < counted->times.wakeups.count; j++)
			if (!j || !times_leaves_out(times, j - 1))
				state_sums_add(&wakeups, &counted->times.wakeups.items[j]);
		for (size_t j = 0; j < counted->times.count; j++) {
			const struct leaf *leaf = &counted->leaves.items[j];
			profile->shown_samples += leaf->samples;
			profile->shown_weight = weight_add(profile->shown_weight, leaf->weight);
			if (leaf_is_shown(leaf))
				state_sums_add(&leaves, &counted->times.items[j].sums);
		}
	}
	profile->mode = workers->work->options->samples.mode;
	times_add_totals(workers->work->times, &leaves, &wakeups, profile, whole);
}

/* Adds an event's whole weight by batch. Returns false when out of memory. */
static bool add_whole(const struct merged *merged, const struct merged_recording *recording,
		      const struct workers *workers, uint16_t event, struct merged_event *into)
{
	bool relative = merged->options->samples.relative;
	const struct sp_profile *total = &recording->totals[event];
	const struct batches *self = &into->tallies.self_batches;
	uint64_t *whole = batches_row(&into->whole, merged->batch_count, 0);
	if (!whole)
		return false;
	if (merged_by_run(merged))
		whole[recording - merged->recordings] +=
			relative ? total->shown_weight : total->weight;
	else if (relative) /* each shown sample is in the self weight of one row */
		for (size_t i = 0; i < self->count; i++)
			whole[i % INTERVAL_PARTS] += self->items[i];
	else if (workers->work->part_ns)
		vec_each (worker, workers)
			part_sums_add(whole, &worker->counted.parts.whole[event]);
	return true;
}

/*
 * Returns the CPU time of the target that a clock has neither sampled nor is known to miss. At an
 * exit, the kernel ends events of tasks before it frees the task's memory. Timers of whole CPUs are
 * late while interrupts are disabled, and another thread may run then; their samples are random,
 * so that 3 standard errors of their sum are no miss.
 */
static uint64_t beyond_missing(const struct work *work, uint16_t event,
			       const struct sp_profile *total)
{
	const struct perf_event_attr *attr = &sp_reader_event(work->read->reader, event)->attr;
	bool counts_all = !attr->exclude_user && !attr->exclude_kernel;
	uint64_t known_ns = weight_add(total->weight, total->missing_weight);
	uint64_t command_ns = work->read->sideband.command_ns;
	double random_ns = attr->inherit || !total->samples ? 0 :
			   3 * (double)total->weight / sqrt((double)total->samples);
	if (!record_is_clock(attr->type, attr->config) || !counts_all ||
	    (double)command_ns <= (double)known_ns + random_ns)
		return 0;
	return command_ns - known_ns;
}

/* Computes the totals of a recording's events, and adds them to those of all recordings. */
static struct sp_error *total_events(struct merged *merged, struct merged_recording *recording,
				     const struct workers *workers)
{
	struct sp_analysis *analysis = merged->analysis;
	const struct work *work = workers->work;
	for (uint16_t i = 0; i < recording->event_count; i++) {
		struct sp_profile *total = &recording->totals[i];
		struct sp_profile *all = &analysis->profiles[recording->events[i]];
		struct merged_event *into = &merged->events[recording->events[i]];
		CLEANUP(programs_deinit)
		struct programs unsampled = {.strings = &analysis->strings};
		total->event = merged->weigher->of_threads
				       ? sp_reader_event(work->read->reader, i)->name
				       : all->event;
		sum_up(workers, i, total, into);
		if (merged->weigher->of_threads) {
			/* Weights are added below, for all events. */
			struct sp_profile one = *total;
			one.weight = one.shown_samples = one.shown_weight = one.missing_weight = 0;
			if (work->times->roles[i] == ROLE_NONE) {
				vec_each (worker, workers)
					all->other_samples += worker->counted.events[i].recorded;
				continue;
			}
			if (work->times->roles[i] != ROLE_ON_CPU)
				all->wait_samples += one.samples;
			add_totals(all, &one);
			continue;
		}
		into->missing = weight_add(into->missing, total->missing_weight);
		NEED(unsampled_find(workers, i, total, &unsampled) &&
		     programs_list(&unsampled, &analysis->arena, total) &&
		     programs_merge(&into->unsampled, &unsampled));
		total->missing_weight =
			weight_add(total->missing_weight, unsampled.lacking.missing);
		uint64_t beyond = beyond_missing(work, i, total);
		into->missing = weight_add(into->missing, beyond);
		total->missing_weight = weight_add(total->missing_weight, beyond);
		total->unplaced_weight = unsampled.lacking.more;
		total->is_estimate |= total->missing_weight || total->unplaced_weight;
		NEED(!merged->batch_count || add_whole(merged, recording, workers, i, into));
		add_totals(all, total);
	}
	if (merged->weigher->of_threads) {
		uint64_t before = analysis->profiles[0].weight;
		add_times_of_threads(workers, work->times, &analysis->profiles[0],
				     &merged->events[0].states);
		recording->weight = analysis->profiles[0].weight - before;
	}
	return NULL;
}

/* Sums the workers' time bins of each event. */
static struct sp_error *add_time_bins(struct sp_analysis *analysis,
				       const struct merged_recording *recording,
				       const struct workers *workers)
{
	analysis->time_bins = calloc(recording->event_count + 1, sizeof(*analysis->time_bins));
	NEED(analysis->time_bins);
	vec_each (worker, workers)
		for (size_t event = 0; event < recording->event_count; event++) {
			const struct time_bins *bins = worker->counted.time_bins[event];
			struct time_bins **to = &analysis->time_bins[recording->events[event]];
			if (!bins)
				continue;
			if (!*to)
				NEED(*to = calloc(1, sizeof(**to)));
			time_bins_merge(*to, bins);
		}
	for (size_t event = 0; event < recording->event_count; event++)
		if (analysis->time_bins[event])
			time_bins_finish(analysis->time_bins[event]);
	return NULL;
}

/*
 * Adds the recording's duration. The analysis has the times only if there is a single recording,
 * because the clocks of several differ.
 */
static struct sp_error *add_duration(struct merged *merged,
				     const struct merged_recording *recording,
				     const struct workers *workers)
{
	struct sp_analysis *analysis = merged->analysis;
	uint64_t duration_ns = recording->span.end_ns - recording->span.begin_ns;
	analysis->duration_ns += duration_ns;
	if (duration_ns > merged->longest_ns)
		merged->longest_ns = duration_ns;
	if (merged->recording_count > 1)
		return NULL;
	analysis->first_ns = recording->span.begin_ns;
	analysis->last_ns = recording->span.end_ns;
	return merged->options->samples.time_bins ? add_time_bins(analysis, recording, workers)
						  : NULL;
}

/* Adds a worker's call tree, and its cells, if they are requested. False when out of memory. */
static bool add_tree(struct merged *merged, const struct merged_recording *recording,
		     const struct workers *workers, size_t index,
		     struct merged_event *const *events)
{
	const struct worker *worker = &workers->items[index];
	struct strtab *strings = &merged->analysis->strings;
	if (merged->options->tree.order == SP_TREE_NONE)
		return true;
	if (!merged->options->samples.timeline)
		return trees_build(strings, events, &worker->resolved, NULL);
	CLEANUP_FREE uint32_t *nodes =
		calloc(worker->counted.leaves.count + 1,
		       trees_paths_per_leaf(merged->weigher) * sizeof(*nodes));
	return nodes && trees_build(strings, events, &worker->resolved, nodes) &&
	       timeline_add_worker(merged, recording, workers, index, nodes);
}

struct sp_error *merged_add(struct merged *merged, struct merged_recording *recording,
			    const struct workers *workers)
{
	bool timeline = merged->options->samples.timeline;
	CLEANUP_FREE struct merged_event **by_event =
		calloc(recording->event_count + 1, sizeof(*by_event));
	NEED(by_event);
	for (size_t i = 0; i < recording->event_count; i++)
		by_event[i] = &merged->events[recording->events[i]];
	TRY(add_duration(merged, recording, workers));
	/* Files of one rotation are one run. */
	if (merged_by_run(merged) && workers->work->read->sideband.is_part)
		merged->batch_count = 0;
	NEED(count_threads(merged, workers->work));
	NEED(!timeline || timeline_begin_recording(merged, recording, workers));
	for (size_t i = 0; i < workers->count; i++)
		NEED(add_tallies(merged, recording, &workers->items[i]) &&
		     add_tree(merged, recording, workers, i, by_event));
	NEED(!timeline || timeline_end_recording(merged, recording, workers));
	return total_events(merged, recording, workers);
}

void merged_scale_findings(struct merged *merged)
{
	struct sp_analysis *analysis = merged->analysis;
	size_t next = 0;
	for (size_t i = 0; i < merged->recording_count && merged->recording_count > 1; i++) {
		const struct merged_recording *recording = &merged->recordings[i];
		for (; next < recording->finding_count; next++) {
			struct sp_finding *finding = &analysis->findings.items[next];
			double own = 0, all = 0;
			for (size_t j = 0; j < recording->event_count; j++) {
				const struct sp_profile *total = &recording->totals[j];
				if (finding->event && strcmp(finding->event, total->event) != 0)
					continue;
				own += (double)(merged->weigher->of_threads ? recording->weight :
									      total->weight);
				all += (double)analysis->profiles[recording->events[j]].weight;
			}
			finding->share *= all > 0 ? own / all : 0;
		}
	}
}
