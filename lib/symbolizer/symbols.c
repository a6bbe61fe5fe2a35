/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Results of a symbolizer: frames and causes of missing names, in the order of the request. */
#include <stdlib.h>
#include "base/cleanup.h"
#include "base/ctx.h"
#include "base/format.h"
#include "symbolizer/lookup.h"

/* Cause of missing names and lines; texts belong to the arena; NULL: none. */
struct problem {
	const char *text, *remedy;
};

struct cached_symbol {
	const struct sp_symbol_frame *frames;
	size_t frame_count;
	const char *file; /* path of the module; NULL: nothing is there */
	uint64_t vaddr;
	struct problem problem;
};

struct sp_symbols {
	struct arena arena;
	struct cached_symbol *entries;
	size_t count;
};

DEFINE_CLEANUP(struct sp_symbols *, sp_symbols_free)

void sp_symbols_free(struct sp_symbols *symbols)
{
	if (!symbols)
		return;
	arena_deinit(&symbols->arena);
	free(symbols->entries);
	free(symbols);
}

size_t sp_symbols_count(const struct sp_symbols *symbols)
{
	return symbols->count;
}

size_t sp_symbols_frame_count(const struct sp_symbols *symbols, size_t index)
{
	return symbols->entries[index].frame_count;
}

const struct sp_symbol_frame *sp_symbols_frame(const struct sp_symbols *symbols, size_t index,
					       size_t depth)
{
	const struct cached_symbol *entry = &symbols->entries[index];
	return depth < entry->frame_count ? &entry->frames[depth] : NULL;
}

const char *sp_symbols_file(const struct sp_symbols *symbols, size_t index, uint64_t *vaddr_ret)
{
	if (vaddr_ret)
		*vaddr_ret = symbols->entries[index].vaddr;
	return symbols->entries[index].file;
}

const char *sp_symbols_problem(const struct sp_symbols *symbols, size_t index, const char **remedy_ret)
{
	if (remedy_ret)
		*remedy_ret = symbols->entries[index].problem.remedy;
	return symbols->entries[index].problem.text;
}

/* -- Frames ---------------------------------------------------------------- */

/* Names the frame of the function that contains the address. A symbol is better than debug information. */
static void name_outermost(const struct symbol *symbol, const struct source_frame *source,
			   struct sp_symbol_frame *frame)
{
	if (!symbol || (!symbol_is_named(symbol) && source && source->name))
		return;
	frame->function = symbol->name;
	frame->raw_name = symbol->from_cfi ? NULL : symbol->raw_name;
	frame->is_range = symbol->from_cfi;
	frame->start = symbol->start;
}

/*
 * Converts starts from offsets to addresses of the request; both grow alike within a segment or a mapping.
 */
static void move_starts(const struct location *location, struct sp_symbol_frame *frames, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (frames[i].start != SP_NO_START)
			frames[i].start += location->ip - location->offset;
}

/* Makes the frames of a place; false when out of memory. */
static bool make_frames(struct sp_symbols *symbols, const struct sp_symbolizer *symbolizer,
			const struct lookup_place *place, struct cached_symbol *entry)
{
	const struct source_frame *source = place->source;
	size_t count = place->symbol || source;
	for (const struct source_frame *up = source; up && up->caller && symbolizer->inlines;
	     up = up->caller)
		count++;
	struct sp_symbol_frame *frames = arena_alloc(&symbols->arena, (count + 1) * sizeof(*frames));
	if (!frames)
		return false;
	for (size_t i = 0; i < count; i++) {
		bool last = i + 1 == count;
		frames[i].start = SP_NO_START;
		frames[i].is_inlined = !last;
		if (source && symbolizer->lines) {
			frames[i].file = source->file;
			frames[i].line = source->line;
		}
		/* Without inlines, the frame has the inner line and the outer function. */
		for (; last && source && source->caller; source = source->caller)
			;
		if (source) {
			frames[i].function = source->name;
			frames[i].raw_name = source->raw_name;
			frames[i].start = source->start;
		}
		source = source ? source->caller : NULL;
	}
	if (count)
		name_outermost(place->symbol, place->source, &frames[count - 1]);
	move_starts(&place->at.location, frames, count);
	entry->frames = frames;
	entry->frame_count = count;
	return true;
}

