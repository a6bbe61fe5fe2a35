/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <sprof/annotation.h>

#include <assert.h>
#include <sprof/private/instruction.h>
#include <stdlib.h>
#include <string.h>
#include "annotation/code_sweep.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/sized.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "machine/module.h"
#include "profile/function.h"
#include "symbol/resolver.h"

/* Largest function that is read. */
#define CODE_MAX ((uint64_t)64 << 20)

struct sp_annotation {
	struct sp_annotation_info info;
	VEC(struct sp_code_instruction) instructions;
	uint8_t *code;
	struct strtab texts;
	struct arena arena; /* places */
};

/* A row of the function. */
struct sampled_code {
	const struct sp_row *row;
	uint64_t offset; /* in the module */
};

/* Work on a new annotation. */
struct annotating {
	const struct sp_annotation_options *options;
	struct sp_annotation *annotation;
	const struct instruction *of;	  /* the hottest one */
	VEC(struct sampled_code) sampled; /* ascending */
	uint64_t *distances;		  /* distances of `sampled` from the function's begin */
	uint64_t start, size;		  /* range of the function in the module */
	struct code_extents extents;
};

DEFINE_CLEANUP(struct sp_annotation *, sp_annotation_free)

static void annotating_deinit(struct annotating *work)
{
	vec_deinit(&work->sampled);
	vec_deinit(&work->extents);
	free(work->distances);
}

void sp_annotation_free(struct sp_annotation *annotation)
{
	if (!annotation)
		return;
	vec_deinit(&annotation->instructions);
	free(annotation->code);
	strtab_deinit(&annotation->texts);
	arena_deinit(&annotation->arena);
	free(annotation);
}

static const struct instruction *instruction_of(const struct sp_row *row)
{
	return (const struct instruction *)row->instruction;
}

static bool have_one_name(const struct sp_row *a, const struct sp_row *b)
{
	return !strcmp(a->symbol, b->symbol) && !strcmp(a->dso, b->dso) && a->level == b->level;
}

static uint64_t start_of(const struct sp_row *row)
{
	return row->instruction->offset - row->instruction->distance;
}

static int compare_sampled(const void *a, const void *b)
{
	const struct sampled_code *x = a, *y = b;
	return u64_order(x->offset, y->offset);
}

/* Lists the function's rows, and their sums. */
static struct sp_error *collect_rows(struct annotating *work, const struct sp_profile *profile,
				     const struct sp_row *row)
{
	struct sp_annotation_info *info = &work->annotation->info;
	for (size_t i = 0; i < profile->row_count; i++) {
		const struct sp_row *one = sp_profile_row(profile, i);
		if (!have_one_name(one, row))
			continue;
		if (!one->instruction || start_of(one) != start_of(row)) {
			info->other_samples += one->self.samples;
			continue;
		}
		struct sampled_code *sampled = vec_push(&work->sampled);
		NEED(sampled);
		*sampled = (struct sampled_code){one, one->instruction->offset};
		info->samples += one->self.samples;
		info->weight += one->self.weight;
		if (one->self.weight > info->row->self.weight)
			info->row = one;
	}
	vec_sort(&work->sampled, compare_sampled);
	work->distances = calloc(work->sampled.count, sizeof(*work->distances));
	NEED(work->distances);
	for (size_t i = 0; i < work->sampled.count; i++)
		work->distances[i] = work->sampled.items[i].offset - work->start;
	return NULL;
}

#define JITDUMP                                                                                   \
	"record again with a jitdump: sprof record node --perf-prof FILE, or "                     \
	"python3 -X perf_jit FILE (3.13), or java -agentpath:libperf-jvmti.so"

