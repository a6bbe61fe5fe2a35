/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The first pass reads metadata records into a machine, which knows all tasks and mappings at any time,
 * as in an analysis. So tellers have no state from earlier records, and each can show any batch.
 */
#include "script/script_internal.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sprof/private/command.h>
#include "base/cleanup.h"
#include "base/ctx.h"
#include "base/parallel.h"
#include "base/sized.h"
#include "file/reader_damage.h"

/* Size of a batch: large enough that threads seldom wait, and small in memory. */
#define BATCH_RECORDS 1024
#define BATCH_BYTES ((size_t)2 << 20)

DEFINE_CLEANUP(struct sp_script *, sp_script_free)

static struct sp_error *make_batches(struct sp_script *script)
{
	size_t bytes = 0, records = 0;
	for (size_t i = 0; i <= script->order.count; i++) {
		bool end = i == script->order.count;
		bool full = i && (records == BATCH_RECORDS ||
				  bytes + (end ? 0 : script->order.items[i].size) > BATCH_BYTES);
		if (!i || end || full) {
			NEED(vec_append(&script->batches, i));
			bytes = records = 0;
		}
		if (!end) {
			bytes += script->order.items[i].size;
			records++;
		}
	}
	return NULL;
}

/* Tellers of the pass that only collects places. */
struct place_survey {
	struct sp_script *script;
	struct sp_teller **tellers;
	struct sp_error **errors;
	atomic_size_t next;
};

static struct sp_error *survey_batch(struct sp_teller *teller, size_t batch)
{
	const struct sp_script_item *item;
	struct sp_error *error = sp_teller_begin(teller, batch);
	do {
		if (!error)
			error = sp_teller_next(teller, &item);
	} while (!error && item);
	return error;
}

static void survey_some(void *arg, unsigned int hand)
{
	struct place_survey *survey = arg;
	size_t count = sp_script_batch_count(survey->script);
	struct sp_error *error = sp_teller_new(survey->script, &survey->tellers[hand]);
	for (size_t i; !error && (i = atomic_fetch_add(&survey->next, 1)) < count;)
		error = survey_batch(survey->tellers[hand], i);
	survey->errors[hand] = error;
}

/*
 * Looks up the debug information of all places together, because this is faster than one lookup for
 * each.
 */
static struct sp_error *find_sources(struct sp_script *script)
{
	unsigned int count = script->threads;
	CLEANUP_FREE struct sp_teller **tellers = calloc(count, sizeof(struct sp_teller *));
	CLEANUP_FREE struct sp_error **errors = calloc(count, sizeof(struct sp_error *));
	CLEANUP_FREE struct places **places = calloc(count, sizeof(*places));
	struct place_survey survey = {.script = script, .tellers = tellers, .errors = errors};
	struct sp_error *error = NULL;
	NEED(tellers && errors && places);
	script->place_sources.collecting = true;
	parallel_run(count, survey_some, &survey);
	for (unsigned int i = 0; i < count; i++) {
		error = error_first(error, errors[i]);
		if (tellers[i])
			places[i] = teller_places(tellers[i]);
	}
	if (!error)
		error = place_sources_find(&script->place_sources, places, count, count);
	for (unsigned int i = 0; i < count; i++)
		sp_teller_free(tellers[i]);
	return error;
}

static struct sp_error *prepare(struct sp_script *script)
{
	bool chains = script->options.chains != SP_OFF;
	/* Without call chains, no stack is unwound. */
	if (!chains)
		script->files.unwinder = "none";
	const struct pass_one pass = {.ctx = script->ctx, .reader = script->reader,
				      .files = &script->files, .threads = script->threads,
				      .chains = chains};
	ctx_begin_step(script->ctx, SP_STEP_MAPPINGS, 0);
	TRY(pass_one_read(&pass, &script->read));
	TRY(place_sources_init(&script->place_sources, sp_reader_info(script->reader),
			       script->read.machine, script->read.resolver, &script->options));
	script->nameless = calloc(machine_module_count(script->read.machine) + 1,
				  sizeof(*script->nameless));
	NEED(script->nameless);
	const struct order_request request = {
		.reader = script->reader,
		.options = &script->options,
		.splits = script->read.sideband.splits.items,
		.split_count = script->read.sideband.splits.count,
		.threads = script->threads,
	};
	TRY(order_make(&script->order, &request));
	TRY(make_batches(script));
	size_t batches = sp_script_batch_count(script);
	ctx_begin_step(script->ctx, SP_STEP_NAMES, batches);
	if (script->order.count && place_sources_are_needed(&script->place_sources))
		TRY(find_sources(script));
	ctx_begin_step(script->ctx, SP_STEP_RECORDS, batches);
	return NULL;
}

