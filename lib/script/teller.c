/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Shows the records of a batch in the order of time. In the file, a batch's records are in a few runs,
 * one for each ring buffer. So the batch is first read run by run.
 */
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/ctx.h"
#include "file/reader_damage.h"
#include "profile/filter.h"
#include "record/task_change.h"
#include "record/types.h"
#include "script/script_internal.h"
#include "stacks/chain.h"

/* Largest gap between two records that are read by one call, in bytes. */
#define GAP_MAX 4096

#define NOBODY ":-1"

/* Cached state of a thread, for a time span without a change in the machine. */
struct cached_task {
	uint32_t pid, tid;
	struct machine_span span;
};

struct sp_teller {
	struct sp_script *script;
	struct decoder *decoder;
	struct stacks stacks;
	struct places places;
	VEC(struct cached_task) tasks;
	struct u64map task_of; /* pid, tid -> index in tasks */
	uint32_t last_task;
	const struct record_ref *items; /* the batch's records */
	size_t count, next;
	VEC(struct record_ref) by_offset;
	VEC(uint8_t) bytes;
	VEC(uint32_t) at;         /* by record: index of its bytes in `bytes` */
	VEC(const struct sp_place *) chain;
	struct deferred_ips ips;        /* a chain composed of the kernel's ips and branches */
	struct sp_record record;
	struct sp_script_item item;
	uint32_t view;            /* address space of `item` */
};

DEFINE_CLEANUP(struct sp_teller *, sp_teller_free)

struct places *teller_places(struct sp_teller *teller)
{
	return &teller->places;
}

struct sp_error *sp_teller_new(struct sp_script *script, struct sp_teller **ret)
{
	CLEANUP(cleanup_sp_teller_free) struct sp_teller *teller = calloc(1, sizeof(*teller));
	NEED(teller);
	teller->script = script;
	places_init(&teller->places, &script->place_sources);
	TRY(stacks_init(&teller->stacks, &script->read.unwinding));
	TRY(decoder_new(reader_layout(script->reader), &teller->decoder));
	*ret = take_ptr(teller);
	return NULL;
}

void sp_teller_free(struct sp_teller *teller)
{
	if (!teller)
		return;
	decoder_free(teller->decoder);
	stacks_deinit(&teller->stacks);
	places_deinit(&teller->places);
	vec_deinit(&teller->tasks);
	u64map_deinit(&teller->task_of);
	vec_deinit(&teller->by_offset);
	vec_deinit(&teller->bytes);
	vec_deinit(&teller->at);
	vec_deinit(&teller->chain);
	vec_deinit(&teller->ips);
	free(teller);
}

DEFINE_ORDER(compare_offsets, struct record_ref, offset)

/* Reads the batch's records. In by_offset, `time_ns` is the record's index in the batch. */
static struct sp_error *read_runs(struct sp_teller *teller)
{
	struct record_ref *items = teller->by_offset.items;
	size_t count = teller->by_offset.count, filled = 0;
	for (size_t begin = 0, end; begin < count; begin = end) {
		uint64_t from = items[begin].offset, to = from + items[begin].size;
		for (end = begin + 1; end < count && items[end].offset <= to + GAP_MAX; end++)
			to = items[end].offset + items[end].size;
		/* Keeps the file's alignment, because arrays in records are used in place. */
		size_t room = (filled + 7) & ~(size_t)7;
		room += from & 7;
		size_t size = (size_t)(to - from);
		if (room + size > UINT32_MAX || !vec_reserve(&teller->bytes, room + size + 8))
			return error_no_memory();
		TRY(reader_read(teller->script->reader, from, teller->bytes.items + room, size));
		for (size_t i = begin; i < end; i++)
			teller->at.items[items[i].time_ns] =
				(uint32_t)(room + (items[i].offset - from));
		filled = room + size;
	}
	return NULL;
}

