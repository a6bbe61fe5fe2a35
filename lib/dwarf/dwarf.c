/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "dwarf/dwarf.h"

#include <dwarf.h>
#include "base/ctx.h"
#include "base/diagnosis.h"
#include "base/format.h"
#include "base/parallel.h"
#include "dwarf/leb.h"
#include "dwarf/line.h"
#include "dwarf/entry_name.h"
#include "dwarf/entry_ranges.h"
#include "dwarf/split.h"
#include "dwarf/unit.h"
#include "dwarf/walk.h"

/*
 * Finds units by address. .debug_aranges lists their ranges. Units that are not in it (some
 * compilers do not write it) are searched by their own ranges or, without these, by their line
 * tables.
 */

#define UNIT_NONE UINT64_MAX

struct unit_finder {
	struct dwarf_reader *reader;
	struct dwarf_file *file;
	const uint64_t *vaddrs;
	size_t count;
	uint64_t *units_of;
	size_t open;         /* number of vaddrs without a unit yet */
	int64_t work;        /* steps left; only a hostile file exceeds it */
	uint64_t claimant;   /* offset of the unit that has the ranges read now */
	struct u64map listed; /* units that are in .debug_aranges */
};

static void claim(void *arg, uint64_t low, uint64_t high)
{
	struct unit_finder *search = arg;
	const uint64_t *vaddrs = search->vaddrs;
	if (high <= vaddrs[0] || low > vaddrs[search->count - 1] ||
	    !code_map_has(search->file->code, low))
		return;
	size_t first = sorted_below(vaddrs, search->count, , low);
	for (; first < search->count && vaddrs[first] < high && search->work > 0; first++) {
		search->work--;
		if (search->units_of[first] != UNIT_NONE)
			continue;
		search->units_of[first] = search->claimant;
		search->open--;
	}
}

/* Reads a set of .debug_aranges, which has the ranges of one unit. False if it is damaged. */
static bool read_set(struct unit_finder *search, struct cursor *cursor, bool *memory_ret)
{
	uint64_t length;
	uint16_t version;
	uint8_t offset_size, address_size, segment_size;
	const uint8_t *start = cursor->pos;
	*memory_ret = true;
	if (!cursor_length(cursor, &length, &offset_size) || length > cursor_left(cursor))
		return false;
	struct cursor set = *cursor;
	set.end = set.pos + length;
	cursor->pos += length;
	if (!cursor_u16(&set, &version) || version != 2 ||
	    !cursor_unsigned(&set, offset_size, &search->claimant) ||
	    !cursor_u8(&set, &address_size) || !cursor_u8(&set, &segment_size) ||
	    (address_size != 4 && address_size != 8) || segment_size != 0)
		return false;
	size_t pair = 2u * address_size, done = (size_t)(set.pos - start);
	if (!cursor_skip(&set, (pair - done % pair) % pair))
		return false;
	*memory_ret = u64map_put(&search->listed, search->claimant, 0, NULL) != NULL;

	/*
	 * Reads the (address, size) pairs of a set. Size 0 is the end, or code that the linker
	 * removed.
	 */
	uint64_t low, size, high;
	while (cursor_unsigned(&set, address_size, &low) &&
	       cursor_unsigned(&set, address_size, &size))
		if (size > 0 && !__builtin_add_overflow(low, size, &high))
			claim(search, low, high);
	return true;
}

static struct sp_error *read_aranges(struct unit_finder *search)
{
	struct section *section = &search->file->sections[SECTION_ARANGES];
	uint64_t size = section_size(section);
	struct cursor cursor;
	bool memory = true;
	if (size == 0)
		return NULL;
	section_expect(section, size);
	if (!section_cursor(section, 0, size, &cursor))
		return reader_damage(search->reader, section_error(section, 0, "cannot be read"));
	while (memory && cursor_left(&cursor) > 0) {
		uint64_t at = cursor_offset(&cursor);
		if (!read_set(search, &cursor, &memory))
			return reader_damage(search->reader,
					     section_error(section, at, "a damaged set"));
	}
	return memory ? NULL : error_no_memory();
}