/* Returns the error for code that is not here. */
static struct sp_error *refuse(const struct annotating *work)
{
	static const struct {
		const char *reason, *remedy;
	} reasons[] = {
		[MODULE_FILE] = {"the recorded file is not here",
				 "use --symfs DIR, or record again with --store-code"},
		[MODULE_VDSO] = {"the recorded vdso is not here", NULL},
		[MODULE_ANONYMOUS] = {"it was made at run time, and no jitdump has it",
				      JITDUMP},
		[MODULE_KERNEL] = {"its file is not here, and /proc/kcore may not be read",
				   "use --vmlinux FILE of the recorded kernel"},
		[MODULE_KERNEL_MODULE] = {"it is not loaded, or /proc/kcore may not be read", NULL},
		[MODULE_JIT] = {"it was made at run time, and no jitdump has it",
				JITDUMP},
		[MODULE_PYTHON] = {"Python functions have no machine code of their own", NULL},
		[MODULE_KERNEL_CODE] = {"the code of BPF programs is not read", NULL},
	};
	const struct module *module = work->of->module;
	const char *text = NULL, *remedy = NULL, *name = work->annotation->info.row->symbol;
	enum resolver_problem problem =
		resolver_problem(work->of->resolver, module, &text, &remedy);
	if (!text || problem == RESOLVER_UNPROVEN || problem == RESOLVER_NO_SYMBOLS) {
		text = reasons[module->kind].reason;
		remedy = reasons[module->kind].remedy;
	}
	struct sp_error *error =
		error_new(SP_ERROR_NOT_FOUND, "cannot show the code of %s: %s", name, text);
	return remedy ? error_set_remedy(error, "%s", remedy) : error;
}

/* Sets the function's range in its module, and reads its code. */
static struct sp_error *read_function(struct annotating *work)
{
	struct sp_annotation *annotation = work->annotation;
	const struct instruction *of = work->of;
	const struct location location = {
		.module = of->module, .offset = work->start, .pid = of->pid};
	uint64_t last = work->distances[work->sampled.count - 1];
	/* The symbol may have no size. */
	work->size = of->symbol->size > last ? of->symbol->size : last + SP_INSTRUCTION_MAX;
	if (work->size > CODE_MAX)
		return error_new(
			SP_ERROR_UNSUPPORTED, "%s has %llu MB of code; at most %llu MB are shown",
			annotation->info.row->symbol, (unsigned long long)(work->size >> 20),
			(unsigned long long)(CODE_MAX >> 20));
	annotation->code = malloc(work->size);
	NEED(annotation->code);
	uint16_t machine;
	if (!resolver_read_code(of->resolver, &location, 0, work->size, annotation->code, &machine))
		return refuse(work);
	annotation->info.machine = machine;
	annotation->info.bytes = work->size;
	return NULL;
}

static struct sp_error *list_instructions(struct annotating *work)
{
	struct sp_annotation *annotation = work->annotation;
	bool all = work->options->whole || work->size <= SP_ANNOTATION_LARGE;
	const struct code_sweep sweep = {
		.code = annotation->code,
		.size = work->size,
		.machine = annotation->info.machine,
		.samples = work->distances,
		.sample_count = work->sampled.count,
		.near = all ? UINT64_MAX : SP_ANNOTATION_NEAR,
	};
	NEED(code_sweep_run(&sweep, &work->extents));
	NEED(vec_reserve(&annotation->instructions, work->extents.count + 1));
	annotation->info.overlapping = work->extents.overlapping;
	annotation->info.left_out = work->extents.left_out;
	size_t next = 0;
	vec_each (extent, &work->extents) {
		bool sampled =
			next < work->sampled.count && work->distances[next] == extent->offset;
		*vec_push(&annotation->instructions) = (struct sp_code_instruction){
			.address = annotation->info.address + extent->offset,
			.code = annotation->code + extent->offset,
			.size = extent->size,
			.row = sampled ? work->sampled.items[next].row : NULL,
			.follows_gap = extent->follows_gap,
		};
		next += sampled;
	}
	assert(next == work->sampled.count);
	return NULL;
}

