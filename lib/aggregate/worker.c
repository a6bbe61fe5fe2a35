/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aggregate/worker.h"

#include <sprof/words.h>
#include <stdlib.h>
#include <string.h>
#include "aggregate/sample_values.h"
#include "base/cleanup.h"
#include "base/ctx.h"
#include "file/reader_damage.h"
#include "info/losses.h"
#include "profile/filter.h"
#include "walk/walker.h"

/* Samples with copies of stacks: of those the inner frames are soon wanted, where most are. */
#define LARGE 4096
#define PREFETCH_SIZE 1024

DEFINE_CLEANUP(struct walker *, walker_free)
DEFINE_CLEANUP(struct decoder *, decoder_free)

struct sp_error *worker_init(struct worker *worker, const struct work *work, struct names *names)
{
	*worker = (struct worker){.work = work, .lookup = {.names = names}};
	for (int i = 0; i < SP_KEY_COUNT; i++)
		worker->tallies.keys[i] = work->keys[i];
	worker->details.width = worker->row_details.width = work->detail_count;
	worker->events = calloc(work->layout->event_count + 1, sizeof(*worker->events));
	if (!worker->events)
		return error_no_memory();
	if (work->options->time_bins &&
	    !(worker->time_bins = calloc(work->layout->event_count + 1, sizeof(*worker->time_bins))))
		return error_no_memory();
	struct sp_error *error = stacks_init(&worker->stacks, work->unwinding);
	worker->stacks.deferred = work->deferred;
	worker->stacks.layout = work->layout;
	if (!error && work->has_texts)
		error = sp_trace_new(work->ctx, work->reader, &worker->trace);
	return error;
}

void worker_deinit(struct worker *worker)
{
	lookup_deinit(&worker->lookup);
	chains_deinit(&worker->chains);
	groups_deinit(&worker->groups);
	details_deinit(&worker->details);
	details_deinit(&worker->row_details);
	sp_trace_free(worker->trace);
	strtab_deinit(&worker->texts);
	stacks_deinit(&worker->stacks);
	vec_deinit(&worker->cuts);
	vec_deinit(&worker->cut_ips);
	vec_deinit(&worker->leaves);
	u64map_deinit(&worker->leaf_of);
	vec_deinit(&worker->tasks);
	u64map_deinit(&worker->task_of);
	vec_deinit(&worker->pending);
	free(worker->events);
	time_bins_free(worker->time_bins, worker->work->layout->event_count);
	u64map_deinit(&worker->task_samples);
	u64map_deinit(&worker->counter_of);
	vec_deinit(&worker->counters);
	free(worker->order);
	free(worker->frames);
	free(worker->states);
	groups_deinit(&worker->row_groups);
	tallies_deinit(&worker->tallies);
}

/* Asks the machine again; the task's span was not that of `time_ns`. */
static void task_refresh(struct worker *worker, struct task *task, uint64_t time_ns)
{
	const struct sp_filter *filter = &worker->work->options->filter;
	task->span = machine_span(worker->work->machine, task->pid, task->tid, time_ns);
	task->shown = filter_name(filter->comms.items, filter->comms.count, task->span.name) &&
		      filter_task(filter, task->pid, task->tid);
	task->last_event = SP_EVENT_NONE;
}

/* The sample's thread at its time; NULL when out of memory. Valid until the next call. */
static struct task *task_of(struct worker *worker, const struct sp_sample *sample, uint64_t time_ns)
{
	bool added = false;
	struct task *task = worker->tasks.count ? &worker->tasks.items[worker->last_task] : NULL;
	if (!task || task->pid != sample->pid || task->tid != sample->tid) {
		uint64_t key = (uint64_t)sample->pid << 32 | sample->tid;
		if (!vec_reserve(&worker->tasks, worker->tasks.count + 1))
			return NULL;
		const uint32_t *index = u64map_put(&worker->task_of, key,
						   (uint32_t)worker->tasks.count, &added);
		if (!index)
			return NULL;
		if (added)
			*vec_push(&worker->tasks) = (struct task){.pid = sample->pid,
								  .tid = sample->tid};
		worker->last_task = *index;
		task = &worker->tasks.items[*index];
	}
	if (added || time_ns < task->span.from_ns || time_ns >= task->span.until_ns)
		task_refresh(worker, task, time_ns);
	return task;
}