struct sp_error *sp_teller_begin(struct sp_teller *teller, size_t batch)
{
	const size_t *batches = teller->script->batches.items;
	size_t count = batches[batch + 1] - batches[batch];
	bool sorted = true;
	teller->items = teller->script->order.items + batches[batch];
	teller->count = teller->next = 0;
	NEED(vec_reserve(&teller->by_offset, count) && vec_reserve(&teller->at, count));
	for (size_t i = 0; i < count; i++) {
		teller->by_offset.items[i] = teller->items[i];
		teller->by_offset.items[i].time_ns = i;
		sorted &= !i || teller->items[i].offset > teller->items[i - 1].offset;
	}
	teller->by_offset.count = count;
	if (!sorted)
		qsort(teller->by_offset.items, count, sizeof(struct record_ref), compare_offsets);
	struct sp_error *error = read_runs(teller);
	if (!error)
		teller->count = count;
	ctx_add_done(teller->script->ctx, 1);
	return error;
}

/* Returns the thread's state at a time; NULL when out of memory. Valid until the next call. */
static const struct cached_task *task_at(struct sp_teller *teller, uint32_t pid, uint32_t tid,
					 uint64_t time_ns)
{
	struct cached_task *task =
		teller->tasks.count ? &teller->tasks.items[teller->last_task] : NULL;
	if (!task || task->pid != pid || task->tid != tid) {
		task = u64map_item(&teller->task_of, key_of_pair(pid, tid), &teller->tasks);
		if (!task)
			return NULL;
		task->pid = pid;
		task->tid = tid;
		teller->last_task = (uint32_t)(task - teller->tasks.items);
	}
	/* The span of a new task is empty. */
	if (time_ns < task->span.from_ns || time_ns >= task->span.until_ns)
		task->span = machine_span(teller->script->read.machine, pid, tid, time_ns);
	return task;
}

/* Finds the thread of a record that is not a sample: the record's subject, or the running thread. */
static void find_owner(const struct sp_record *record, uint32_t *pid, uint32_t *tid)
{
	struct task_change change;
	*pid = record->id.present & PERF_SAMPLE_TID ? record->id.pid : UINT32_MAX;
	*tid = record->id.present & PERF_SAMPLE_TID ? record->id.tid : UINT32_MAX;
	switch (record->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		*pid = record->mmap.pid;
		*tid = record->mmap.tid;
		break;
	case PERF_RECORD_NAMESPACES:
		*pid = record->namespaces.pid;
		*tid = record->namespaces.tid;
		break;
	case PERF_RECORD_READ:
		*pid = record->read.pid;
		*tid = record->read.tid;
		break;
	default:
		if (!task_change_of(record, &change))
			break;
		*pid = change.pid;
		*tid = change.tid;
	}
}

static bool add_place(struct sp_teller *teller, uint16_t cpumode, uint64_t ip, bool caller)
{
	struct place *place = places_find(&teller->places,
		(struct code_address){ip, teller->view, cpumode, caller});
	const struct sp_place **item = place ? vec_push(&teller->chain) : NULL;
	if (item)
		*item = &place->shown;
	return item;
}

/* Adds a caller. perf shows return addresses from unwinding as the call's address (ip - 1). */
static bool add_caller(struct sp_teller *teller, uint16_t cpumode, uint64_t ip, bool unwound)
{
	bool before = unwound && ip;
	return add_place(teller, cpumode, before ? ip - 1 : ip, !before);
}

/* Adds a chain's calls, and interprets its context markers; false when out of memory. */
static bool add_chain(struct sp_teller *teller, const uint64_t *ips, size_t count, size_t unwound)
{
	uint16_t cpumode = teller->record.misc & PERF_RECORD_MISC_CPUMODE_MASK;
	unsigned int most = teller->script->options.max_stack ?: UINT32_MAX;
	bool exact = true, marked = false;
	for (size_t i = 0; i < count && teller->chain.count < most; i++) {
		if (!chain_is_mark(ips[i])) {
			bool in_dump = i >= unwound;
			if (exact ? !add_place(teller, cpumode, ips[i], false) :
				    !add_caller(teller, cpumode, ips[i], in_dump))
				return false;
			exact = marked = false;
			continue;
		}
		if (ips[i] == CONTEXT_USER_DEFERRED)
			break;
		cpumode = chain_mark_cpumode(ips[i]);
		if (cpumode == PERF_RECORD_MISC_CPUMODE_UNKNOWN) {
			/* perf ignores chains with invalid context markers, too. */
			teller->chain.count = 0;
			break;
		}
		/* Two markers stand for missing calls (SHORTENED): the next ip is a return address. */
		exact = !(marked && teller->record.misc & SP_MISC_SHORTENED);
		marked = true;
	}
	return true;
}