/* Returns the name of the function outside of this one that contains an address; NULL: unknown. */
static const char *name_target(struct annotating *work, uint64_t target)
{
	const struct sp_annotation_info *info = &work->annotation->info;
	struct location location = {.module = work->of->module,
				    .offset = work->start + (target - info->address),
				    .pid = work->of->pid};
	uint64_t vaddr;
	if (info->is_relative || target - info->address < work->size)
		return NULL;
	/* The target may be in another segment. */
	if (resolver_vaddr(work->of->resolver, &location, &vaddr) && vaddr != target)
		return NULL;
	const struct symbol *symbol = resolver_find(work->of->resolver, &location);
	return symbol_is_named(symbol) ? strtab_add(&work->annotation->texts, symbol->name) : NULL;
}

/* Adds the texts and targets of the instructions, or the reason why they are missing. */
static struct sp_error *add_texts(struct annotating *work)
{
	struct sp_annotation *annotation = work->annotation;
	struct sp_disassembler *disassembler = NULL;
	unsigned int flags = SP_DISASSEMBLER_TARGETS |
			     (work->options->intel ? (unsigned int)SP_DISASSEMBLER_INTEL : 0);
	CLEANUP(cleanup_sp_error_free)
	struct sp_error *error = sp_disassembler_new(
		annotation->info.machine, work->options->big_endian, flags, &disassembler);
	if (error) {
		const char *remedy = sp_error_remedy(error);
		annotation->info.text_problem =
			strtab_add(&annotation->texts, sp_error_message(error));
		annotation->info.text_remedy =
			remedy ? strtab_add(&annotation->texts, remedy) : NULL;
		return NULL;
	}
	bool fine = true;
	for (size_t i = 0; fine && i < annotation->instructions.count; i++) {
		struct sp_code_instruction *one = &annotation->instructions.items[i];
		size_t length;
		const char *text = sp_disassembler_text(disassembler, one->address, one->code,
							one->size, &length);
		if (!text || length != one->size)
			continue;
		one->text = strtab_add(&annotation->texts, text);
		fine = one->text;
		one->has_target = sp_disassembler_target(disassembler, &one->is_call, &one->target);
		if (one->has_target)
			one->target_name = name_target(work, one->target);
	}
	sp_disassembler_free(disassembler);
	return fine ? NULL : error_no_memory();
}

/* Returns the place of a frame. `known` has places by their numbers. NULL when out of memory. */
static const struct sp_code_place *place_of(struct sp_annotation *annotation,
					    const struct source_frame *frame,
					    struct sp_code_place **known)
{
	const struct sp_code_place *innermost = NULL;
	struct sp_code_place *inner = NULL;
	for (; frame; frame = frame->caller) {
		struct sp_code_place *place = known[frame->number];
		bool is_new = !place;
		if (is_new)
			place = known[frame->number] =
				arena_alloc(&annotation->arena, sizeof(*place));
		if (!place)
			return NULL;
		if (inner)
			inner->caller = place;
		innermost = innermost ? innermost : place;
		if (!is_new)
			break;
		*place = (struct sp_code_place){
			.function =
				frame->name ? strtab_add(&annotation->texts, frame->name) : NULL,
			.file = frame->file ? strtab_add(&annotation->texts, frame->file) : NULL,
			.line = frame->line,
		};
		if ((frame->name && !place->function) || (frame->file && !place->file))
			return NULL;
		inner = place;
	}
	return innermost;
}

/* Their texts are those of one table. */
static bool are_equal(const struct sp_code_place *a, const struct sp_code_place *b)
{
	for (; a != b && a && b; a = a->caller, b = b->caller)
		if (a->function != b->function || a->file != b->file || a->line != b->line)
			return false;
	return a == b;
}