/* Finds the code of a unit without ranges by its line table. */
static struct sp_error *query_lines(struct unit_finder *search, const struct unit *unit)
{
	struct line_table table;
	struct sp_error *error = line_table_open(search->reader, unit, &table);
	if (!error)
		error = line_table_extents(search->reader, &table, claim, search);
	line_table_close(&table);
	return error;
}

static struct sp_error *query_unit(struct unit_finder *search, uint64_t offset)
{
	struct unit unit;
	struct sp_error *error = unit_read_header(search->file, offset, &unit);
	if (error)
		return reader_damage(search->reader, error);
	if (unit.type == DW_UT_type || unit.type == DW_UT_partial)
		return NULL;
	error = unit_read_top(search->reader, &unit);
	if (error || !unit.top_known ||
	    (unit.type != DW_UT_compile && unit.type != DW_UT_skeleton))
		return error;
	search->claimant = offset;
	bool said = unit.ranges.form || (unit.low_pc_value.form && unit.high_pc.form);
	if (!said)
		return unit.has_lines ? query_lines(search, &unit) : NULL;
	struct entry_ranges ranges;
	uint64_t low, high;
	ranges_begin(&unit, &unit.low_pc_value, &unit.high_pc, &unit.ranges, &ranges);
	while (search->work-- > 0 && ranges_next(&ranges, &low, &high))
		claim(search, low, high);
	return NULL;
}

static struct sp_error *query_units(struct unit_finder *search)
{
	struct dwarf_file *file = search->file;
	struct sp_error *damage;
	NEED(dwarf_file_index(file, &damage));
	struct sp_error *error = reader_damage(search->reader, damage);
	for (size_t i = 0; !error && i < file->units.count && search->open > 0; i++)
		if (!u64map_find(&search->listed, file->units.items[i]))
			error = query_unit(search, file->units.items[i]);
	return error;
}

/*
 * Sets units_of[i] to the offset of the unit that contains vaddrs[i] (ascending), or UNIT_NONE.
 * Ranges that begin outside of file->code are ignored.
 */
static struct sp_error *unit_index_find(struct dwarf_reader *reader, struct dwarf_file *file,
				 const uint64_t *vaddrs, size_t count, uint64_t *units_of)
{
	for (size_t i = 0; i < count; i++)
		units_of[i] = UNIT_NONE;
	if (count == 0)
		return NULL;
	struct unit_finder search = {
		.reader = reader,
		.file = file,
		.vaddrs = vaddrs,
		.count = count,
		.units_of = units_of,
		.open = count,
		.work = 65536 + 256 * (int64_t)count +
			(int64_t)(file->sections[SECTION_ARANGES].size +
				  file->sections[SECTION_RANGES].size +
				  file->sections[SECTION_RNGLISTS].size),
	};
	struct sp_error *error = read_aranges(&search);
	if (!error && search.open > 0)
		error = query_units(&search);
	u64map_deinit(&search.listed);
	return error;
}

/* Bytes of entries for which one more thread is worth its cost; a unit counts as at least a quarter. */
#define BYTES_A_THREAD ((uint64_t)256 << 10)
#define BYTES_A_UNIT (BYTES_A_THREAD / 4)
/* Bytes of .debug_str that are read for an address: about a page. */
#define NAME_BYTES 4096

struct dwarf {
	struct dwarf_options options;
	struct dwarf_file *file, *alt, *package;
	uint32_t next_number; /* next file number */
};

bool dwarf_exists(const struct image *image)
{
	return section_exists(image, SECTION_INFO);
}

void dwarf_free(struct dwarf *dwarf)
{
	if (!dwarf)
		return;
	dwarf_file_free(dwarf->file);
	dwarf_file_free(dwarf->alt);
	dwarf_file_free(dwarf->package);
	free(dwarf);
}

/*
 * Opens the file into which DWZ moved shared debug information, if there is one. If its
 * information is damaged, the file is ignored.
 */
static struct sp_error *open_alt(struct dwarf *dwarf)
{
	struct image *image = NULL;
	struct sp_error *error =
		debugfile_alt(&dwarf->options.places, dwarf->file->image, &image);
	if (error || !image)
		return error;
	error = dwarf_file_new(dwarf->options.ctx, image, false, ++dwarf->next_number, &dwarf->alt);
	dwarf->file->alt = dwarf->alt;
	return error_if_no_memory(error);
}