/* Whether the branch stack has the calls (call-stack mode). It then replaces the chain's user part. */
static bool branches_are_calls(const struct sp_teller *teller)
{
	const struct record_layout *layout = reader_layout(teller->script->reader);
	const struct sp_record *record = &teller->record;
	return record->event != SP_EVENT_NONE && record->sample.branch_count &&
	       layout->events[record->event].attr.branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK;
}

/*
 * Adds the kernel's chain and the calls of the branch stack. *ret is false if the chain has no user
 * part. Returns false when out of memory.
 */
static bool take_branches(struct sp_teller *teller, bool *ret)
{
	const struct sp_sample *sample = &teller->record.sample;
	size_t user = 0;
	while (user < sample->ip_count && sample->ips[user] != (uint64_t)PERF_CONTEXT_USER)
		user++;
	*ret = user < sample->ip_count;
	if (!*ret)
		return true;
	size_t count = user + 2 + sample->branch_count;
	if (!vec_reserve(&teller->ips, count))
		return false;
	memcpy(teller->ips.items, sample->ips, (user + 1) * sizeof(uint64_t));
	teller->ips.items[user + 1] = sample->branches[0].to;
	for (size_t i = 0; i < sample->branch_count; i++)
		teller->ips.items[user + 2 + i] = sample->branches[i].from;
	/* A branch's `from` is the call's own address, not a return address. */
	bool exact_rest = add_chain(teller, teller->ips.items, user + 2, SIZE_MAX);
	unsigned int most = teller->script->options.max_stack ?: UINT32_MAX;
	for (size_t i = user + 2; exact_rest && i < count && teller->chain.count < most; i++)
		exact_rest = add_place(teller, PERF_RECORD_MISC_USER, teller->ips.items[i], false);
	return exact_rest;
}

/* Adds the recorded chain, with its deferred part if the kernel sent one. Errors as for add_chain(). */
static bool find_recorded(struct sp_teller *teller)
{
	const struct sp_sample *sample = &teller->record.sample;
	uint64_t cookie;
	bool found;
	if (!stacks_join_leaf(&teller->stacks, &teller->record, teller->view, &found))
		return false;
	if (found)
		return add_chain(teller, teller->stacks.ips.items, teller->stacks.ips.count, SIZE_MAX);
	if (!teller->script->read.deferred.count ||
	    !deferred_cookie(sample->ips, sample->ip_count, &cookie))
		return add_chain(teller, sample->ips, sample->ip_count, SIZE_MAX);
	size_t count = sample->ip_count - 2;
	if (!vec_reserve(&teller->ips, count + 1))
		return false;
	if (count)
		memcpy(teller->ips.items, sample->ips, count * sizeof(*sample->ips));
	teller->ips.count = count;
	return deferred_append(&teller->script->read.deferred, sample->tid, cookie, &teller->ips,
			       &found) &&
	       add_chain(teller, teller->ips.items, teller->ips.count, SIZE_MAX);
}

