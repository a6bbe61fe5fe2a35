/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile/profile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "record/python_record.h"

/* Returns the unsampled weight that a row of this comm may have; NULL: none. */
static const struct unsampled_weight *unsampled_of(const struct profile_source *source,
						   const char *comm)
{
	if (!source->tallies->keys[SP_KEY_COMM])
		return &source->unsampled_all;
	for (size_t i = 0; i < source->unsampled_count; i++)
		if (source->unsampled[i].comm == comm)
			return &source->unsampled[i];
	return NULL;
}

/* Widens a share's interval by the unsampled weight of the row's program (NULL: none). */
static void widen(const struct profile_source *source, const struct unsampled_weight *unsampled,
		  uint64_t samples, uint64_t weight, struct sp_share *share)
{
	uint64_t all = source->whole.weight;
	interval_widen(share, all, source->unsampled_all.missing,
		       unsampled ? unsampled->missing : 0);
	/* Time without a sample is known: it is a row of its own. */
	if (unsampled && (samples || !weight))
		interval_shift(share, all, unsampled->less, unsampled->more);
}

static struct sp_weight weigh(const struct profile_source *source, double n_eff,
			      const struct unsampled_weight *unsampled, uint64_t samples,
			      uint64_t weight)
{
	struct sp_share share = interval_share(weight, source->whole.weight, n_eff);
	widen(source, unsampled, samples, weight, &share);
	return (struct sp_weight){.samples = samples, .weight = weight, .share = share};
}

static bool is_python(const struct profile_source *source, const struct tally *tally)
{
	const struct function *function = tally->function == TALLY_NONE ? NULL :
					  &source->functions->items[tally->function];
	return function && function->dso && !strcmp(function->dso, PYTHON_DSO);
}

/*
 * Widens the interval of a Python function: all unresolved ones may be it. Deep stacks, and threads
 * that change the CPU, are unresolved more often than others.
 */
static void widen_python(const struct profile_source *source, double *high)
{
	*high = fmin(*high + source->unresolved, 1);
}

static void weigh_tally(const struct profile_source *source, double n_eff,
			const struct unsampled_weight *unsampled, const struct tally *tally,
			struct sp_weight *self, struct sp_weight *total)
{
	*self = weigh(source, n_eff, unsampled, tally->self_samples, tally->self_weight);
	*total = *self;
	if (source->children)
		*total = weigh(source, n_eff, unsampled, tally->total_samples, tally->total_weight);
	if (!is_python(source, tally))
		return;
	widen_python(source, &self->share.high);
	widen_python(source, &total->share.high);
}

void profile_weigh(const struct profile_source *source, const char *comm,
		   const struct tally *tally, struct sp_weight *self, struct sp_weight *total)
{
	weigh_tally(source, profile_n_eff(source), unsampled_of(source, comm),
		    tally, self, total);
}

/* Adds a detail's values to the row. False when out of memory. */
static bool add_values(const struct profile_source *source, uint32_t detail, struct arena *arena,
		       struct sp_row *row)
{
	const struct profile_values *from = &source->values;
	if (!from->count)
		return true;
	struct sp_value *values = arena_alloc(arena, from->count * sizeof(*values));
	if (!values)
		return false;
	const uint64_t *words = details_words(source->details, detail);
	for (size_t i = 0; i < from->count; i++) {
		values[i] = (struct sp_value){.key = from->keys[i]};
		if (!from->describe(from->arg, from->keys[i], words[i], row->self.samples,
				    &values[i]))
			return false;
	}
	row->values = values;
	row->value_count = from->count;
	return true;
}

/*
 * Returns the name of a row's function. Without the key dso, names that functions of several files
 * have state the file. NULL when out of memory.
 */
static const char *name_in_row(const struct function *function, const char *name,
			       const struct named *named, bool dso, struct arena *arena)
{
	if (dso || !named || !named->identity.name_is_shared)
		return name;
	size_t size = strlen(name) + strlen(function->dso) + sizeof(" []");
	char *text = arena_alloc(arena, size);
	if (text)
		snprintf(text, size, "%s [%s]", name, function->dso);
	return text;
}

