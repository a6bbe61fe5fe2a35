/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rows/timed_leaves.h"

#include <sprof/private/command.h>
#include <sprof/reader.h>
#include <stdlib.h>
#include "base/cleanup.h"
#include "info/losses.h"
#include "profile/filter.h"
#include "samples/sample_counter.h"
#include "samples/sample_task.h"
#include "samples/sample_values.h"

/* Time without samples is divided for the timeline, in parts of the recording's length. */
#define REST_PARTS 256

/* Part of the on-CPU samples that may be missing, for the kernel's time to be known. */
#define MISSING_PART_MAX 0.01

/* Reason of frames outside of the kernel: the frames before decide. */
#define FRAME_USER UINT8_MAX

/*
 * Returns whether the slice is shown, and the filters pass its rest. `name` is the thread's, and
 * `last_ns` the time at which its command line holds. Filters by CPU, parallelism or parent
 * exclude all rests. So do filters of code, except in kept counts: there, rows_make() applies them.
 */
static bool rest_passes_filters(const struct work *work, const struct slice *slice,
				const struct task_totals *of, const char *name, uint64_t last_ns)
{
	const struct sp_filter *filter = &work->options->filter;
	const struct machine_command *command = NULL;
	if (!slice->shown || filter->cpus.count || filter->parallelism.count ||
	    work->options->rows.parent_only ||
	    (!work->keeps && rows_filter_code(work->options)))
		return false;
	if (filter_has_commands(filter))
		command = machine_command(work->read->machine, of->pid, last_ns);
	return filter_pattern(filter->comms.items, filter->comms.count, name) &&
	       filter_task(filter, of->pid, of->tid) &&
	       filter_command(filter, command ? command->argument : NULL,
			      command ? command->line : NULL);
}

/* Time without samples of a thread that ran, while it is added to the timeline. */
struct rest_cells {
	struct cells *to;
	struct sp_cell cell;
	uint64_t part_ns; /* most of one cell */
	bool ran, failed; /* out of memory */
};

static void add_run(void *arg, const struct task_interval *interval)
{
	struct rest_cells *rest = arg;
	struct sp_cell cell = rest->cell;
	if (interval->state != TASK_RUNNING)
		return;
	for (cell.time_ns = interval->begin_ns; cell.time_ns < interval->end_ns;
	     cell.time_ns += cell.weight) {
		uint64_t left_ns = interval->end_ns - cell.time_ns;
		cell.weight = left_ns < rest->part_ns ? left_ns : rest->part_ns;
		rest->ran = true;
		rest->failed |= !cells_add(rest->to, &cell);
	}
}

/*
 * Adds time without samples to the timeline. In mode cpu, it is divided by the times at which the
 * thread ran: the modes of time place it later. Returns false when out of memory.
 */
static bool add_cells(struct counted *counted, const struct slice *slice,
		      const struct task_totals *of, uint64_t weight, uint32_t leaf)
{
	const struct times *times = counted->work->times;
	const struct sp_record record = {
		.sample = {.pid = of->pid, .tid = of->tid, .time_ns = slice->begin_ns}};
	struct sample_origin origin;
	if (!counted->cells.limit)
		return true;
	if (!sample_find_origin(counted, &record, &origin))
		return false;
	struct rest_cells rest = {
		.to = &counted->cells,
		.cell = {.time_ns = slice->begin_ns, .weight = weight,
			 .thread = counted->tasks.last, .node = leaf},
		.part_ns = (task_states_last_ns(times->states) -
			    task_states_first_ns(times->states)) / REST_PARTS + 1,
	};
	if (!times->weigher->of_threads)
		task_states_each(times->states, slice->lifetime, slice->begin_ns, slice->end_ns,
				 add_run, &rest);
	return !rest.failed && (rest.ran || cells_add(rest.to, &rest.cell));
}