/* Opens "PATH.dwp" of an image if it exists and no package is open yet. */
static struct sp_error *open_package(struct dwarf *dwarf, const struct image *of)
{
	struct image *image = NULL;
	if (dwarf->package || of->memory)
		return NULL;
	CLEANUP_FREE char *name = format_text("%s.dwp", image_path_in_root(of));
	NEED(name);
	struct sp_error *error = image_open_in(of->root, name, &image);
	if (!error)
		error = dwarf_file_new(dwarf->options.ctx, image, true, ++dwarf->next_number,
				       &dwarf->package);
	return error_if_no_memory(error);
}

struct sp_error *dwarf_open(struct image *image, const struct dwarf_options *options,
			    struct dwarf **ret)
{
	CLEANUP(cleanup_image_free) struct image *taken = image;
	CLEANUP(cleanup_dwarf_free) struct dwarf *dwarf = calloc(1, sizeof(*dwarf));
	NEED(dwarf);
	dwarf->options = *options;
	TRY(dwarf_file_new(options->ctx, take_ptr(taken), false, ++dwarf->next_number,
			   &dwarf->file));
	if (options->runtime && !image->code.by_sections)
		dwarf->file->code = &options->runtime->code;
	TRY(open_alt(dwarf));
	TRY(open_package(dwarf, image));
	if (options->runtime)
		TRY(open_package(dwarf, options->runtime));
	*ret = take_ptr(dwarf);
	return NULL;
}

/* The addresses of one unit: elements [first, end) of job.order. */
struct unit_task {
	uint64_t unit;
	size_t first, end;
};

struct dwarf_lookup {
	struct dwarf *dwarf;
	const struct dwarf_query *query;
	const uint64_t *units_of;
	uint32_t *order; /* indices of vaddrs, sorted by unit */
	VEC(struct unit_task) tasks;
	size_t next; /* index of the next task to start */
	VEC(struct dwarf_reader *) readers; /* one for each thread */
	struct dwarf_answer *answer;
	size_t owned;  /* number of addresses in `order`: those in a unit */
	uint64_t bytes; /* size of all tasks' units */
	uint64_t worth; /* like `bytes`, but at least BYTES_A_UNIT for each: a skeleton is small */
	bool no_memory;
};

/* State of resolving the addresses of one unit. */
struct unit_work {
	struct dwarf_reader *reader;
	const struct unit *unit; /* unit of the entries */
	struct line_table lines;
	bool lines_wanted;
	struct line_query *queries;
	struct function_node **nodes;
	size_t count;
};

/*
 * Returns a frame of `node` (NULL: unknown function) at a line: a new one without caller or, if lines
 * are not needed, the node's last frame if that has the same file.
 */
static struct sp_error *frame_at(struct unit_work *work, struct function_node *node, uint64_t file,
				  uint32_t line, struct dwarf_frame **ret)
{
	struct dwarf_reader *reader = work->reader;
	if (!work->lines_wanted && node && node->recent && node->recent_file == file) {
		*ret = node->recent;
		return NULL;
	}
	struct dwarf_frame *frame = arena_alloc(&reader->frames, sizeof(*frame));
	struct dwarf_frame **slot = frame ? vec_push(&reader->list) : NULL;
	struct sp_error *error = slot ? NULL : error_no_memory();
	if (!error && node && !node->named) {
		error = name_of_entry(reader, work->unit, node->file, node->entry, &node->name);
		node->named = true;
	}
	if (error)
		return error;
	*slot = *ret = frame;
	if (node) {
		node->recent = frame;
		node->recent_file = file;
	}
	*frame = (struct dwarf_frame){
		.name = node ? node->name.name : NULL,
		.declared = node ? node->name.declared : 0,
		.start = node ? node->start : UINT64_MAX,
		.line = line,
	};
	return line_table_path(reader, &work->lines, file, &frame->file);
}

/*
 * Makes the frames of one address: of the innermost function, and of the functions that it is inlined
 * into, unless these frames exist already.
 */