static struct sp_error *find_chain(struct sp_teller *teller)
{
	const struct sp_sample *sample = &teller->record.sample;
	struct sp_script_item *item = &teller->item;
	bool unwinds = teller->stacks.thread && sample->present & PERF_SAMPLE_STACK_USER &&
		       sample->user_registers.abi != PERF_SAMPLE_REGS_ABI_NONE;
	bool done = false, good = true;
	struct stack stack;
	if (branches_are_calls(teller))
		good = take_branches(teller, &done);
	if (good && !done && unwinds) {
		good = stacks_find(&teller->stacks, &(struct stack_query){
			&teller->record, teller->view, false, item->time_ns}, &stack);
		good = good && add_chain(teller, teller->stacks.ips.items,
					 teller->stacks.ips.count, stack.kernel_count);
	} else if (good && !done) {
		good = find_recorded(teller);
	}
	item->has_chain = unwinds || sample->present & PERF_SAMPLE_CALLCHAIN;
	item->chain = teller->chain.items;
	item->chain_count = teller->chain.count;
	return good ? NULL : error_no_memory();
}

static bool place_passes(const struct sp_script_options *options, const struct place *place)
{
	const struct symbol *symbol = place ? place->symbol : NULL;
	if (!options->filter->dsos.count && !options->filter->symbols.count)
		return true;
	if (!place)
		return false;
	if (!filter_pattern(options->filter->dsos.items, options->filter->dsos.count,
			    place->shown.dso) &&
	    !filter_pattern(options->filter->dsos.items, options->filter->dsos.count,
			    place->shown.dso_name))
		return false;
	return !options->filter->symbols.count ||
	       (symbol && filter_symbol(options->filter->symbols.items, options->filter->symbols.count,
					symbol->name, symbol->raw_name));
}

/* Whether an item passes the filters that need no symbol. */
static bool passes(const struct sp_teller *teller)
{
	const struct sp_script_options *options = &teller->script->options;
	const struct sp_script_item *item = &teller->item;
	const struct sp_filter *filter = options->filter;
	const struct machine_command *command = NULL;
	/* With tell_all, order_make() did not apply these filters. */
	if (options->tell_all && !(filter_task(filter, item->pid, item->tid) &&
				   filter_time(filter, item->time_ns)))
		return false;
	if (filter_has_commands(filter))
		command = machine_command(teller->script->read.machine, item->pid,
					  teller->script->read.sideband.by_offset
						  ? item->record->file_offset
						  : item->time_ns);
	return filter_pattern(filter->comms.items, filter->comms.count, item->comm) &&
	       filter_command(filter, command ? command->argument : NULL,
			      command ? command->line : NULL);
}

/* Fills in a sample's item. *shown_ret: return it; with tell_all, hidden ones, too. */
static struct sp_error *decode_sample(struct sp_teller *teller, bool *shown_ret)
{
	const struct sp_script_options *options = &teller->script->options;
	const struct sp_sample *sample = &teller->record.sample;
	struct sp_script_item *item = &teller->item;
	uint16_t cpumode = teller->record.misc & PERF_RECORD_MISC_CPUMODE_MASK;
	struct place *place = NULL;
	item->hidden = !passes(teller);
	*shown_ret = !item->hidden || options->tell_all;
	if (item->hidden)
		return NULL;
	if (sample->present & PERF_SAMPLE_IP) {
		place = places_find(&teller->places,
			(struct code_address){sample->ip, teller->view, cpumode, false});
		NEED(place);
		item->place = &place->shown;
	}
	/* A teller that only collects places has no symbols, so it cannot filter by them. */
	item->hidden = !teller->script->place_sources.collecting && !place_passes(options, place);
	*shown_ret = !item->hidden || options->tell_all;
	if (!item->hidden && place && place->module && !symbol_is_named(place->symbol) &&
	    !teller->script->place_sources.collecting)
		atomic_fetch_add_explicit(&teller->script->nameless[place->module->index], 1,
					  memory_order_relaxed);
	return !item->hidden && options->chains != SP_OFF ? find_chain(teller) : NULL;
}

static struct raw_record raw_at(const struct sp_teller *teller, size_t index)
{
	const struct record_ref *ref = &teller->items[index];
	const uint8_t *bytes = teller->bytes.items + teller->at.items[index];
	bool swap = reader_layout(teller->script->reader)->swap;
	struct raw_record raw = {.size = ref->size, .bytes = bytes, .offset = ref->offset};
	memcpy(&raw.type, bytes, sizeof(raw.type));
	memcpy(&raw.misc, bytes + 4, sizeof(raw.misc));
	if (swap) {
		raw.type = __builtin_bswap32(raw.type);
		raw.misc = __builtin_bswap16(raw.misc);
	}
	return raw;
}

