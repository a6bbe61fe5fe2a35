/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "symbol/lines.h"

#include <string.h>
#include "base/cleanup.h"
#include "base/parallel.h"
#include "base/vec.h"
#include "symbol/demangle.h"

/* So many names are worth a thread. */
#define NAMES_A_THREAD 256

void lines_deinit(struct lines *lines)
{
	vec_deinit(&lines->raws);
	vec_deinit(&lines->shown);
	u64map_deinit(&lines->shown_of);
	strtab_deinit(&lines->strings);
	arena_deinit(&lines->arena);
}

/* An address that is asked for, and where its answer goes. */
struct wanted {
	uint64_t vaddr;
	size_t index;
};

static int compare_wanted(const void *a, const void *b)
{
	const struct wanted *x = a, *y = b;
	return u64_order(x->vaddr, y->vaddr);
}

static bool vaddr_of(const struct placement *placement, uint64_t offset, uint64_t *ret)
{
	if (placement->runtime)
		return image_vaddr(placement->runtime, offset, ret);
	*ret = offset - placement->shift;
	return true;
}

static bool offset_of(const struct placement *placement, uint64_t vaddr, uint64_t *ret)
{
	if (placement->runtime)
		return image_file_offset(placement->runtime, vaddr, ret);
	*ret = vaddr + placement->shift;
	return true;
}

/* By ascending vaddr; what lies in no segment is left out. */
static size_t list_wanted(const struct placement *placement, const uint64_t *offsets, size_t count,
			  struct wanted *wanted)
{
	size_t found = 0;
	bool sorted = true;
	for (size_t i = 0; i < count; i++) {
		uint64_t vaddr;
		if (!vaddr_of(placement, offsets[i], &vaddr))
			continue;
		sorted = sorted && (found == 0 || wanted[found - 1].vaddr <= vaddr);
		wanted[found++] = (struct wanted){.vaddr = vaddr, .index = i};
	}
	if (!sorted)
		qsort(wanted, found, sizeof(*wanted), compare_wanted);
	return found;
}

/* Notes a name that is to be demangled, if it is new; false when out of memory. */
static bool add_raw(struct lines *lines, const char *raw)
{
	bool added;
	if (!u64map_put(&lines->shown_of, (uintptr_t)raw, (uint32_t)lines->raws.count, &added))
		return false;
	const char **slot = added ? vec_push(&lines->raws) : NULL;
	if (slot)
		*slot = raw;
	return !added || slot;
}

static bool copy_frame(struct lines *lines, const struct placement *placement,
		       const struct dwarf_frame *from, struct source_frame *to)
{
	*to = (struct source_frame){
		.raw_name = from->name ? strtab_add(&lines->strings, from->name) : NULL,
		.file = from->file ? strtab_add(&lines->strings, from->file) : NULL,
		.line = from->line,
		.inlined = from->inlined,
		.start = SOURCE_NO_START,
	};
	uint64_t offset;
	if (from->start != UINT64_MAX && offset_of(placement, from->start, &offset))
		to->start = offset;
	if ((from->name && !to->raw_name) || (from->file && !to->file))
		return false;
	return !to->raw_name || add_raw(lines, to->raw_name);
}

/* All but the names for people. Addresses that share an answer share its copy. */
static bool copy_frames(struct lines *lines, const struct placement *placement,
			const struct dwarf_answer *answer, const struct wanted *wanted,
			size_t count, struct source_frames *ret)
{
	for (size_t i = 0; i < count; i++) {
		const struct dwarf_frames *from = &answer->frames[i];
		struct source_frames *to = &ret[wanted[i].index];
		if (i > 0 && from->count && from->items == answer->frames[i - 1].items) {
			*to = ret[wanted[i - 1].index];
			continue;
		}
		if (from->count == 0)
			continue;
		struct source_frame *items =
			arena_alloc(&lines->arena, from->count * sizeof(*items));
		if (!items)
			return false;
		for (size_t f = 0; f < from->count; f++)
			if (!copy_frame(lines, placement, &from->items[f], &items[f]))
				return false;
		*to = (struct source_frames){.items = items, .count = from->count};
	}
	return true;
}

/* Demangling is as costly as all else: it is done by several hands, each with its arena. */
struct naming {
	struct lines *lines;
	size_t first;        /* of what is new */
	size_t next;
	unsigned int hands;
	struct arena *arenas;
	const char **shown;
};