bool profile_name_row(const struct profile_source *source, const struct tally *tally,
		      struct arena *arena, struct sp_row *row)
{
	const bool *keys = source->tallies->keys;
	const struct group *group = &source->groups[tally->group];
	row->comm = keys[SP_KEY_COMM] ? group->comm : NULL;
	row->pid = keys[SP_KEY_PID] ? group->pid : 0;
	row->tid = keys[SP_KEY_TID] ? group->tid : 0;
	row->cpu = keys[SP_KEY_CPU] ? group->cpu : 0;
	row->event = keys[SP_KEY_EVENT] ? source->event : NULL;
	if (!add_values(source, group->detail, arena, row))
		return false;
	if (tally->function == TALLY_NONE)
		return true;
	const struct function *function = &source->functions->items[tally->function];
	if (keys[SP_KEY_DSO]) {
		row->dso = function->dso;
		row->dso_path = function->dso_path;
		row->build_id = function->build_id;
	}
	row->level = function->level;
	row->own_code = function->own_code;
	row->symbol = name_in_row(function, function->symbol, function->symbol_of, keys[SP_KEY_DSO],
				  arena);
	row->function = name_in_row(function, function->function, function->function_of,
				    keys[SP_KEY_DSO], arena);
	const struct named *named = function_named(function);
	row->identity = named ? &named->identity : NULL;
	if (!row->symbol != !function->symbol || !row->function != !function->function)
		return false;
	row->inlined = function->function && function->inlined;
	row->symbol_known = function->known;
	row->from_cfi = function->from_cfi;
	if (function->symbol || function->function)
		row->address = function->start;
	row->srcpath = function->srcfile;
	row->line = function->line;
	row->instruction = function->instruction;
	if (keys[SP_KEY_SRCFILE])
		row->srcfile = srcfiles_shown(source->files, function->srcfile);
	if (!keys[SP_KEY_SRCLINE] || !function->srcfile || !function->line)
		return true;
	row->srcline = srcfiles_line(source->files, function->srcfile, function->line, arena);
	return row->srcline != NULL;
}

static int compare_values(const struct sp_row *a, const struct sp_row *b)
{
	const struct sp_value *xs = a->values, *ys = b->values;
	int order = 0;
	for (size_t i = 0; !order && i < a->value_count; i++) {
		const struct sp_value *x = &xs[i], *y = &ys[i];
		order = sp_key_is_number(x->key) ? 0 : text_compare(x->text, y->text);
		order = order ? order : (x->number > y->number) - (x->number < y->number);
		order = order ? order : (int)x->level - (int)y->level;
	}
	return order;
}

/* Rows without the key dso may differ only in these. */
static int compare_between(const struct sp_between *a, const struct sp_between *b)
{
	if (!a || !b)
		return (a != NULL) - (b != NULL);
	int order = (a->low > b->low) - (a->low < b->low);
	return order ? order : (a->high > b->high) - (a->high < b->high);
}

int profile_compare_names(const struct sp_row *a, const struct sp_row *b)
{
	int order = text_compare(a->comm, b->comm);
	order = order ? order : text_compare(a->dso, b->dso);
	order = order ? order : text_compare(a->symbol, b->symbol);
	order = order ? order : text_compare(a->function, b->function);
	order = order ? order : text_compare(a->srcpath, b->srcpath);
	order = order ? order : (a->line > b->line) - (a->line < b->line);
	order = order ? order : (a->pid > b->pid) - (a->pid < b->pid);
	order = order ? order : (a->tid > b->tid) - (a->tid < b->tid);
	order = order ? order : (a->cpu > b->cpu) - (a->cpu < b->cpu);
	order = order ? order : (a->address > b->address) - (a->address < b->address);
	order = order ? order : (int)a->level - (int)b->level;
	order = order ? order : instruction_compare(a->instruction, b->instruction);
	order = order ? order : compare_values(a, b);
	order = order ? order : compare_between(a->self_between, b->self_between);
	return order ? order : compare_between(a->total_between, b->total_between);
}

int profile_compare_weights(const struct sp_weight *a, const struct sp_weight *b)
{
	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return (a->samples < b->samples) - (a->samples > b->samples);
}

static int compare_self(const void *a, const void *b)
{
	const struct sp_row *x = a, *y = b;
	int order = profile_compare_weights(&x->self, &y->self);
	order = order ? order : profile_compare_weights(&x->total, &y->total);
	return order ? order : profile_compare_names(x, y);
}