/* -- Problems -------------------------------------------------------------- */

/* Copies a diagnosis; false when out of memory. */
static bool copy_problem(struct sp_symbols *symbols, const struct diagnosis *from, struct problem *ret)
{
	*ret = (struct problem){0};
	if (!from->text)
		return true;
	ret->text = arena_strdup(&symbols->arena, from->text);
	if (from->remedy)
		ret->remedy = arena_strdup(&symbols->arena, from->remedy);
	return ret->text && (!from->remedy || ret->remedy);
}

/* Notes that nothing executable is at an address; false when out of memory. */
static bool note_unmapped(struct sp_symbols *symbols, const struct sp_space *space, uint64_t ip,
			  struct cached_symbol *entry)
{
	CLEANUP_FREE char *text = format_text("0x%llx is not in the code of %s", (unsigned long long)ip,
					      space->title);
	if (!text)
		return false;
	entry->vaddr = UINT64_MAX;
	entry->problem.text = arena_strdup(&symbols->arena, text);
	entry->problem.remedy = space->pid ? "add the process again if it has mapped more code since" :
					     NULL;
	return entry->problem.text;
}

/* -- Requests -------------------------------------------------------------- */

/* Makes the entries of a module's places; false when out of memory. */
static bool make_entries(struct sp_symbols *symbols, const struct sp_symbolizer *symbolizer,
			 const struct lookup_group *group)
{
	struct problem names, lines;
	if (!copy_problem(symbols, &group->symbols, &names) ||
	    !copy_problem(symbols, &group->lines, &lines))
		return false;
	for (size_t i = 0; i < group->count; i++) {
		const struct lookup_place *place = &group->places[i];
		struct cached_symbol *entry = &symbols->entries[place->index];
		entry->file = place->at.location.module->path;
		entry->vaddr = place->vaddr;
		if (!make_frames(symbols, symbolizer, place, entry))
			return false;
		/* Chooses the problem that explains what is missing in an entry, if any. */
		const struct sp_symbol_frame *frames = entry->frames;
		size_t count = entry->frame_count;
		bool is_named = count && frames[count - 1].function && !frames[count - 1].is_range;
		if (!is_named || group->symbols.problem == RESOLVER_UNPROVEN)
			entry->problem = names;
		else if (symbolizer->lines && !frames[0].file)
			entry->problem = lines.text ? lines : names;
	}
	return true;
}

/* Lists the places of all addresses that have code. */
static struct sp_error *list_places(struct sp_space *space, const uint64_t *addresses, size_t count,
				    struct sp_symbols *symbols, struct lookup *lookup)
{
	for (size_t i = 0; i < count; i++) {
		struct space_place at;
		TRY(space_locate(space, addresses[i], &at));
		if (!at.location.module) {
			NEED(note_unmapped(symbols, space, addresses[i], &symbols->entries[i]));
			continue;
		}
		NEED(vec_append(&lookup->places, (struct lookup_place){.at = at, .index = i}));
	}
	return NULL;
}

struct sp_error *sp_space_symbolize(struct sp_space *space, const uint64_t *addresses, size_t count,
				    struct sp_symbols **ret)
{
	const struct sp_symbolizer *symbolizer = space->symbolizer;
	CLEANUP(lookup_deinit) struct lookup lookup = {.symbolizer = symbolizer};
	CLEANUP(cleanup_sp_symbols_free) struct sp_symbols *symbols = calloc(1, sizeof(*symbols));
	if (symbols)
		symbols->entries = calloc(count + 1, sizeof(*symbols->entries));
	NEED(symbols && symbols->entries);
	symbols->count = count;
	struct sp_error *error = list_places(space, addresses, count, symbols, &lookup);
	if (!error)
		error = lookup_run(&lookup);
	for (size_t i = 0; i < lookup.groups.count && !error; i++)
		if (!make_entries(symbols, symbolizer, &lookup.groups.items[i]))
			error = error_no_memory();
	/* A cancelled search for lines ends early. */
	error = error_first(ctx_check(symbolizer->ctx), error);
	if (!error)
		*ret = take_ptr(symbols);
	return error;
}