/* Adds the functions and lines of the instructions, or the reason why they are missing. */
static struct sp_error *add_places(struct annotating *work)
{
	struct sp_annotation *annotation = work->annotation;
	size_t count = annotation->instructions.count;
	CLEANUP_FREE uint64_t *offsets = calloc(count + 1, sizeof(*offsets));
	CLEANUP_FREE const struct source_frame **items = calloc(count + 1, sizeof(*items));
	NEED(offsets && items);
	for (size_t i = 0; i < count; i++)
		offsets[i] = work->start + work->extents.items[i].offset;
	struct source_frames found = {.items = items, .lines = true};
	const struct source_query query = {.module = work->of->module,
					   .pid = work->of->pid,
					   .offsets = offsets,
					   .count = count,
					   .threads = 1};
	TRY(resolver_sources(work->of->resolver, &query, &found));
	CLEANUP_FREE struct sp_code_place **known = calloc(found.distinct + 1, sizeof(*known));
	NEED(known);
	const struct sp_code_place *before = NULL;
	for (size_t i = 0; i < count; i++) {
		const struct sp_code_place *place =
			items[i] ? place_of(annotation, items[i], known) : NULL;
		NEED(place || !items[i]);
		/* Stored names may have one place twice. */
		if (!are_equal(place, before))
			before = place;
		annotation->instructions.items[i].place = before;
	}
	if (resolver_sources_problem(work->of->resolver, work->of->module,
				     &annotation->info.line_problem,
				     &annotation->info.line_remedy) == RESOLVER_OK)
		annotation->info.line_problem = annotation->info.line_remedy = NULL;
	if (!annotation->info.line_problem && work->of->module->kind == MODULE_FILE)
		annotation->info.line_remedy =
			module_is_distributed(work->of->module)
				? resolver_debug_remedy(work->of->resolver)
				: "compile with -g, or install the debug symbols";
	return NULL;
}

struct sp_error *sp_annotation_new(const struct sp_profile *profile, const struct sp_row *row,
				   const struct sp_annotation_options *options,
				   struct sp_annotation **ret)
{
	struct sp_annotation_options given;
	TRY(sized_copy(&given, sizeof(given), options));
	CLEANUP(cleanup_sp_annotation_free)
	struct sp_annotation *annotation = calloc(1, sizeof(*annotation));
	NEED(annotation);
	CLEANUP(annotating_deinit)
	struct annotating work = {.options = &given, .annotation = annotation};
	if (!row->instruction || !row->symbol || !row->dso)
		return error_new(SP_ERROR_NOT_FOUND, "cannot show the code of %s: no file has it",
				 row->symbol ?: "these samples");
	if (!instruction_of(row)->resolver)
		return error_new(SP_ERROR_INVALID, "the analysis has no sp_analysis_rows.annotate");
	annotation->info.row = row;
	work.start = start_of(row);
	TRY(collect_rows(&work, profile, row));
	work.of = instruction_of(annotation->info.row);
	if (!work.of->symbol)
		return refuse(&work);
	TRY(read_function(&work));
	/* Sets the address of the function's begin. */
	struct sp_annotation_info *info = &work.annotation->info;
	const struct module *module = work.of->module;
	uint64_t offset = work.of->shown.offset, vaddr;
	/* A gap may begin in another segment than its samples. */
	const struct location location = {.module = module, .offset = offset, .pid = work.of->pid};
	if (module->kind == MODULE_KERNEL || module->kind == MODULE_KERNEL_MODULE)
		info->address = work.start;
	else if (resolver_vaddr(work.of->resolver, &location, &vaddr))
		info->address = vaddr - (offset - work.start);
	else
		info->is_relative = true;
	TRY(list_instructions(&work));
	TRY(add_texts(&work));
	if (given.lines != SP_OFF)
		TRY(add_places(&work));
	if (resolver_problem(work.of->resolver, work.of->module, &annotation->info.file_problem,
			     &annotation->info.file_remedy) != RESOLVER_UNPROVEN)
		annotation->info.file_problem = annotation->info.file_remedy = NULL;
	*ret = take_ptr(annotation);
	return NULL;
}

const struct sp_annotation_info *sp_annotation_info(const struct sp_annotation *annotation)
{
	return &annotation->info;
}

size_t sp_annotation_count(const struct sp_annotation *annotation)
{
	return annotation->instructions.count;
}

DEFINE_GETTER(sp_annotation_code, sp_code_instruction, sp_annotation, instructions.items,
	      instructions.count)