static struct sp_error *open_once(struct sp_ctx *ctx, struct sp_reader *reader,
				  const struct sp_script_options *options, struct sp_script **ret)
{
	CLEANUP(cleanup_sp_script_free) struct sp_script *script = calloc(1, sizeof(*script));
	NEED(script);
	script->ctx = ctx;
	script->reader = reader;
	struct sp_script_options *copy = &script->options;
	TRY(sized_copy(copy, sizeof(*copy), options));
	const struct sized_group groups[] = {
		{&script->filter, sizeof(script->filter), copy->filter, "filter"},
		{&script->files, sizeof(script->files), copy->files, "files"},
	};
	copy->filter = &script->filter;
	copy->files = &script->files;
	TRY(sized_copy_groups(groups, 2));
	script->threads = parallel_threads(script->options.threads);
	TRY(prepare(script));
	*ret = take_ptr(script);
	return NULL;
}

struct sp_error *sp_script_open(struct sp_ctx *ctx, struct sp_reader *reader,
				const struct sp_script_options *options, struct sp_script **ret)
{
	bool exact = reader_is_exact(reader);
	TRY(open_once(ctx, reader, options, ret));
	if (!pass_one_missed_records(reader, exact))
		return NULL;
	sp_script_free(take_ptr(*ret));
	return open_once(ctx, reader, options, ret);
}

void sp_script_free(struct sp_script *script)
{
	if (!script)
		return;
	vec_deinit(&script->batches);
	order_deinit(&script->order);
	place_sources_deinit(&script->place_sources);
	pass_one_deinit(&script->read);
	free(script->nameless);
	free(script);
}

size_t sp_script_batch_count(const struct sp_script *script)
{
	return script->batches.count - 1;
}

uint64_t sp_script_record_count(const struct sp_script *script)
{
	return script->order.count;
}

const struct sp_error *sp_script_unwinding_refusal(const struct sp_script *script)
{
	return script->read.unwinding.refusal;
}

const char *sp_script_note(const struct sp_script *script, size_t index)
{
	const struct sideband *sideband = &script->read.sideband;
	return index < sideband->notes.count - sideband->recorded_notes ?
		       sideband->notes.items[sideband->recorded_notes + index].text : NULL;
}

uint64_t sp_script_lost(const struct sp_script *script)
{
	const struct sideband *sideband = &script->read.sideband;
	uint64_t lost = 0;
	for (size_t i = 0; i < sideband->layout->event_count; i++)
		lost += sp_losses_own(sideband->losses, i) +
			sp_losses_unknown(sideband->losses, i);
	return lost;
}

const char *sp_script_unproven(const struct sp_script *script, size_t *index,
			       const char **remedy_ret)
{
	const char *text;
	while (*index < machine_module_count(script->read.machine))
		if (resolver_problem(script->read.resolver,
				     machine_module(script->read.machine, (*index)++), &text,
				     remedy_ret) == RESOLVER_UNPROVEN)
			return text;
	return NULL;
}

const char *sp_script_damaged(const struct sp_script *script, size_t *index)
{
	const char *text, *remedy;
	while (*index < machine_module_count(script->read.machine))
		if (resolver_sources_problem(script->read.resolver,
					     machine_module(script->read.machine, (*index)++),
					     &text, &remedy) == RESOLVER_DAMAGED_FILE)
			return text;
	return NULL;
}

size_t sp_script_nameless(const struct sp_script *script, struct sp_nameless *ret, size_t room)
{
	size_t count = 0, kept = 0;
	for (size_t i = 0; i < machine_module_count(script->read.machine); i++) {
		const struct module *module = machine_module(script->read.machine, i);
		struct sp_nameless one = {
			.module = module->name,
			.samples = atomic_load(&script->nameless[i]),
		};
		if (!one.samples)
			continue;
		count++;
		size_t place = kept;
		while (place && ret[place - 1].samples < one.samples)
			place--;
		if (place == room)
			continue;
		kept += kept < room;
		memmove(&ret[place + 1], &ret[place], (kept - 1 - place) * sizeof(*ret));
		resolver_problem(script->read.resolver, module, &one.what, &one.remedy);
		ret[place] = one;
	}
	return count;
}