uint32_t worker_root(struct worker *worker, const struct place_of_sample *place, uint16_t event,
		     const uint64_t *words)
{
	const bool *keys = worker->work->group_keys;
	struct task *task = place->task;
	uint32_t cpu = keys[SP_KEY_CPU] ? place->cpu : 0;
	uint32_t detail = words ? details_add(&worker->details, words) : 0;
	if (detail == UINT32_MAX)
		return RADIX_NONE;
	if (task->last_event == event && task->last_cpu == cpu && task->last_detail == detail &&
	    task->last_replicate == place->replicate && task->last_view == place->view)
		return task->root;
	struct group group = {
		.event = event,
		.comm = keys[SP_KEY_COMM] ? task->span.name : NULL,
		.pid = keys[SP_KEY_PID] ? (int32_t)task->pid : 0,
		.tid = keys[SP_KEY_TID] ? (int32_t)task->tid : 0,
		.cpu = (int32_t)cpu,
		.detail = detail,
		.replicate = place->replicate,
	};
	uint32_t index = groups_add(&worker->groups, &group);
	uint32_t root = RADIX_NONE;
	if (index != UINT32_MAX)
		root = radix_root(&worker->chains.radix,
				  (uint64_t)index << 32 | place->view);
	task->last_event = root == RADIX_NONE ? SP_EVENT_NONE : event;
	task->last_cpu = cpu;
	task->last_detail = detail;
	task->last_replicate = place->replicate;
	task->last_view = place->view;
	task->root = root;
	return root;
}

bool worker_place(struct worker *worker, const struct sp_record *record,
		  struct place_of_sample *ret)
{
	const struct work *work = worker->work;
	const struct sp_sample *sample = &record->sample;
	const struct sp_number_list *cpus = &work->options->filter.cpus;
	uint64_t time_ns = work->sideband->by_offset ? record->file_offset : sample->time_ns;
	struct task *task = task_of(worker, sample, time_ns);
	uint32_t cpu = sample->present & PERF_SAMPLE_CPU ? sample->cpu : UINT32_MAX;
	*ret = (struct place_of_sample){
		.task = task,
		.time_ns = time_ns,
		.cpu = cpu,
		.replicate = work->replicates ? hash_u64(record->file_offset) % REPLICATES : 0,
		.shown = task && task->shown && filter_time(&work->options->filter, sample->time_ns) &&
			 filter_number(cpus->items, cpus->count, (int32_t)cpu),
		.view = task ? stacks_view(&worker->stacks, record, &task->span, time_ns) : 0,
	};
	return task != NULL;
}

static struct sp_error *count_task(struct worker *worker, uint16_t event, uint32_t tid)
{
	uint32_t *samples = u64map_put(&worker->task_samples, (uint64_t)event << 32 | tid, 0, NULL);
	if (!samples)
		return error_no_memory();
	*samples += *samples < UINT32_MAX;
	return NULL;
}

uint32_t worker_leaf(struct worker *worker, uint32_t node, uint32_t answer)
{
	bool added;
	if (worker->leaves.count == UINT32_MAX ||
	    !vec_reserve(&worker->leaves, worker->leaves.count + 1))
		return UINT32_MAX;
	const uint32_t *index = u64map_put(&worker->leaf_of,
					   (uint64_t)node << 32 | answer >> LOOKUP_SHIFT,
					   (uint32_t)worker->leaves.count, &added);
	if (!index)
		return UINT32_MAX;
	if (added)
		*vec_push(&worker->leaves) = (struct leaf){.node = node, .answer = answer};
	return *index;
}

/* The leaf under a chain; UINT32_MAX when out of memory. */
static uint32_t chain_leaf(struct worker *worker, uint32_t root, const struct callers *callers,
			   uint32_t answer)
{
	struct chain *chain = chains_add(&worker->chains, root, callers);
	if (!chain)
		return UINT32_MAX;
	/* last_leaf is one more than the index: 0 is none. */
	if (chain->last_leaf && chain->last_answer == answer)
		return chain->last_leaf - 1;
	uint32_t leaf = worker_leaf(worker, chain->node, answer);
	if (leaf != UINT32_MAX) {
		chain->last_answer = answer;
		chain->last_leaf = leaf + 1;
	}
	return leaf;
}

/* Counts how a chain ended of which nothing but its leaf is kept. */
static bool count_end(struct worker *worker, uint16_t event, const struct callers *callers,
		      uint32_t view, uint32_t answer)
{
	struct callers left = *callers;
	uint64_t ip;
	uint16_t cpumode;
	bool exact;
	for (; callers_outermost(&left, &ip, &cpumode, &exact); callers_drop(&left)) {
		uint32_t outer = lookup_find(&worker->lookup, exact ? LOOKUP_EXACT : LOOKUP_CALLER,
					     view, cpumode, ip);
		if (outer == LOOKUP_FAILED)
			return false;
		/* As in sum.c: the last words need not be of calls. */
		if (callers_end(callers) == SP_MISC_END_UNKNOWN && outer & LOOKUP_NOWHERE)
			continue;
		answer = outer;
		break;
	}
	enum sp_stack_end end = stack_end_of(&worker->work->layout->events[event].attr,
					     callers_end(callers), answer & LOOKUP_OUTERMOST,
					     callers_depth(callers));
	worker->events[event].ends[end]++;
	return true;
}