static struct sp_error *frame_of(struct unit_work *work, size_t i, const struct dwarf_frame **ret)
{
	const struct line_query *query = &work->queries[i];
	struct function_node *node = work->nodes[i];
	struct dwarf_frame *frame;
	if (!node && !query->found)
		return NULL;
	struct sp_error *error = frame_at(work, node, query->found ? query->file : UINT64_MAX,
					   query->found ? query->line : 0, &frame);
	*ret = error ? NULL : frame;
	for (; !error && node && node->parent; node = node->parent) {
		bool known = node->caller;
		if (!known)
			error = frame_at(work, node->parent, node->call_file, node->call_line,
					  &node->caller);
		frame->caller = node->caller;
		frame = node->caller;
		if (known)
			break;
	}
	return error;
}

/* Whether query i has the same frames as the one before it: the same node, file and line. */
static bool same_as_before(const struct unit_work *work, size_t i)
{
	const struct line_query *a = &work->queries[i - 1], *b = &work->queries[i];
	return work->nodes[i] == work->nodes[i - 1] && a->found == b->found &&
	       a->file == b->file && (a->line == b->line || !work->lines_wanted);
}

static struct sp_error *answer_all(struct dwarf_lookup *job, const struct unit_task *task,
				   struct unit_work *work)
{
	const struct dwarf_frame **innermost = job->answer->innermost;
	for (size_t i = 0; i < work->count; i++) {
		const struct dwarf_frame **ret = &innermost[job->order[task->first + i]];
		if (i > 0 && same_as_before(work, i)) {
			*ret = innermost[job->order[task->first + i - 1]];
			continue;
		}
		TRY(frame_of(work, i, ret));
	}
	return NULL;
}

static struct sp_error *resolve_unit(struct dwarf_lookup *job, const struct unit_task *task,
				     struct unit_work *work, const struct unit *skeleton)
{
	CLEANUP(cleanup_dwarf_file_free) struct dwarf_file *object = NULL;
	struct unit unit = *skeleton;
	struct split_places places = {
		.symfs = job->dwarf->options.places.symfs,
		.package = job->dwarf->package,
		.next_number = &job->dwarf->next_number,
	};
	if (split_is_skeleton(skeleton))
		TRY(split_open(work->reader, &places, skeleton, &object, &unit));
	work->unit = &unit;
	reader_hold(work->reader, &unit);
	struct sp_error *error =
		walk_unit(work->reader, &unit, work->queries, work->count, work->nodes);
	if (!error)
		error = line_table_open(work->reader, skeleton, &work->lines);
	if (!error)
		error = line_table_run(work->reader, &work->lines, work->queries, work->count);
	/* A row before the symbol is another function's, but cold parts may begin without a row. */
	for (size_t i = 0; i < work->count; i++)
		work->queries[i].found &= work->queries[i].near || work->nodes[i];
	if (!error)
		error = answer_all(job, task, work);
	line_table_close(&work->lines);
	arena_deinit(&work->reader->nodes);
	return error;
}

static struct sp_error *do_task(struct dwarf_lookup *job, const struct unit_task *task,
				struct dwarf_reader *reader)
{
	struct unit_work work = {.reader = reader, .count = task->end - task->first,
				 .lines_wanted = job->query->lines};
	CLEANUP_FREE struct line_query *queries = calloc(work.count, sizeof(*queries));
	CLEANUP_FREE struct function_node **nodes = calloc(work.count, sizeof(*nodes));
	struct unit skeleton;
	NEED(queries && nodes);
	work.queries = queries;
	work.nodes = nodes;
	for (size_t i = 0; i < work.count; i++) {
		uint32_t from = job->order[task->first + i];
		queries[i].vaddr = job->query->vaddrs[from];
		queries[i].symbol = job->query->symbols[from];
	}
	struct sp_error *error = unit_read_header(job->dwarf->file, task->unit, &skeleton);
	if (error)
		return reader_damage(reader, error);
	error = unit_read_top(reader, &skeleton);
	if (error || !skeleton.top_known)
		return error;
	return resolve_unit(job, task, &work, &skeleton);
}

