/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "analysis/labels.h"

#include <stdlib.h>
#include <string.h>
#include "analysis/bodies.h"
#include "base/cleanup.h"
#include "base/parallel.h"
#include "profile/filter.h"

/* What is the same for all of a module. */
struct module_texts {
	const char *dso, *dso_path, *build_id;
};

struct labelling {
	struct labels *labels;
	const struct names *names;
	const struct label_options *options;
	struct source_frames *found; /* in debug information, by frame; count 0: nothing */
	struct module_texts *modules; /* by index; the last is that of no module */
	struct bodies bodies;
	VEC(struct piece) pieces;    /* of all frames that have sources, one after the other */
	size_t next_piece;
	struct u64map kept_of;       /* a name of the resolver's, by its place -> index in kept */
	VEC(const char *) kept;
};

static void labelling_deinit(struct labelling *labelling)
{
	free(labelling->found);
	free(labelling->modules);
	bodies_deinit(&labelling->bodies);
	vec_deinit(&labelling->pieces);
	u64map_deinit(&labelling->kept_of);
	vec_deinit(&labelling->kept);
}

static bool needs_lines(const struct label_options *options)
{
	return options->keys[SP_KEY_SRCFILE] || options->keys[SP_KEY_SRCLINE] ||
	       (options->tree && options->tree_lines);
}

bool labels_need_sources(const struct label_options *options)
{
	bool functions = options->keys[SP_KEY_FUNCTION] || options->tree;
	return needs_lines(options) || (options->expand && functions);
}

/* A place that debug information is asked about, and whose it is. */
struct asked {
	uint32_t module;
	uint32_t frame;
	uint64_t offset;
};