/* Adds a leaf without a stack for a part of a slice's rest. Returns false when out of memory. */
static bool add_rest(struct counted *counted, uint16_t event, const struct slice *slice,
		     const struct state_sums *rest, uint32_t answer)
{
	const struct work *work = counted->work;
	const struct machine *machine = work->read->machine;
	const struct task_totals *of = task_states_totals(work->times->states, slice->lifetime);
	const bool *keys = work->keys->groups;
	uint64_t words[SP_KEY_LIMIT], last_ns = slice->end_ns - (slice->end_ns > slice->begin_ns);
	struct machine_span span = machine_span(machine, of->pid, of->tid, last_ns);
	if (!state_sums_total(rest) ||
	    !rest_passes_filters(work, slice, of, span.name, last_ns))
		return true;
	struct task task = {.pid = of->pid, .tid = of->tid, .span = span};
	for (size_t i = 0; i < work->keys->detail_count; i++) {
		enum sp_key key = work->keys->details[i];
		words[i] = key == SP_KEY_TIME ? slices_step(&work->options->rows, slice->begin_ns)
			   : key == SP_KEY_PROCESS
				   ? (uintptr_t)sample_process(counted, &task)
			   : key_is_of_command(key)
				   ? command_word(machine, key, of->pid, last_ns)
				   : DETAIL_NONE;
		if (key == SP_KEY_PROCESS && !words[i])
			return false;
	}
	struct machine_process process = {0};
	if (work->options->tree.processes)
		process = machine_process(machine, of->pid, last_ns);
	const struct group group = {
		.event = event,
		.comm = keys[SP_KEY_COMM] ? span.name : NULL,
		.pid = keys[SP_KEY_PID] ? (int32_t)of->pid : 0,
		.tid = keys[SP_KEY_TID] ? (int32_t)of->tid : 0,
		.cpu = keys[SP_KEY_CPU] ? -1 : 0,
		.detail = work->keys->detail_count ? details_add(&counted->details, words) : 0,
		.stratum = stratum_on_cpu(slice->number, 0),
		.process_pid = process.pid,
		.process_ns = process.from_ns,
	};
	uint32_t index = groups_add(&counted->groups, &group), root = RADIX_NONE;
	if (!counted->groups.failed && !counted->details.failed)
		root = radix_root(&counted->chains.radix, root_word(index, span.view));
	if (root == RADIX_NONE)
		return false;
	uint32_t leaf = sample_leaf(counted, root, answer);
	if (counted->failed || !leaf_times_add_rest(&counted->times, leaf, slice->number, rest))
		return false;
	counted->leaves.items[leaf].weight = state_sums_total(rest);
	return add_cells(counted, slice, of, state_sums_total(rest), leaf);
}

/*
 * Returns whether a significant part of the on-CPU samples is missing: by losses, by throttling, or
 * because single events were disabled.
 */
static bool misses_samples(const struct workers *workers)
{
	const struct times *times = workers->work->times;
	const struct sideband *sideband = &workers->work->read->sideband;
	const struct sp_losses *losses = sideband->losses;
	double weight = 0, missing = 0;
	bool open = false; /* a throttling has no known end */
	if (times->states && task_states_partly_off(times->states))
		return true;
	for (uint16_t event = 0; event < sideband->layout->event_count; event++) {
		const struct scaled_clock *clock = times_scaled_clock(times, event);
		if (times->roles[event] != ROLE_ON_CPU || !(times->weigher->of_threads || clock))
			continue;
		vec_each (worker, workers)
			weight += (double)worker->counted.events[event].all.weight;
		uint64_t lost = sp_losses_own(losses, event) + sp_losses_unknown(losses, event);
		missing += (double)lost * (double)(clock ? clock->period_ns : times->period) +
			   (double)losses_throttling(losses, event).ns;
		for (size_t i = 0; i < sp_losses_throttling_count(losses); i++)
			open |= sp_losses_throttling(losses, i)->event == event &&
				!sp_losses_throttling(losses, i)->end_ns;
	}
	return open || missing > weight * MISSING_PART_MAX;
}