static void count_mending(struct event_sums *sums, uint16_t misc)
{
	sums->said += (misc & SP_MISC_END_MASK) != 0;
	sums->repaired += (misc & SP_MISC_REPAIRED) != 0;
	sums->shortened += (misc & SP_MISC_SHORTENED) != 0;
	sums->guessed += (misc & SP_MISC_GUESSED) != 0;
}

/* The leaf of a sampled place under its stack; UINT32_MAX when out of memory. */
static uint32_t place(struct worker *worker, uint32_t root, uint16_t event,
		      const struct stack *stack, uint32_t answer)
{
	struct callers kept = stack->callers;
	const struct callers *callers = &kept;
	size_t limit = worker->work->options->max_stack;
	bool only_leaves = worker->work->only_leaves;
	uint32_t view = (uint32_t)worker->chains.radix.items[root].first;
	if (stack->has_chain && callers->misc)
		count_mending(&worker->events[event], callers->misc);
	worker->events[event].limited += limit && callers_limit(&kept, limit);
	bool ended = callers_end(callers) != SP_MISC_END_UNKNOWN;
	if (!stack->has_chain)
		worker->events[event].ends[SP_STACK_NONE]++;
	else if (only_leaves && !count_end(worker, event, callers, view, answer))
		return UINT32_MAX;
	uint32_t index = only_leaves || (!callers->count && !ended) ?
				 worker_leaf(worker, root, answer) :
				 chain_leaf(worker, root, callers, answer);
	if (index != UINT32_MAX)
		worker->leaves.items[index].chains += stack->has_chain;
	return index;
}

bool worker_add_pending(struct worker *worker, uint32_t leaf, const struct weight_sums *sums)
{
	if (!vec_reserve(&worker->pending, (size_t)leaf + 1))
		return false;
	while (worker->pending.count <= leaf)
		*vec_push(&worker->pending) = (struct weight_sums){0};
	weight_sums_merge(&worker->pending.items[leaf], sums);
	return true;
}

/* Counts a sample under its stack, if it is `shown`; false when out of memory. */
static bool add_to_leaf(struct worker *worker, uint32_t root, uint16_t event,
			const struct stack *stack, uint32_t answer, bool shown, uint64_t weight)
{
	uint32_t index = place(worker, root, event, stack, answer);
	if (index == UINT32_MAX)
		return false;
	if (!shown)
		return true;
	struct leaf *leaf = &worker->leaves.items[index];
	leaf->samples++;
	leaf->weight = weight_add(leaf->weight, weight);
	if (leaf->answer & LOOKUP_PENDING || worker->work->by_stack) {
		struct weight_sums one = {0};
		weight_sums_add(&one, weight);
		return worker_add_pending(worker, index, &one);
	}
	weight_sums_add(&worker->events[event].shown, weight);
	return true;
}

/* As add_to_leaf(), but later; false when out of memory. */
static bool add_cut(struct worker *worker, const struct sp_record *record, uint32_t root,
			uint16_t event, uint32_t answer, bool shown, uint64_t weight)
{
	const struct stack *stack = &worker->stack;
	size_t begin = worker->cut_ips.count, count = stack->kernel_count;
	if (begin + count > UINT32_MAX || !vec_reserve(&worker->cut_ips, begin + count))
		return false;
	struct cut_sample *cut = vec_push(&worker->cuts);
	if (!cut)
		return false;
	if (count)
		memcpy(worker->cut_ips.items + begin, record->sample.ips,
		       count * sizeof(uint64_t));
	worker->cut_ips.count += count;
	*cut = (struct cut_sample){
		.sampled = sampled_of(record),
		.root = root,
		.number = stack->number,
		.answer = answer,
		.kernel_begin = (uint32_t)begin,
		.kernel_count = (uint32_t)count,
		.event = event,
		.shown = shown,
		.misc = stack->callers.misc,
		.weight = weight,
	};
	return true;
}

struct sp_error *worker_count_cut(struct worker *worker)
{
	for (size_t i = 0; i < worker->cuts.count && !ctx_cancelled(worker->work->ctx); i++) {
		const struct cut_sample *cut = &worker->cuts.items[i];
		struct stack stack;
		if (!stacks_later(&worker->stacks, worker->repaired,
				  cut->number + worker->repair_offset, &cut->sampled, cut->misc,
				  cut->kernel_count ? worker->cut_ips.items + cut->kernel_begin
						    : NULL,
				  cut->kernel_count, &stack))
			return error_no_memory();
		if (!add_to_leaf(worker, cut->root, cut->event, &stack, cut->answer,
				 cut->shown, cut->weight))
			return error_no_memory();
	}
	return NULL;
}