static int compare_total(const void *a, const void *b)
{
	const struct sp_row *x = a, *y = b;
	int order = profile_compare_weights(&x->total, &y->total);
	order = order ? order : profile_compare_weights(&x->self, &y->self);
	return order ? order : profile_compare_names(x, y);
}

/* Sets the row's times, and its shares by them. False when out of memory. */
static bool add_times(const struct profile_source *source, size_t tally, struct arena *arena,
		      struct sp_row *row)
{
	const struct tally_times *of = &source->tallies->times.items[tally];
	struct sp_times *times = arena_alloc(arena, 2 * sizeof(*times));
	if (!times)
		return false;
	times[0] = state_times(&of->self, source->states);
	times[1] = state_times(source->children ? &of->total : &of->self, source->states);
	row->self_times = &times[0];
	row->total_times = &times[1];
	row->self.share = state_share(&of->self, source->states);
	row->total.share = source->children ? state_share(&of->total, source->states) : row->self.share;
	return true;
}

/*
 * Returns the between-run interval of a row's share, by its weights in `batches`. NULL when out of
 * memory.
 */
static const struct sp_between *between_of(const struct profile_source *source,
					   const struct unsampled_weight *unsampled,
					   const struct sp_weight *within,
					   const struct batches *batches, size_t row,
					   struct arena *arena)
{
	struct sp_between *between = arena_alloc(arena, sizeof(*between));
	const struct interval_batches *whole = &source->batches;
	size_t begin = row * whole->count;
	if (!between)
		return NULL;
	*between = (struct sp_between){.low = within->share.low, .high = within->share.high};
	if (begin >= batches->count)
		return between;
	struct sp_share share = within->share;
	between->dispersion = (source->by_run ? interval_of_runs : interval_of_parts)(
		&share, batches->items + begin, whole);
	if (between->dispersion > 0)
		widen(source, unsampled, within->samples, within->weight, &share);
	if (is_python(source, &source->tallies->items[row]))
		widen_python(source, &share.high);
	between->low = fmin(between->low, share.low);
	between->high = fmax(between->high, share.high);
	between->varies = between->dispersion > INTERVAL_VARIES;
	return between;
}

/* Sets the row's between-run intervals. False when out of memory. */
static bool add_between(const struct profile_source *source,
			const struct unsampled_weight *unsampled, size_t tally, struct arena *arena,
			struct sp_row *row)
{
	const struct tallies *tallies = source->tallies;
	row->self_between = between_of(source, unsampled, &row->self, &tallies->self_batches,
				       tally, arena);
	if (!source->children)
		row->total_between = row->self_between;
	else if (tallies->total_batches.count)
		row->total_between = between_of(source, unsampled, &row->total,
						&tallies->total_batches, tally, arena);
	return row->self_between && (row->total_between || !tallies->total_batches.count);
}

bool profile_has_row(const struct profile_source *source, const struct tally *tally)
{
	if (tally->self_samples || tally->self_weight)
		return true;
	/* A function without self samples only has a row if rows have totals. */
	return source->children && (tally->total_samples || tally->total_weight);
}

bool profile_rows(const struct profile_source *source, struct arena *arena,
		  struct sp_profile *profile)
{
	const struct tallies *tallies = source->tallies;
	double n_eff = profile_n_eff(source);
	profile->effective_samples = n_eff;
	struct sp_row *rows = arena_alloc(arena, tallies->count * sizeof(*rows) + 1);
	size_t count = 0;
	if (!rows)
		return false;
	for (size_t i = 0; i < tallies->count; i++) {
		const struct tally *tally = &tallies->items[i];
		if (!profile_has_row(source, tally))
			continue;
		struct sp_row *row = &rows[count++];
		const struct unsampled_weight *unsampled =
			unsampled_of(source, source->groups[tally->group].comm);
		weigh_tally(source, n_eff, unsampled, tally, &row->self, &row->total);
		row->missing_weight =
			weight_add(source->missing, unsampled ? unsampled->missing : 0);
		if (!profile_name_row(source, tally, arena, row) ||
		    (source->states && !add_times(source, i, arena, row)) ||
		    (source->batches.total > 0 && !add_between(source, unsampled, i, arena, row)))
			return false;
	}
	qsort(rows, count, sizeof(*rows),
	      source->children && !source->order_by_self ? compare_total : compare_self);
	profile->rows = rows;
	profile->row_count = count;
	return true;
}