struct sp_error *timed_leaves_compute(struct workers *workers, struct times *times)
{
	struct names *names = workers->work->names;
	struct counted *first = &workers->items[0].counted;
	CLEANUP(sample_weights_deinit) struct sample_weights all = {0};
	vec_each (worker, workers) {
		const struct sample_weights *from = &worker->counted.times.strata;
		for (size_t j = 0; j < from->count; j++)
			NEED(sample_weights_add(&all, &from->items[j]));
	}
	/* Missing samples may have been in user code. */
	times->user_only &= !misses_samples(workers);
	TRY(times_compute(times, &all));
	const enum names_rest excluded = times->kernel_only ? REST_NO_STACK : REST_KERNEL;
	uint32_t answers[REST_COUNT] = {0};
	for (enum names_rest i = 0; i < REST_COUNT && times->strata.slice_count; i++) {
		answers[i] = names_add_rest(names, i);
		NEED(answers[i] != ANSWER_FAILED);
	}
	for (uint32_t i = 0; i < times->strata.slice_count; i++) {
		struct slice slice;
		uint16_t event = times_rest(times, i, &slice);
		const struct time_rest *rest = &times->strata.rests[i];
		const struct state_sums kernel = {.ns = {[TIME_ON_CPU] = rest->kernel_ns}};
		const struct state_sums unrecorded = {.ns = {[TIME_ON_CPU] = rest->unrecorded_ns}};
		const struct state_sums blocked = {.ns = {[TIME_BLOCKED] = rest->all_blocked_ns}};
		NEED(add_rest(first, event, &slice, &rest->no_stack, answers[REST_NO_STACK]) &&
		     add_rest(first, event, &slice, &blocked, answers[REST_ALL_BLOCKED]) &&
		     add_rest(first, event, &slice, &kernel, answers[excluded]) &&
		     add_rest(first, event, &slice, &unrecorded, answers[REST_UNRECORDED]));
	}
	return NULL;
}

/* Returns the reason of each frame, by its function, or FRAME_USER. NULL when out of memory. */
static uint8_t *find_frame_reasons(const struct names *names)
{
	uint8_t *reasons = calloc(names->frames.count + 1, sizeof(*reasons));
	for (size_t i = 0; reasons && i < names->frames.count; i++) {
		const struct frame *frame = &names->frames.items[i];
		if (frame->cpumode != PERF_RECORD_MISC_KERNEL)
			reasons[i] = FRAME_USER;
		else if (symbol_is_named(frame->symbol))
			reasons[i] = wait_reason_of_function(frame->symbol->name);
	}
	return reasons;
}

/*
 * Returns the reason of a leaf's wait, by the kernel functions of its chain, the innermost known
 * one, else by its system call.
 */
static uint8_t reason_of(const struct worker *worker, const struct leaf *leaf,
			 const uint8_t *frames)
{
	const struct resolved *resolved = &worker->resolved;
	const struct counted *counted = &worker->counted;
	const struct group *group = &counted->groups.items[resolved->states[leaf->node].group];
	uint8_t reason = frames[answer_frame(leaf->answer)];
	uint32_t at = leaf->node;
	if (group->kernel_chain) {
		at = group->kernel_chain - 1;
		reason = reason == FRAME_USER ? WAIT_UNKNOWN : reason;
	}
	while (at != RADIX_NONE && reason == WAIT_UNKNOWN) {
		const struct radix_node *node = &counted->chains.radix.items[at];
		for (uint32_t i = node->run + node->length;
		     i-- > node->run && reason == WAIT_UNKNOWN;)
			if (resolved->frames[i] < WORD_GAP)
				reason = frames[resolved->frames[i]];
		at = node->parent;
	}
	if ((reason == WAIT_UNKNOWN || reason == FRAME_USER) && group->syscall)
		return wait_reason_of_syscall(sp_reader_info(counted->work->read->reader)->arch,
					      group->syscall - 1);
	return reason == FRAME_USER ? WAIT_UNKNOWN : reason;
}