/* Does tasks of a struct dwarf_lookup, in one of its threads, until none is left. */
static void do_tasks(void *arg, unsigned int i)
{
	struct dwarf_lookup *job = arg;
	while (!__atomic_load_n(&job->no_memory, __ATOMIC_RELAXED) &&
	       !ctx_cancelled(job->dwarf->options.places.ctx)) {
		size_t next = __atomic_fetch_add(&job->next, 1, __ATOMIC_RELAXED);
		if (next >= job->tasks.count)
			return;
		struct sp_error *error =
			do_task(job, &job->tasks.items[next], job->readers.items[i]);
		if (error)
			__atomic_store_n(&job->no_memory, true, __ATOMIC_RELAXED);
		sp_error_free(error);
	}
}

/* Compares indices of vaddrs by unit, then by address. */
static int compare_order(const void *a, const void *b, void *arg)
{
	const struct dwarf_lookup *job = arg;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	if (job->units_of[i] != job->units_of[j])
		return job->units_of[i] < job->units_of[j] ? -1 : 1;
	return i < j ? -1 : i > j;
}

/*
 * Adds the unit's size to the total. False if the total exceeds the section's size: units overlap,
 * because a damaged .debug_aranges refers to places inside units. Their walk would cost too much.
 */
static bool weigh(struct dwarf_lookup *job, uint64_t unit)
{
	struct dwarf_file *file = job->dwarf->file;
	uint64_t end, size = 0;
	if (dwarf_file_unit_end(file, unit, &end))
		size = end - unit;
	if (job->bytes + size > section_size(&file->sections[SECTION_INFO]))
		return false;
	job->bytes += size;
	job->worth += size < BYTES_A_UNIT ? BYTES_A_UNIT : size;
	return true;
}

/* Notes overlapping units as damage; this unit and later ones are not read. False: out of memory. */
static bool note_overlap(struct dwarf_lookup *job, uint64_t unit)
{
	const struct section *info = &job->dwarf->file->sections[SECTION_INFO];
	struct sp_error *error = reader_damage(job->readers.items[0],
					       section_error(info, unit, "units overlap"));
	sp_error_free(error);
	return !error;
}

static bool make_tasks(struct dwarf_lookup *job, size_t count)
{
	size_t owned = 0;
	job->order = calloc(count, sizeof(*job->order));
	if (!job->order)
		return false;
	for (size_t i = 0; i < count; i++)
		if (job->units_of[i] != UNIT_NONE)
			job->order[owned++] = (uint32_t)i;
	job->owned = owned;
	qsort_r(job->order, owned, sizeof(*job->order), compare_order, job);
	for (size_t i = 0; i < owned; i++) {
		uint64_t unit = job->units_of[job->order[i]];
		struct unit_task *task = job->tasks.count ? vec_last(&job->tasks) : NULL;
		if (!task || task->unit != unit) {
			if (!weigh(job, unit))
				return note_overlap(job, unit);
			task = vec_push(&job->tasks);
			if (!task)
				return false;
			*task = (struct unit_task){.unit = unit, .first = i};
		}
		task->end = i + 1;
	}
	return true;
}

static bool add_readers(struct dwarf_lookup *job, size_t wanted)
{
	while (job->readers.count < wanted) {
		struct dwarf_reader *reader = reader_new(job->dwarf->file, job->answer->texts);
		struct dwarf_reader **slot = reader ? vec_push(&job->readers) : NULL;
		if (!slot) {
			reader_free(reader);
			return false;
		}
		*slot = reader;
	}
	return true;
}

void dwarf_answer_free(struct dwarf_answer *answer)
{
	if (!answer)
		return;
	for (unsigned int i = 0; i < answer->arena_count; i++)
		arena_deinit(&answer->arenas[i]);
	if (answer->texts)
		shared_strings_deinit(answer->texts);
	free(answer->texts);
	free(answer->arenas);
	free(answer->innermost);
	sp_error_free(answer->damage);
	free(answer);
}

static struct dwarf_answer *new_answer(size_t count)
{
	CLEANUP(cleanup_dwarf_answer_free) struct dwarf_answer *answer =
		calloc(1, sizeof(*answer));
	if (!answer)
		return NULL;
	answer->innermost = calloc(count + 1, sizeof(struct dwarf_frame *));
	answer->texts = malloc(sizeof(*answer->texts));
	if (answer->texts)
		shared_strings_init(answer->texts);
	return answer->innermost && answer->texts ? take_ptr(answer) : NULL;
}

