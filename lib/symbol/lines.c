/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "symbol/lines.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "base/vec.h"
#include "symbol/demangle.h"

void known_lines_deinit(struct known_lines *known)
{
	u64map_deinit(&known->by_offset);
	vec_deinit(&known->frames);
	*known = (struct known_lines){0};
}

size_t known_lines_select_new(const struct known_lines *known, const struct source_query *query,
			      uint64_t *ret)
{
	size_t count = 0;
	for (size_t i = 0; i < query->count; i++)
		if (!u64map_find(&known->by_offset, query->offsets[i]))
			ret[count++] = query->offsets[i];
	return count;
}

bool known_lines_add(struct known_lines *known, const uint64_t *offsets, size_t count,
		     const struct source_frames *frames)
{
	known->distinct = frames->distinct;
	for (size_t i = 0; i < count; i++) {
		if (!vec_append(&known->frames, frames->items[i]))
			return false;
		if (!u64map_put(&known->by_offset, offsets[i], (uint32_t)known->frames.count - 1,
				NULL))
			return false;
	}
	return true;
}

void known_lines_get(const struct known_lines *known, const struct source_query *query,
		     struct source_frames *ret)
{
	for (size_t i = 0; i < query->count; i++) {
		const uint32_t *index = u64map_find(&known->by_offset, query->offsets[i]);
		ret->items[i] = index ? known->frames.items[*index] : NULL;
	}
	ret->distinct = known->distinct;
}

/*
 * Largest number of addresses with a copied answer. An answer has more than 200 KB, which many
 * calls for one address each must not keep.
 */
#define SMALL_ANSWER 256

/* Names per thread: with fewer names, a further thread costs more than it saves. */
#define NAMES_A_THREAD 256

void lines_deinit(struct lines *lines)
{
	vec_each (answer, &lines->answers)
		dwarf_answer_free(*answer);
	vec_each (name, &lines->names)
		arena_deinit(name);
	vec_deinit(&lines->answers);
	vec_deinit(&lines->names);
	vec_deinit(&lines->shown);
	u64map_deinit(&lines->shown_of);
	strtab_deinit(&lines->texts);
	arena_deinit(&lines->arena);
	*lines = (struct lines){0};
}

/* A requested address, and the index of its result. */
struct wanted {
	uint64_t vaddr;
	size_t index;
};

DEFINE_ORDER(compare_wanted, struct wanted, vaddr)

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

/* Lists the offsets' vaddrs in ascending order, without offsets that are in no segment. */
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

/* Names to demangle, each once, and the results. */
struct naming {
	struct u64map index_of;  /* address of a raw name -> its index in raws and shown */
	VEC(const char *) raws;
	const char **shown;      /* demangled names; the raw name if not mangled */
	size_t next;             /* index of the next name to demangle */
	struct arena *arenas;    /* one for each thread */
};

static void naming_deinit(struct naming *naming)
{
	u64map_deinit(&naming->index_of);
	vec_deinit(&naming->raws);
	free(naming->shown);
}

/* Lists a raw name for demangling, if it is new. False when out of memory. */
static bool add_raw(struct naming *naming, const char *raw)
{
	bool added;
	if (!u64map_put(&naming->index_of, (uintptr_t)raw, naming->raws.count, &added))
		return false;
	const char **slot = added ? vec_push(&naming->raws) : NULL;
	if (slot)
		*slot = raw;
	return !added || slot;
}

/* Copies the frames of an answer, ordered by number; NULL when out of memory. */
static struct source_frame *copy_frames(struct lines *lines, const struct placement *placement,
					const struct dwarf_answer *answer, size_t count,
					struct naming *naming)
{
	struct source_frame *all = arena_alloc(&lines->arena, answer->frame_count * sizeof(*all));
	CLEANUP_FREE bool *done = calloc(answer->frame_count + 1, sizeof(*done));
	if (!all || !done)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		const struct dwarf_frame *frame = answer->innermost[i];
		for (; frame && !done[frame->number]; frame = frame->caller) {
			done[frame->number] = true;

			/* Copies a frame, except its demangled name. */
			struct source_frame *to = &all[frame->number];
			uint64_t offset;
			*to = (struct source_frame){
				.raw_name = frame->name,
				.file = frame->file,
				.caller = frame->caller ? &all[frame->caller->number] : NULL,
				.start = SOURCE_NO_START,
				.line = frame->line,
				.declared = frame->declared,
			};
			if (frame->start != UINT64_MAX &&
			    offset_of(placement, frame->start, &offset))
				to->start = offset;
			if (frame->name && !add_raw(naming, frame->name))
				return NULL;
		}
	}
	return all;
}

/*
 * Demangles names in one of several threads, because this costs as much as the lookup. Arena i is this
 * thread's.
 */
static void demangle_some(void *arg, unsigned int i)
{
	struct naming *naming = arg;
	size_t count = naming->raws.count;
	while (true) {
		size_t at = __atomic_fetch_add(&naming->next, 32, __ATOMIC_RELAXED);
		if (at >= count)
			return;
		size_t end = at + 32 < count ? at + 32 : count;
		for (; at < end; at++)
			naming->shown[at] = demangle(naming->raws.items[at], &naming->arenas[i]) ?:
					    naming->raws.items[at];
	}
}