static uint64_t hash_text(const char *text)
{
	return text ? hash_bytes(text, strlen(text)) : 0;
}

/* Hashes a frame by its code: its index, and the process that it was found in first, are chance. */
static uint64_t hash_frame(const struct frame *frame)
{
	uint64_t at = frame->symbol ? frame->symbol->start : frame->address;
	uint64_t hash = hash_pair(frame->module ? frame->module->index : UINT32_MAX, at);
	return hash_pair(hash_pair(hash, frame->offset), frame->cpumode);
}

static uint64_t hash_group(const struct counted *counted, const struct group *group,
			   const uint64_t *node_hashes)
{
	const struct work *work = counted->work;
	uint64_t numbers = (uint64_t)group->event << 48 | (uint64_t)group->syscall << 8 |
			   group->replicate;
	uint64_t hash = hash_pair(hash_text(group->comm), hash_text(group->waker));
	hash = hash_pair(hash, (uint64_t)group->pid << 32 | (uint32_t)group->tid);
	hash = hash_pair(hash_pair(hash, numbers), (uint32_t)group->cpu);
	if (group->kernel_chain)
		hash = hash_pair(hash, node_hashes[group->kernel_chain - 1]);
	for (size_t i = 0; i < work->keys->detail_count; i++) {
		enum sp_key key = work->keys->details[i];
		uint64_t word = details_words(&counted->details, group->detail)[i];
		if (word != DETAIL_NONE && key_is_text(key))
			hash = hash_pair(hash, hash_text((const char *)(uintptr_t)word));
		else if (word == DETAIL_NONE || !key_is_frame(key))
			hash = hash_pair(hash, word);
	}
	return hash;
}

/*
 * Returns a hash for each leaf of a worker that depends only on the samples it counts: equal leaves
 * have the same hash in each worker, and in each analysis. The caller frees it. NULL when out of
 * memory.
 */
static uint64_t *hash_leaves(const struct worker *worker, const uint64_t *frame_hashes)
{
	const struct counted *counted = &worker->counted;
	const struct radix *radix = &counted->chains.radix;
	CLEANUP_FREE uint64_t *nodes = calloc(radix->count + 1, sizeof(*nodes));
	CLEANUP_FREE uint64_t *groups = calloc(counted->groups.count + 1, sizeof(*groups));
	CLEANUP_FREE uint64_t *orders = calloc(counted->leaves.count + 1, sizeof(*orders));
	if (!nodes || !groups || !orders)
		return NULL;
	for (size_t i = 0; i < radix->count; i++) {
		const uint32_t at = worker->resolved.order[i];
		const struct radix_node *node = &radix->items[at];
		if (node->parent != RADIX_NONE)
			nodes[at] = nodes[node->parent];
		for (uint32_t word = node->run; word < node->run + node->length; word++)
			nodes[at] = hash_pair(nodes[at], radix->words.items[word]);
	}
	for (size_t i = 0; i < counted->groups.count; i++)
		groups[i] = hash_group(counted, &counted->groups.items[i], nodes);
	for (size_t i = 0; i < counted->leaves.count; i++) {
		const struct leaf *leaf = &counted->leaves.items[i];
		uint32_t group = worker->resolved.states[leaf->node].group;
		uint64_t hash = hash_pair(groups[group], nodes[leaf->node]);
		orders[i] = hash_pair(hash, frame_hashes[answer_frame(leaf->answer)]);
	}
	return take_ptr(orders);
}