/* The record's stack, which is the same for all that it counts for; NULL when out of memory. */
static const struct stack *stack_of(struct worker *worker, const struct sp_record *record,
				    const struct place_of_sample *place)
{
	if (!worker->has_stack)
		worker->has_stack = stacks_find(&worker->stacks, record, place->view,
						place->view != place->task->span.view,
						place->time_ns, &worker->stack);
	return worker->has_stack ? &worker->stack : NULL;
}

struct sp_error *worker_count(struct worker *worker, const struct sp_record *record,
			      uint16_t event, uint64_t weight)
{
	const struct work *work = worker->work;
	struct place_of_sample place;
	uint64_t words[SP_KEY_COUNT];
	if (!worker_place(worker, record, &place))
		return error_no_memory();
	uint32_t view = place.view;
	if (work->detail_count && !worker_details(worker, record, NULL, view, words))
		return error_no_memory();
	uint32_t root = worker_root(worker, &place, event, work->detail_count ? words : NULL);
	if (root == RADIX_NONE)
		return error_no_memory();
	const struct stack *stack = stack_of(worker, record, &place);
	uint32_t answer = !stack ? LOOKUP_FAILED :
			  lookup_find(&worker->lookup, LOOKUP_EXACT, view,
				      stack->callers.leaf_cpumode, stack->callers.leaf_ip);
	if (answer == LOOKUP_FAILED)
		return error_no_memory();
	bool shown = place.shown && answer & (LOOKUP_SHOWN | LOOKUP_PENDING);
	bool added = stack->number == REPAIR_NONE ?
			     add_to_leaf(worker, root, event, stack, answer, shown, weight) :
			     add_cut(worker, record, root, event, answer, shown, weight);
	if (!added)
		return error_no_memory();
	weight_sums_add(&worker->events[event].all, weight);
	return work->sum_tasks ? count_task(worker, event, record->sample.tid) : NULL;
}

/* The cycles that it took; 1 where that is not known, as perf has it. */
static uint64_t cost_of(const struct sp_sample *sample)
{
	uint64_t bits = PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT, cost = 0;
	if (sample->present & bits)
		cost = sp_weight_parts(sample->present, sample->weight).latency;
	return cost ?: 1;
}

/* One SAMPLE record. */
static struct sp_error *add_sample(struct worker *worker, const struct sp_record *record)
{
	const struct sp_sample *sample = &record->sample;
	worker->has_stack = false;
	if (record->event == SP_EVENT_NONE) {
		worker->unknown_event++;
		return NULL;
	}
	const struct perf_event_attr *attr = &worker->work->layout->events[record->event].attr;
	if (sample->time_ns) {
		if (!worker->last_ns || sample->time_ns < worker->first_ns)
			worker->first_ns = sample->time_ns;
		if (sample->time_ns > worker->last_ns)
			worker->last_ns = sample->time_ns;
		if (worker->time_bins &&
		    !time_bins_count(&worker->time_bins[record->event], sample->time_ns))
			return error_no_memory();
	}
	if (worker->work->options->branches)
		return worker_count_branches(worker, record);
	if (worker->work->options->memory)
		return worker_count(worker, record, record->event, cost_of(sample));
	if (sample->present & PERF_SAMPLE_READ)
		return worker_count_counters(worker, record);
	uint64_t weight = sample->period;
	if (!(sample->present & PERF_SAMPLE_PERIOD))
		weight = attr->freq ? 1 : attr->sample_period;
	return worker_count(worker, record, record->event, weight);
}

struct sp_error *worker_read(struct worker *worker, struct reader_extent extent)
{
	struct sp_reader *reader = worker->work->reader;
	CLEANUP(cleanup_walker_free) struct walker *walker = NULL;
	CLEANUP(cleanup_decoder_free) struct decoder *decoder = NULL;
	struct sp_record record;
	struct sp_error *error = walker_new(reader, extent, &walker);
	if (!error)
		error = decoder_new(worker->work->layout, &decoder);
	while (!error) {
		struct raw_record raw;
		uint64_t at = walker_offset(walker);
		error = walker_next(walker, &raw);
		if (!error && !raw.bytes)
			break;
		if (!error && raw.type != PERF_RECORD_SAMPLE)
			continue;
		if (!error && raw.size >= LARGE)
			walker_prefetch(walker, PREFETCH_SIZE);
		if (!error)
			error = decoder_decode(decoder, &raw, &record);
		if (!error) {
			walker_doubt(walker, &raw, decoder_excess(decoder));
			error = add_sample(worker, &record);
		} else if (sp_error_code(error) == SP_ERROR_FORMAT) {
			reader_add_damage(reader, at, error);
			error = NULL;
		}
	}
	return error;
}