/* Demangles all listed names in up to `threads` threads. False when out of memory. */
static bool demangle_all(struct lines *lines, struct naming *naming, unsigned int threads)
{
	size_t useful = naming->raws.count / NAMES_A_THREAD + 1;
	unsigned int hands = useful < threads ? (unsigned int)useful : threads;
	hands += hands == 0;
	naming->shown = calloc(naming->raws.count + 1, sizeof(*naming->shown));
	if (!naming->shown || !vec_reserve(&lines->names, lines->names.count + hands))
		return false;
	naming->arenas = &lines->names.items[lines->names.count];
	for (unsigned int i = 0; i < hands; i++)
		*vec_push(&lines->names) = (struct arena){0};
	parallel_run(hands, demangle_some, naming);
	return true;
}

/* Returns the demangled form of a raw name in lines->texts; NULL when out of memory. */
static const char *shown_name(struct lines *lines, const char *raw)
{
	const char **shown = u64map_item(&lines->shown_of, (uintptr_t)raw, &lines->shown);
	if (shown && !*shown)
		*shown = demangle(raw, &lines->arena) ?: raw;
	return shown ? *shown : NULL;
}

/* Copies the frames' texts, so that their answer can be freed. False when out of memory. */
static bool copy_texts(struct lines *lines, struct source_frame *frames, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct source_frame *frame = &frames[i];
		if (frame->file && !(frame->file = strtab_add(&lines->texts, frame->file)))
			return false;
		if (!frame->raw_name)
			continue;
		frame->raw_name = strtab_add(&lines->texts, frame->raw_name);
		frame->name = frame->raw_name ? shown_name(lines, frame->raw_name) : NULL;
		if (!frame->name)
			return false;
	}
	return true;
}

static void describe_damage(const struct dwarf_answer *answer, struct diagnosis *diagnosis)
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

/* Makes the frames of the last answer. Those of a small one own their texts. NULL: out of memory. */
static struct source_frame *make_frames(struct lines *lines, const struct lines_module *module,
					size_t count, unsigned int threads)
{
	CLEANUP(naming_deinit) struct naming naming = {0};
	const struct dwarf_answer *answer = *vec_last(&lines->answers);
	struct source_frame *all = copy_frames(lines, &module->placement, answer, count, &naming);
	if (!all)
		return NULL;
	if (count <= SMALL_ANSWER)
		return copy_texts(lines, all, answer->frame_count) ? all : NULL;
	if (!demangle_all(lines, &naming, threads))
		return NULL;
	for (size_t i = 0; i < answer->frame_count; i++) {
		const uint32_t *index =
			all[i].raw_name ? u64map_find(&naming.index_of, (uintptr_t)all[i].raw_name)
					: NULL;
		if (index)
			all[i].name = naming.shown[*index];
	}
	return all;
}

struct sp_error *lines_resolve(struct lines *lines, const struct lines_module *module,
			       const struct source_query *query, struct source_frames *ret)
{
	const struct placement *placement = &module->placement;
	CLEANUP_FREE struct wanted *wanted = calloc(query->count + 1, sizeof(*wanted));
	CLEANUP_FREE uint64_t *vaddrs = calloc(query->count + 1, sizeof(*vaddrs));
	CLEANUP_FREE uint64_t *symbols = calloc(query->count + 1, sizeof(*symbols));
	struct dwarf_answer **slot = vec_push(&lines->answers);
	if (slot)
		*slot = NULL;
	NEED(wanted && vaddrs && symbols && slot);
	size_t count = list_wanted(placement, query->offsets, query->count, wanted);

	/*
	 * Sets symbols[i] to the vaddr where the symbol of wanted[i] begins; 0: it has none.
	 * Symbols within another one do not count.
	 */
	uint64_t start = 0, end = 0;
	for (size_t i = 0; i < count; i++) {
		uint64_t offset = query->offsets[wanted[i].index];
		if ((offset >= start && offset < end) ||
		    module->find_symbol(module->arg, offset, &start, &end))
			symbols[i] = wanted[i].vaddr - (offset - start);
	}
	for (size_t i = 0; i < count; i++)
		vaddrs[i] = wanted[i].vaddr;
	const struct dwarf_query wish = {.vaddrs = vaddrs, .symbols = symbols, .count = count,
					 .lines = ret->lines, .threads = query->threads};
	TRY(dwarf_resolve(module->dwarf, &wish, slot));
	describe_damage(*slot, module->diagnosis);
	struct source_frame *all = make_frames(lines, module, count, query->threads);
	NEED(all);

	/* Adds the frames of an answer to the result; their numbers begin at ret->distinct. */
	for (size_t i = 0; i < (*slot)->frame_count; i++)
		all[i].number = ret->distinct + i;
	for (size_t i = 0; i < count; i++)
		if ((*slot)->innermost[i])
			ret->items[wanted[i].index] = &all[(*slot)->innermost[i]->number];
	ret->distinct += (*slot)->frame_count;
	if (count <= SMALL_ANSWER)
		dwarf_answer_free(lines->answers.items[--lines->answers.count]);
	return NULL;
}