/* Sets the times of all leaves. */
static struct sp_error *scale_leaves(struct workers *workers, struct times *times)
{
	const struct names *names = workers->work->names;
	CLEANUP_FREE uint64_t *hashes = calloc(names->frames.count + 1, sizeof(*hashes));
	CLEANUP_FREE struct ordered_leaves *all = calloc(workers->count, sizeof(*all));
	bool done = hashes && all;
	for (size_t i = 0; done && i < names->frames.count; i++)
		hashes[i] = hash_frame(&names->frames.items[i]);
	for (size_t i = 0; done && i < workers->count; i++) {
		all[i].times = &workers->items[i].counted.times;
		all[i].orders = hash_leaves(&workers->items[i], hashes);
		done = all[i].orders;
	}
	done = done && leaf_times_scale(all, (uint32_t)workers->count, &times->strata);
	for (size_t i = 0; all && i < workers->count; i++)
		free(all[i].orders);
	NEED(done);
	return NULL;
}

/* Gives the leaves of a worker their weights; `frames`: reasons of frames, NULL: not needed. */
static void weigh_leaves(const struct weigher *weigher, struct worker *worker,
			 const uint8_t *frames)
{
	struct counted *counted = &worker->counted;
	for (size_t i = 0; i < counted->times.count; i++) {
		struct leaf *leaf = &counted->leaves.items[i];
		struct leaf_time *time = &counted->times.items[i];
		uint64_t ns = state_sums_total(&time->sums);
		/* In mode cpu, leaves of other events have no times. */
		if (!ns && !weigher->of_threads)
			continue;
		leaf->weight = ns;
		/* Samples without time, such as on-CPU samples in mode off-cpu, make no rows. */
		if (!leaf->weight && !weigher->keeps_untimed)
			leaf->samples = 0;
		if (frames && time->sums.ns[TIME_BLOCKED])
			time->reason = reason_of(worker, leaf, frames);
	}
}

/* Adds the places of waits. Returns false when out of memory. */
static bool add_places(const struct workers *workers, struct times *times)
{
	CLEANUP(sample_weights_deinit) struct sample_weights all = {0};
	vec_each (worker, workers) {
		const struct sample_weights *from = &worker->counted.times.places;
		for (size_t j = 0; j < from->count; j++)
			if (!sample_weights_add(&all, &from->items[j]))
				return false;
	}
	vec_each (item, &all)
		times_add_place(times, key_high(item->key), (uint32_t)item->key, item->weight);
	return true;
}

/* Leaves out idle threads. Returns false when out of memory. */
static bool leave_out_idle(struct workers *workers, struct times *times)
{
	if (!add_places(workers, times) || !times_leave_out_idle(times))
		return false;
	if (!times->idle_threads)
		return true;
	vec_each (worker, workers) {
		struct counted *counted = &worker->counted;
		for (size_t j = 0; j < counted->times.count; j++) {
			struct leaf_time *time = &counted->times.items[j];
			if (!times_leaves_out(times, times_lifetime(times, time)))
				continue;
			counted->leaves.items[j].samples = counted->leaves.items[j].weight = 0;
			time->sums = (struct state_sums){0};
		}
	}
	return true;
}

struct sp_error *timed_leaves_scale(struct workers *workers, struct times *times)
{
	const struct analysis_options *options = workers->work->options;
	if (!times->weigher->compute)
		return NULL;
	/* Only states and trees show the reasons of waits. */
	bool reasons = times->weigher->of_threads &&
		       (times->by_state || options->tree.order != SP_TREE_NONE);
	CLEANUP_FREE uint8_t *frames = reasons ? find_frame_reasons(workers->work->names) : NULL;
	NEED(frames || !reasons);
	TRY(scale_leaves(workers, times));
	vec_each (worker, workers)
		weigh_leaves(times->weigher, worker, frames);
	bool leaves_out = times->weigher->leaves_out_idle && !options->samples.all_threads;
	NEED(!leaves_out || !times->states || leave_out_idle(workers, times));
	return NULL;
}