/* Adds damage of unreadable sections, because their readers treated them as empty. */
static void sum_broken(const struct dwarf_file *file, struct dwarf_answer *answer)
{
	for (int i = 0; file && i < SECTION_COUNT; i++) {
		if (!file->sections[i].broken)
			continue;
		answer->damages++;
		if (!answer->damage)
			answer->damage = section_error(&file->sections[i], 0,
						       "cannot be read, or unpacked");
	}
}

/* Moves the readers' results to the answer; false when out of memory. */
static bool collect(const struct dwarf_lookup *job)
{
	const struct dwarf *dwarf = job->dwarf;
	struct dwarf_answer *answer = job->answer;
	answer->arenas = calloc(job->readers.count, sizeof(*answer->arenas));
	if (!answer->arenas)
		return false;
	sum_broken(dwarf->file, answer);
	sum_broken(dwarf->alt, answer);
	sum_broken(dwarf->package, answer);
	vec_each (item, &job->readers) {
		struct dwarf_reader *reader = *item;
		answer->damages += reader->damages;
		if (!answer->damage)
			answer->damage = take_ptr(reader->damage);
		for (size_t f = 0; f < reader->list.count; f++)
			reader->list.items[f]->number = (uint32_t)answer->frame_count++;
		answer->arenas[answer->arena_count++] = reader->frames;
		reader->frames = (struct arena){0};
	}
	return true;
}

static struct sp_error *resolve(struct dwarf_lookup *job, uint64_t *units_of)
{
	struct dwarf *dwarf = job->dwarf;
	size_t count = job->query->count;
	unsigned int threads = job->query->threads;
	if (count)
		dwarf_file_unpack(dwarf->file, threads);
	/* One reader finds the units; their size determines the number of readers (threads). */
	NEED(add_readers(job, 1));
	TRY(unit_index_find(job->readers.items[0], dwarf->file, job->query->vaddrs, count,
			    units_of));
	NEED(make_tasks(job, count));
	uint64_t useful = job->worth / BYTES_A_THREAD + 1;
	if (useful > job->tasks.count)
		useful = job->tasks.count;
	NEED(add_readers(job, useful < threads ? useful : threads));

	/*
	 * Hints which sections will be read mostly: large reads then replace many small ones. The
	 * share of units that are needed is estimated, and each address needs a name or two
	 * anywhere in .debug_str.
	 */
	struct section *sections = job->dwarf->file->sections;
	/* Lines and ranges are assumed to be read in the same proportion as entries. */
	double share = (double)job->bytes / ((double)sections[SECTION_INFO].size + 1);
	const enum section_id others[] = {SECTION_LINE, SECTION_RANGES, SECTION_RNGLISTS,
					  SECTION_ADDR};
	for (size_t i = 0; i < count_of(others); i++)
		section_expect(&sections[others[i]],
			       (uint64_t)(share * (double)sections[others[i]].size));
	section_expect(&sections[SECTION_STR], job->owned * NAME_BYTES);
	parallel_run((unsigned int)job->readers.count, do_tasks, job);
	return !job->no_memory && collect(job) ? NULL : error_no_memory();
}

struct sp_error *dwarf_resolve(struct dwarf *dwarf, const struct dwarf_query *query,
			       struct dwarf_answer **ret)
{
	CLEANUP(cleanup_dwarf_answer_free) struct dwarf_answer *answer = new_answer(query->count);
	CLEANUP_FREE uint64_t *units_of = calloc(query->count + 1, sizeof(*units_of));
	NEED(answer && units_of);
	struct dwarf_lookup job = {
		.dwarf = dwarf, .query = query, .units_of = units_of, .answer = answer};
	struct sp_error *error = resolve(&job, units_of);
	vec_each (reader, &job.readers)
		reader_free(*reader);
	vec_deinit(&job.readers);
	free(job.order);
	vec_deinit(&job.tasks);
	if (!error)
		*ret = take_ptr(answer);
	return error;
}