static int compare_asked(const void *a, const void *b)
{
	const struct asked *x = a, *y = b;
	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

/* The places of one module: [first, first + count) of all that are asked about. */
struct batch {
	const struct asked *asked;
	size_t count;
	unsigned int threads;
	struct sp_error *error;
};

struct asking {
	struct labelling *labelling;
	VEC(struct batch);
	size_t next; /* atomic */
};

static struct sp_error *ask(struct labelling *labelling, const struct batch *batch)
{
	const struct name_sources *sources = &labelling->names->sources;
	const struct asked *asked = batch->asked;
	const struct frame *first = &labelling->names->frames.items[asked->frame];
	CLEANUP_FREE uint64_t *offsets = malloc(batch->count * sizeof(*offsets));
	CLEANUP_FREE struct source_frames *found = calloc(batch->count, sizeof(*found));
	size_t distinct = 0;
	if (!offsets || !found)
		return error_no_memory();
	for (size_t i = 0; i < batch->count; i++)
		if (!i || asked[i].offset != asked[i - 1].offset)
			offsets[distinct++] = asked[i].offset;
	struct sp_error *error = sources->find(sources->arg, first->module, first->pid, offsets,
					       distinct, batch->threads, found);
	for (size_t i = 0, at = 0; !error && i < batch->count; i++) {
		at += i && asked[i].offset != asked[i - 1].offset;
		labelling->found[asked[i].frame] = found[at];
	}
	return error;
}

static void ask_some(void *arg, unsigned int hand)
{
	struct asking *asking = arg;
	(void)hand;
	while (true) {
		size_t next = __atomic_fetch_add(&asking->next, 1, __ATOMIC_RELAXED);
		if (next >= asking->count)
			return;
		asking->items[next].error = ask(asking->labelling, &asking->items[next]);
	}
}

static int compare_batches(const void *a, const void *b)
{
	const struct batch *x = a, *y = b;
	return (x->count < y->count) - (x->count > y->count);
}

/* The largest module first, and with most of the threads. */
static struct sp_error *ask_all(struct asking *asking, size_t places)
{
	unsigned int threads = asking->labelling->options->threads;
	struct sp_error *error = NULL;
	if (!asking->count)
		return NULL;
	qsort(asking->items, asking->count, sizeof(*asking->items), compare_batches);
	for (size_t i = 0; i < asking->count; i++)
		asking->items[i].threads =
			1 + (unsigned int)((threads - 1) * asking->items[i].count / places);
	parallel_run(asking->count < threads ? (unsigned int)asking->count : threads, ask_some,
		     asking);
	for (size_t i = 0; i < asking->count; i++) {
		if (error)
			sp_error_free(asking->items[i].error);
		else
			error = asking->items[i].error;
	}
	return error;
}

static struct sp_error *ask_sources(struct labelling *labelling)
{
	const struct names *names = labelling->names;
	CLEANUP_FREE struct asked *asked = malloc((names->frames.count + 1) * sizeof(*asked));
	struct asking asking = {.labelling = labelling};
	size_t count = 0;
	if (!asked)
		return error_no_memory();
	for (uint32_t i = 0; i < names->frames.count; i++) {
		const struct frame *frame = &names->frames.items[i];
		if (frame->sourced)
			asked[count++] = (struct asked){frame->module->index, i, frame->offset};
	}
	qsort(asked, count, sizeof(*asked), compare_asked);
	bool done = true;
	for (size_t i = 0; done && i < count; i++) {
		if (!i || asked[i].module != asked[i - 1].module) {
			struct batch *batch = vec_push(&asking);
			done = batch != NULL;
			if (batch)
				*batch = (struct batch){.asked = &asked[i]};
		}
		if (done)
			vec_last(&asking)->count++;
	}
	struct sp_error *error = done ? ask_all(&asking, count) : error_no_memory();
	vec_deinit(&asking);
	return error;
}

/* Of the frame's module, made on first use; NULL when out of memory. */
static const struct module_texts *texts_of(struct labelling *labelling, const struct frame *frame)
{
	struct functions *functions = labelling->labels->functions;
	const struct module *module = frame->module;
	size_t index = module ? module->index : machine_module_count(labelling->names->machine) +
						names_is_guest(frame);
	struct module_texts *texts = &labelling->modules[index];
	if (texts->dso)
		return texts;
	texts->dso_path = functions_text(functions, module ? module->path : names_dso(frame));
	if (module && module->build_id_size)
		texts->build_id = functions_hex(functions, module->build_id, module->build_id_size);
	texts->dso = functions_text(functions, names_dso(frame));
	bool fine = texts->dso && texts->dso_path &&
		    (texts->build_id || !module || !module->build_id_size);
	return fine ? texts : NULL;
}

/* The resolver's texts outlive this, and come again and again: long ones are not hashed twice. */
static const char *keep_text(struct labelling *labelling, const char *text)
{
	bool added;
	if (!vec_reserve(&labelling->kept, labelling->kept.count + 1))
		return NULL;
	const uint32_t *index = u64map_put(&labelling->kept_of, (uintptr_t)text,
					   (uint32_t)labelling->kept.count, &added);
	if (index && added)
		*vec_push(&labelling->kept) = functions_text(labelling->labels->functions, text);
	return index ? labelling->kept.items[*index] : NULL;
}

/* Of what has no name: its address. */
static const char *symbol_text(struct labelling *labelling, const struct frame *frame)
{
	struct functions *functions = labelling->labels->functions;
	return frame->symbol ? keep_text(labelling, frame->symbol->name) :
			       functions_address(functions, frame->address);
}

/* A symbol that is a clone of the function goes by the function's name: "f.constprop.0" is f. */
static bool is_clone(const struct symbol *symbol, const struct source_frame *source)
{
	size_t size = source->raw_name ? strlen(source->raw_name) : 0;
	const char *name = symbol->raw_name ?: symbol->name;
	return size && !strncmp(name, source->raw_name, size) && name[size] == '.';
}

/*
 * A function that begins where its symbol does goes by the symbol's name, as it would
 * without debug information: of several names for one place, it is the one shown.
 */
static bool goes_by_symbol(const struct frame *frame, const struct source_frame *source)
{
	if (!frame->symbol || source->inlined)
		return !source->name;
	return !source->name ||
	       (source->start == frame->symbol->start && !is_clone(frame->symbol, source));
}

/* The piece that a function at a frame's place is; false when out of memory. */
static bool make_piece(struct labelling *labelling, const struct frame *frame,
		       const struct source_frame *source, struct piece *ret)
{
	const struct module_texts *texts = texts_of(labelling, frame);
	if (!texts)
		return false;
	*ret = (struct piece){.dso = texts->dso, .start = UINT64_MAX};
	if (source) {
		ret->name = goes_by_symbol(frame, source) ? symbol_text(labelling, frame) :
							    keep_text(labelling, source->name);
		ret->file = source->file ? keep_text(labelling, source->file) : NULL;
		ret->start = source->inlined ? UINT64_MAX : source->start;
		if (!source->name && frame->symbol)
			ret->start = frame->symbol->start;
		return ret->name && (ret->file || !source->file);
	}
	ret->name = symbol_text(labelling, frame);
	ret->start = frame->symbol ? frame->symbol->start : frame->address;
	return ret->name != NULL;
}

/* All functions are known before the first is told from others. */
static bool make_pieces(struct labelling *labelling)
{
	const struct names *names = labelling->names;
	for (size_t i = 0; i < names->frames.count; i++) {
		const struct source_frames *found = &labelling->found[i];
		size_t count = found->count ? found->count : 1;
		if (!names->frames.items[i].sourced)
			continue;
		for (size_t j = 0; j < count; j++) {
			struct piece *piece = vec_push(&labelling->pieces);
			if (!piece || !make_piece(labelling, &names->frames.items[i],
						  found->count ? &found->items[j] : NULL, piece) ||
			    !bodies_add(&labelling->bodies, piece))
				return false;
		}
	}
	return true;
}

static enum sp_level level_of(uint16_t cpumode)
{
	switch (cpumode) {
	case PERF_RECORD_MISC_USER:
		return SP_LEVEL_USER;
	case PERF_RECORD_MISC_KERNEL:
		return SP_LEVEL_KERNEL;
	case PERF_RECORD_MISC_GUEST_USER:
		return SP_LEVEL_GUEST_USER;
	case PERF_RECORD_MISC_GUEST_KERNEL:
		return SP_LEVEL_GUEST_KERNEL;
	default:
		return SP_LEVEL_HYPERVISOR;
	}
}

/* All that is known of one function at a frame's place. */
struct known {
	const struct frame *frame;
	const struct module_texts *texts;
	const char *symbol, *function;
	bool function_known, inlined;
	const struct body *body; /* of the function; NULL: it is the symbol */
	const char *file;
	uint32_t line;
};

/* Fills in what rows or nodes want of it. */
static struct function choose(const struct known *known, bool dso, bool symbol, bool function)
{
	const struct frame *frame = known->frame;
	bool has_symbol = frame->symbol != NULL;
	struct function chosen = {.level = level_of(frame->cpumode),
				  .known = function ? known->function_known : has_symbol};
	if (dso || symbol || function) {
		chosen.dso = known->texts->dso;
		chosen.dso_path = known->texts->dso_path;
		chosen.build_id = known->texts->build_id;
	}
	if (symbol || function) {
		chosen.start = has_symbol ? frame->symbol->start : frame->address;
		chosen.size = has_symbol ? frame->symbol->size : 0;
	}
	if (symbol)
		chosen.symbol = known->symbol;
	if (!function)
		return chosen;
	chosen.function = known->function;
	chosen.inlined = known->inlined;
	if (!known->body)
		return chosen;
	chosen.home = known->body->home;
	if (!symbol) {
		chosen.start = known->body->start == UINT64_MAX ? 0 : known->body->start;
		chosen.size = 0;
	}
	return chosen;
}

static bool add_label(struct labelling *labelling, const struct known *known)
{
	struct labels *labels = labelling->labels;
	const struct label_options *options = labelling->options;
	const bool *keys = options->keys;
	bool row_lines = keys[SP_KEY_SRCFILE] || keys[SP_KEY_SRCLINE];
	struct label *label = vec_push(&labels->items);
	if (!label)
		return false;
	*label = (struct label){UINT32_MAX, UINT32_MAX};
	if (keys[SP_KEY_DSO] || keys[SP_KEY_SYMBOL] || keys[SP_KEY_FUNCTION] || row_lines) {
		struct function row = choose(known, keys[SP_KEY_DSO], keys[SP_KEY_SYMBOL],
					     keys[SP_KEY_FUNCTION]);
		row.srcfile = row_lines ? known->file : NULL;
		row.line = keys[SP_KEY_SRCLINE] ? known->line : 0;
		label->row = functions_add(labels->functions, &row);
		if (label->row == UINT32_MAX)
			return false;
	}
	if (!options->tree)
		return true;
	struct function node = choose(known, true, !options->expand, options->expand);
	node.srcfile = options->tree_lines ? known->file : NULL;
	node.line = options->tree_lines ? known->line : 0;
	label->node = functions_add(labels->nodes, &node);
	return label->node != UINT32_MAX;
}

/* A label of a function of its own for each of the functions, the outermost first. */
static bool expand(struct labelling *labelling, const struct source_frames *found,
		   struct known *known)
{
	size_t count = found->count ? found->count : 1;
	const struct piece *pieces = &labelling->pieces.items[labelling->next_piece];
	labelling->next_piece += count;
	for (size_t i = count; i-- > 0;) {
		known->body = bodies_find(&labelling->bodies, &pieces[i]);
		known->function = pieces[i].name;
		known->file = pieces[i].file;
		known->function_known = known->frame->symbol != NULL;
		if (found->count) {
			known->function_known |= found->items[i].name != NULL;
			known->inlined = found->items[i].inlined;
			known->line = found->items[i].line;
		}
		if (!add_label(labelling, known))
			return false;
	}
	return true;
}

/* The symbol, at the line of the innermost function. */
static bool add_symbol(struct labelling *labelling, const struct source_frames *found,
		       struct known *known)
{
	known->function = known->symbol;
	known->function_known = known->frame->symbol != NULL;
	if (found->count && found->items[0].file) {
		known->file = keep_text(labelling, found->items[0].file);
		known->line = found->items[0].line;
		if (!known->file)
			return false;
	}
	return add_label(labelling, known);
}

static bool is_shown(const struct labelling *labelling, const struct frame *frame,
		     const struct source_frames *found)
{
	const struct sp_string_list *symbols = &labelling->names->options->symbols;
	const struct source_frame *inner = found->count ? &found->items[0] : NULL;
	if (names_symbol_shown(labelling->names->options, frame))
		return true;
	return inner && inner->name && filter_symbol(symbols->items, symbols->count, inner->name,
						     inner->raw_name);
}

static bool label_frame(struct labelling *labelling, size_t index)
{
	struct labels *labels = labelling->labels;
	const struct frame *frame = &labelling->names->frames.items[index];
	const struct source_frames *found = &labelling->found[index];
	struct frame_labels *of = vec_push(&labels->frames);
	struct known known = {.frame = frame, .texts = texts_of(labelling, frame),
			      .symbol = symbol_text(labelling, frame)};
	if (!of || !known.texts || !known.symbol)
		return false;
	*of = (struct frame_labels){
		.first = (uint32_t)labels->items.count,
		.shown = is_shown(labelling, frame, found),
		.named = frame->symbol || (found->count && found->items[0].name),
		.lined = found->count && found->items[0].file && found->items[0].line,
	};
	bool done = frame->sourced && labelling->options->expand ?
			    expand(labelling, found, &known) :
			    add_symbol(labelling, found, &known);
	of->count = (uint32_t)labels->items.count - of->first;
	return done;
}

static struct sp_error *label_all(struct labelling *labelling)
{
	const struct names *names = labelling->names;
	size_t count = names->frames.count;
	labelling->found = calloc(count + 1, sizeof(*labelling->found));
	labelling->modules = calloc(machine_module_count(names->machine) + 2,
				    sizeof(*labelling->modules));
	if (!labelling->found || !labelling->modules)
		return error_no_memory();
	struct sp_error *error = ask_sources(labelling);
	if (error)
		return error;
	if (labelling->options->expand && !make_pieces(labelling))
		return error_no_memory();
	for (size_t i = 0; i < count; i++)
		if (!label_frame(labelling, i))
			return error_no_memory();
	return NULL;
}

struct sp_error *labels_make(struct labels *labels, const struct names *names,
			     const struct label_options *options, struct functions *functions,
			     struct functions *nodes)
{
	*labels = (struct labels){.functions = functions, .nodes = nodes};
	nodes->inlined_apart = true;
	struct labelling labelling = {.labels = labels, .names = names, .options = options};
	struct sp_error *error = label_all(&labelling);
	labelling_deinit(&labelling);
	return error;
}

void labels_deinit(struct labels *labels)
{
	vec_deinit(&labels->frames);
	vec_deinit(&labels->items);
}