static void demangle_some(void *arg, unsigned int i)
{
	struct naming *naming = arg;
	size_t count = naming->lines->raws.count - naming->first;
	while (true) {
		size_t at = __atomic_fetch_add(&naming->next, 32, __ATOMIC_RELAXED);
		if (at >= count)
			return;
		size_t end = at + 32 < count ? at + 32 : count;
		for (; at < end; at++)
			naming->shown[at] = demangle(
				naming->lines->raws.items[naming->first + at], &naming->arenas[i]);
	}
}

static bool keep_shown(struct naming *naming)
{
	struct lines *lines = naming->lines;
	for (size_t i = naming->first; i < lines->raws.count; i++) {
		const char *shown = naming->shown[i - naming->first];
		const char *kept = shown ? strtab_add(&lines->strings, shown)
					 : lines->raws.items[i];
		const char **slot = kept ? vec_push(&lines->shown) : NULL;
		if (!slot)
			return false;
		*slot = kept;
	}
	return true;
}

static bool demangle_new(struct lines *lines, unsigned int threads)
{
	struct naming naming = {.lines = lines, .first = lines->shown.count};
	size_t count = lines->raws.count - naming.first;
	if (count == 0)
		return true;
	size_t useful = count / NAMES_A_THREAD + 1;
	naming.hands = useful < threads ? (unsigned int)useful : threads;
	naming.hands += naming.hands == 0;
	CLEANUP_FREE struct arena *arenas = calloc(naming.hands, sizeof(*arenas));
	CLEANUP_FREE const char **shown = calloc(count, sizeof(*shown));
	if (!arenas || !shown)
		return false;
	naming.arenas = arenas;
	naming.shown = shown;
	parallel_run(naming.hands, demangle_some, &naming);
	bool ok = keep_shown(&naming);
	for (unsigned int i = 0; i < naming.hands; i++)
		arena_deinit(&arenas[i]);
	return ok;
}

static void name_frames(const struct lines *lines, struct source_frames *frames, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct source_frame *items = (struct source_frame *)(uintptr_t)frames[i].items;
		for (size_t f = 0; f < frames[i].count; f++) {
			const uint32_t *index =
				items[f].raw_name && !items[f].name
					? u64map_find(&lines->shown_of, (uintptr_t)items[f].raw_name)
					: NULL;
			if (index)
				items[f].name = lines->shown.items[*index];
		}
	}
}

static void say_damage(const struct dwarf_answer *answer, struct diagnosis *diagnosis)
{
	if (!answer->damage)
		return;
	const char *remedy = sp_error_remedy(answer->damage);
	enum resolver_problem problem = sp_error_code(answer->damage) == SP_ERROR_NOT_FOUND
						? RESOLVER_NO_SYMBOLS
						: RESOLVER_DAMAGED_FILE;
	if (answer->damages > 1)
		diagnosis_set(diagnosis, problem, remedy, "%s (and %llu more)",
			      sp_error_message(answer->damage),
			      (unsigned long long)answer->damages - 1);
	else
		diagnosis_set(diagnosis, problem, remedy, "%s", sp_error_message(answer->damage));
}

struct sp_error *lines_resolve(struct lines *lines, struct dwarf *dwarf,
			       const struct placement *placement, const uint64_t *offsets, size_t count,
			       unsigned int threads, struct diagnosis *diagnosis,
			       struct source_frames *ret)
{
	CLEANUP_FREE struct wanted *wanted = calloc(count ? count : 1, sizeof(*wanted));
	CLEANUP_FREE uint64_t *vaddrs = calloc(count ? count : 1, sizeof(*vaddrs));
	CLEANUP(cleanup_dwarf_answer_free) struct dwarf_answer *answer = NULL;
	if (!wanted || !vaddrs)
		return error_no_memory();
	size_t found = list_wanted(placement, offsets, count, wanted);
	for (size_t i = 0; i < found; i++)
		vaddrs[i] = wanted[i].vaddr;
	struct sp_error *error = dwarf_resolve(dwarf, vaddrs, found, threads, &answer);
	if (error)
		return error;
	say_damage(answer, diagnosis);
	if (!copy_frames(lines, placement, answer, wanted, found, ret) ||
	    !demangle_new(lines, threads))
		return error_no_memory();
	name_frames(lines, ret, count);
	return NULL;
}