/* Decodes a record and fills in its item. *shown_ret: it passes the filters. */
static struct sp_error *decode_item(struct sp_teller *teller, size_t index, bool *shown_ret)
{
	struct raw_record raw = raw_at(teller, index);
	TRY(decoder_decode(teller->decoder, &raw, &teller->record));
	teller->item = (struct sp_script_item){.record = &teller->record};
	teller->chain.count = 0;
	*shown_ret = true;
	struct sp_script_item *item = &teller->item;
	const struct sp_record *record = item->record;
	const struct sp_sample *sample = &record->sample;
	if (record->type == PERF_RECORD_SAMPLE) {
		bool known = sample->present & PERF_SAMPLE_TID;
		item->pid = known ? sample->pid : UINT32_MAX;
		item->tid = known ? sample->tid : UINT32_MAX;
		item->time_ns = sample->time_ns;
	} else {
		find_owner(record, &item->pid, &item->tid);
		item->time_ns = record->id.time_ns;
	}
	item->comm = NOBODY;
	uint64_t time_ns =
		teller->script->read.sideband.by_offset ? record->file_offset : item->time_ns;
	const struct cached_task *task = task_at(teller, item->pid, item->tid, time_ns);
	NEED(task);
	if (item->tid != UINT32_MAX)
		item->comm = task->span.comm;
	teller->view = record->type == PERF_RECORD_SAMPLE
			       ? stacks_view(&teller->stacks, record, &task->span, time_ns)
			       : task->span.view;
	if (teller->record.type == PERF_RECORD_SAMPLE)
		TRY(decode_sample(teller, shown_ret));
	return NULL;
}

struct sp_error *sp_teller_next(struct sp_teller *teller, const struct sp_script_item **ret)
{
	while (teller->next < teller->count) {
		bool shown;
		struct sp_error *error = decode_item(teller, teller->next++, &shown);
		if (error && sp_error_code(error) != SP_ERROR_FORMAT)
			return error;
		if (error) {
			/* The first pass could read the record, so another process wrote to the file. */
			reader_add_damage(teller->script->reader,
					  teller->items[teller->next - 1].offset, error);
			continue;
		}
		if (!shown)
			continue;
		*ret = &teller->item;
		return NULL;
	}
	*ret = NULL;
	return NULL;
}

const struct sp_place *sp_teller_place(struct sp_teller *teller, uint64_t ip)
{
	uint16_t cpumode = teller->record.misc & PERF_RECORD_MISC_CPUMODE_MASK;
	struct code_address address = {ip, teller->view, cpumode, false};
	struct place *place = places_find(&teller->places, address);
	/* Data addresses and branches may be of another mode than the sample, so try the other one. */
	address.cpumode = cpumode == PERF_RECORD_MISC_USER ? PERF_RECORD_MISC_KERNEL :
							     PERF_RECORD_MISC_USER;
	if (place && !place->module)
		place = places_find(&teller->places, address);
	return place ? &place->shown : NULL;
}

bool sp_teller_code(struct sp_teller *teller, uint64_t ip, void *code, size_t size,
		    uint16_t *machine_ret)
{
	uint16_t cpumode = teller->record.misc & PERF_RECORD_MISC_CPUMODE_MASK;
	/* Guest addresses are not in this machine's mappings. */
	if (cpumode == PERF_RECORD_MISC_GUEST_KERNEL || cpumode == PERF_RECORD_MISC_GUEST_USER)
		return false;
	/* Look up the address in the user's mappings, whatever the sample's mode is. */
	struct location location = machine_locate(teller->script->read.machine, teller->view,
						  PERF_RECORD_MISC_USER, ip);
	return place_sources_read_code(&teller->script->place_sources, &location, code, size,
				       machine_ret);
}
