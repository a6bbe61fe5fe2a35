/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "frames/labels.h"

#include <stdlib.h>
#include "base/cleanup.h"
#include "base/ctx.h"
#include "base/error.h"
#include "frames/frame_filter.h"
#include "frames/function_identity.h"
#include "frames/generated.h"
#include "frames/linkage.h"
#include "frames/namesakes.h"

/* Texts of a module, interned. `dso` is one pointer for each file (functions_dso()). */
struct module_texts {
	const char *dso, *dso_path, *build_id;
	uint64_t code; /* hash of the dso and its build-id */
};

/*
 * Cached piece and label of a source frame. They are valid for one symbol and mode; usually all
 * places of the source frame have the same.
 */
struct source_known {
	const struct symbol *symbol;
	uint64_t address; /* address to show for places without a symbol */
	const char *file; /* source file of the piece */
	struct label label;
	uint32_t identity; /* index of the piece, from identities_add() */
	uint16_t cpumode;
	bool has_piece, has_label;
};

struct labelling {
	struct labels *labels;
	const struct names *names;
	const struct label_options *options;
	struct line_places places;
	struct frame_namesakes namesakes;
	struct source_known *sources; /* index: number of the source frame */
	struct module_texts *modules; /* index: module; the last items are for frames without one */
	struct identities identities;    /* functions of debug information */
	struct identities symbols;       /* functions of symbol tables */
	struct u64map symbol_of; /* address of a struct symbol, in modules with debug information ->
				  * index in `symbols` */
	uint32_t *bodies; /* index: frame; index of its symbol in `symbols`, or UINT32_MAX */
	struct u64map interned_of; /* address of a text of the resolver -> index in `interned`, its
				    * copy */
	VEC(const char *) interned;
};

/* Return whether any key for branch ends or data addresses needs symbols, dsos, or source lines. */
static bool side_keys_need_symbols(const bool *keys)
{
	return keys[SP_KEY_SYMBOL_FROM] || keys[SP_KEY_SYMBOL_TO] || keys[SP_KEY_SYMBOL_DADDR] ||
	       keys[SP_KEY_PARENT];
}

static bool side_keys_need_dsos(const bool *keys)
{
	return keys[SP_KEY_DSO_FROM] || keys[SP_KEY_DSO_TO] || keys[SP_KEY_DSO_DADDR];
}

static bool side_keys_need_lines(const bool *keys)
{
	return keys[SP_KEY_SRCLINE_FROM] || keys[SP_KEY_SRCLINE_TO];
}

/* Returns whether any key, or the tree, needs source lines. */
static bool needs_lines(const struct label_options *options)
{
	return options->keys[SP_KEY_SRCFILE] || options->keys[SP_KEY_SRCLINE] ||
	       side_keys_need_lines(options->keys) || (options->tree && options->tree_lines);
}

bool labels_need_sources(const struct label_options *options)
{
	bool functions = options->keys[SP_KEY_FUNCTION] || options->tree;
	return needs_lines(options) || (options->expand && functions);
}

/*
 * Makes the instruction of a frame with an offset; the functions' arena owns it. `symbol` is the
 * symbol's name or an address. For `annotate` only the resolver is kept, which reads the bytes
 * later; else they are read now, unless the module's file is missing. NULL when out of memory.
 */
static const struct sp_instruction *make_instruction(const struct labelling *labelling,
						     const struct frame *frame, const char *symbol)
{
	struct arena *arena = &labelling->labels->functions->instructions;
	struct resolver *resolver = labelling->names->locked.resolver;
	struct instruction *ret = arena_alloc(arena, sizeof(*ret));
	const struct location location = {
		.module = frame->module, .offset = frame->offset, .pid = frame->pid};
	if (!ret)
		return NULL;
	*ret = (struct instruction){.shown.offset = frame->offset,
				    .resolver = labelling->options->annotate ? resolver : NULL,
				    .module = frame->module,
				    .symbol = frame->symbol,
				    .pid = frame->pid};
	if (frame->symbol) {
		ret->shown.symbol = symbol;
		ret->shown.distance = frame->offset - frame->symbol->start;
	}
	/* Labels are made by one thread, so the resolver needs no lock. */
	if (!labelling->options->annotate &&
	    resolver_read_code(resolver, &location, 0, SP_CODE_MAX, ret->shown.code,
			       &ret->shown.machine))
		ret->shown.size = SP_CODE_MAX;
	return &ret->shown;
}

/* Returns the texts of the frame's module, which are made on first use; NULL when out of memory. */
static const struct module_texts *texts_of(struct labelling *labelling, const struct frame *frame)
{
	struct functions *functions = labelling->labels->functions;
	const struct module *module = frame->module;
	const struct machine *machine = labelling->names->locked.machine;
	size_t rest = frame_is_guest(frame) + 2 * frame_is_kernel_rest(frame);
	size_t index = module ? module->index : machine_module_count(machine) + rest;
	struct module_texts *texts = &labelling->modules[index];
	if (texts->dso)
		return texts;
	bool has_path = module && !module->is_generated;
	texts->dso_path = functions_text(functions, has_path ? module->path : frame_dso(frame));
	if (module && module->build_id_size)
		texts->build_id = functions_hex(functions, module->build_id, module->build_id_size);
	const struct dso dso = {
		.name = functions_text(functions, frame_dso(frame)),
		.path = texts->dso_path,
		.build_id = texts->build_id,
		.is_file = has_path && module->kind == MODULE_FILE,
	};
	texts->dso = dso.name && dso.path ? functions_dso(functions, &dso) : NULL;
	texts->code = hash_pair((uintptr_t)texts->dso, (uintptr_t)texts->build_id);
	bool fine = texts->dso && texts->dso_path &&
		    (texts->build_id || !module || !module->build_id_size);
	return fine ? texts : NULL;
}

/*
 * Interns a text of the resolver. The resolver keeps its texts until all labels are made, so their
 * addresses serve as keys, and the bytes of each text are hashed only once.
 */
static const char *intern_text(struct labelling *labelling, const char *text)
{
	bool added;
	if (!vec_reserve(&labelling->interned, labelling->interned.count + 1))
		return NULL;
	const uint32_t *index = u64map_put(&labelling->interned_of, (uintptr_t)text,
					   labelling->interned.count, &added);
	if (index && added)
		*vec_push(&labelling->interned) =
			functions_text(labelling->labels->functions, text);
	return index ? labelling->interned.items[*index] : NULL;
}

/* Returns the name of the frame's symbol, or its address as text. */
static const char *symbol_text(struct labelling *labelling, const struct frame *frame)
{
	struct functions *functions = labelling->labels->functions;
	return frame->symbol ? intern_text(labelling, frame->symbol->name) :
			       functions_address(functions, frame->address);
}

/* Returns the function's name by the symbol table: the symbol's, except in generated code. */
static const char *function_text(struct labelling *labelling, const struct frame *frame)
{
	if (!generated_has(frame))
		return symbol_text(labelling, frame);
	const struct machine *machine = labelling->names->locked.machine;
	CLEANUP_FREE char *name = generated_name(machine, frame);
	return name ? functions_text(labelling->labels->functions, name) : NULL;
}

/* Interns a text that may be NULL. *good becomes false when out of memory. */
static const char *intern_optional(struct labelling *labelling, const char *text, bool *good)
{
	const char *interned = text ? intern_text(labelling, text) : NULL;
	*good &= interned || !text;
	return interned;
}

/* Sets the names of the frame's symbol, or its address. Returns false when out of memory. */
static bool set_symbol(struct labelling *labelling, const struct frame *frame,
		       struct function_piece *piece)
{
	const struct symbol *symbol = frame->symbol;
	bool named = symbol_is_named(symbol), good = true;
	piece->name = symbol_text(labelling, frame);
	piece->raw = !named ? NULL : symbol->raw_name == symbol->name ? piece->name :
			      intern_text(labelling, symbol->raw_name);
	good = piece->raw || !named;
	piece->object = intern_optional(labelling, named ? symbol->object : NULL, &good);
	piece->start = symbol ? symbol->start : frame->address;
	return piece->name && good;
}

/*
 * Sets the names of a function of the debug information. Constructors and destructors have several
 * linkage names. Returns false when out of memory.
 */
static bool set_source(struct labelling *labelling, const struct frame *frame,
		       const struct source_frame *source, struct function_piece *piece)
{
	bool good = true;
	uint64_t start = source->caller ? UINT64_MAX : source->start;
	bool by_symbol = frame_prefers_symbol(frame, source);
	if (by_symbol) {
		if (!set_symbol(labelling, frame, piece))
			return false;
		start = !source->name && frame->symbol ? frame->symbol->start : start;
	} else {
		piece->name = intern_text(labelling, source->name);
		piece->raw = intern_optional(labelling, source->raw_name, &good);
	}
	piece->start = start;
	piece->file = intern_optional(labelling, source->file, &good);
	piece->declared = source->declared;
	CLEANUP_FREE char *twin = source->raw_name ? linkage_of_source(source->raw_name) : NULL;
	if (twin)
		piece->source = functions_text(labelling->labels->functions, twin);
	else if (by_symbol && source->raw_name)
		piece->source = intern_text(labelling, source->raw_name);
	else
		piece->source = by_symbol ? piece->name : piece->raw ?: piece->name;
	return piece->name && piece->source && good;
}

/* Makes the piece for a function at a frame's place. Returns false when out of memory. */
static bool make_piece(struct labelling *labelling, const struct frame *frame,
		       const struct source_frame *source, struct function_piece *ret)
{
	const struct module_texts *texts = texts_of(labelling, frame);
	if (!texts)
		return false;
	*ret = (struct function_piece){.dso = texts->dso, .code = texts->code};
	if (!generated_has(frame))
		return source ? set_source(labelling, frame, source, ret) :
				set_symbol(labelling, frame, ret);
	bool good = true;
	ret->name = ret->source = function_text(labelling, frame);
	ret->file = intern_optional(labelling, source ? source->file : NULL, &good);
	return ret->name && good; /* at any address, the name identifies the function */
}

/*
 * Returns the cached piece and label of a source frame. They are cleared if the previous place had
 * another symbol.
 */
static struct source_known *known_of(struct labelling *labelling, const struct frame *frame,
				     const struct source_frame *source)
{
	size_t number = line_places_number(&labelling->places, frame->module, source);
	struct source_known *known = &labelling->sources[number];
	if (known->symbol != frame->symbol || known->address != frame->address ||
	    known->cpumode != frame->cpumode)
		*known = (struct source_known){.symbol = frame->symbol, .address = frame->address,
					       .cpumode = frame->cpumode};
	return known;
}

/* Adds the piece of a function; false when out of memory. */
static bool add_piece(struct labelling *labelling, const struct frame *frame,
		      const struct source_frame *source, struct source_known *known)
{
	if (known->has_piece)
		return true;
	struct function_piece piece;
	if (!make_piece(labelling, frame, source, &piece))
		return false;
	known->file = piece.file;
	known->identity = identities_add(&labelling->identities, &piece);
	known->has_piece = known->identity != UINT32_MAX;
	return known->has_piece;
}

/* Adds the pieces of all functions at a frame's place; false when out of memory. */
static bool add_pieces(struct labelling *labelling, const struct frame *frame,
		       const struct source_frame *source)
{
	struct function_piece piece;
	if (!source)
		return make_piece(labelling, frame, NULL, &piece) &&
		       identities_add(&labelling->identities, &piece) != UINT32_MAX;
	for (; source; source = source->caller) {
		struct source_known *known = known_of(labelling, frame, source);
		/* The cached piece was added together with the pieces of all its callers. */
		if (known->has_piece)
			return true;
		if (!add_piece(labelling, frame, source, known))
			return false;
	}
	return true;
}

/* Adds the piece of a frame's symbol, if it is shown; false when out of memory. */
static bool add_symbol_piece(struct labelling *labelling, const struct frame *frame, uint32_t *ret)
{
	const struct label_options *options = labelling->options;
	bool by_function = frame->sourced && options->expand && !options->keys[SP_KEY_SYMBOL] &&
			   !side_keys_need_symbols(options->keys);
	struct function_piece piece;
	*ret = UINT32_MAX;
	if (by_function || !symbol_is_named(frame->symbol) || generated_has(frame))
		return true;
	const uint32_t *known = frame->sourced ?
		u64map_find(&labelling->symbol_of, (uintptr_t)frame->symbol) : NULL;
	if (known) {
		*ret = *known;
		return true;
	}
	if (!make_piece(labelling, frame, NULL, &piece))
		return false;
	*ret = identities_add(&labelling->symbols, &piece);
	return *ret != UINT32_MAX &&
	       (!frame->sourced ||
		u64map_put(&labelling->symbol_of, (uintptr_t)frame->symbol, *ret, NULL));
}

/* Adds the pieces of functions without samples at a frame; by its symbol, if `source` is NULL. */
static bool add_namesake(struct labelling *labelling, const struct frame *frame,
			 const struct source_frame *source)
{
	struct function_piece piece;
	uint32_t unused;
	bool by_source = frame->sourced && labelling->options->expand;
	while (by_source && (source || symbol_is_named(frame->symbol))) {
		if (!make_piece(labelling, frame, source, &piece) ||
		    identities_add(&labelling->identities, &piece) == UINT32_MAX)
			return false;
		source = source ? source->caller : NULL;
		by_source = source;
	}
	return add_symbol_piece(labelling, frame, &unused);
}

static bool add_namesakes(struct labelling *labelling)
{
	const struct frame_namesakes *namesakes = &labelling->namesakes;
	CLEANUP_FREE const struct source_frame **sources =
		calloc(namesakes->count + 1, sizeof(*sources));
	if (!sources)
		return false;
	vec_each (place, &namesakes->places)
		sources[place->number] = place->innermost;
	for (size_t i = 0; i < namesakes->count; i++)
		if (!add_namesake(labelling, &namesakes->items[i], sources[i]))
			return false;
	return true;
}

/* Registers the functions for their shown names; false when out of memory. */
static bool add_named(struct labelling *labelling, struct identities *identities)
{
	for (uint32_t i = 0; i < identities->count; i++) {
		struct identity *identity = &identities->items[i];
		const struct named named = {
			.dso = identity->dso, .name = identity->name, .raw = identity->raw,
			.file = identity_file(identity), .place = identity->place,
			.start = identity->start, .declared = identity->declared,
		};
		if (identity->parent == i && identity->raw &&
		    !(identity->named = functions_named(labelling->labels->functions, &named)))
			return false;
	}
	return true;
}

/* Makes all pieces. identities_find() needs all of them to decide which are one function. */
static bool make_pieces(struct labelling *labelling)
{
	const struct names *names = labelling->names;
	const struct line_places *places = &labelling->places;
	struct u64map *several = &labelling->labels->functions->several;
	labelling->sources = calloc(places->source_count + 1, sizeof(*labelling->sources));
	labelling->bodies = malloc((names->frames.count + 1) * sizeof(*labelling->bodies));
	if (!labelling->sources || !labelling->bodies)
		return false;
	for (size_t i = 0; labelling->options->expand && i < places->count; i++) {
		const struct line_place *place = &places->items[i];
		if (ctx_cancelled(labelling->options->ctx) ||
		    !add_pieces(labelling, &names->frames.items[place->number], place->innermost))
			return false;
	}
	for (size_t i = 0; i < names->frames.count; i++)
		if (!add_symbol_piece(labelling, &names->frames.items[i], &labelling->bodies[i]))
			return false;
	return add_namesakes(labelling) &&
	       identities_place(&labelling->identities, several) &&
	       identities_place(&labelling->symbols, several) &&
	       add_named(labelling, &labelling->identities) &&
	       add_named(labelling, &labelling->symbols);
}

/* Known facts about one function at a frame's place. */
struct function_facts {
	const struct frame *frame;
	const struct module_texts *texts;
	const char *symbol, *function;
	bool function_known, inlined;
	const struct identity *body;     /* the symbol's identity; NULL: the text is */
	const struct identity *identity; /* the function's identity; NULL: the text is */
	const char *file;
	uint32_t line;
	uint64_t sampled; /* address in the file; 0: not requested, or unknown */
	const struct sp_instruction *instruction; /* NULL: not requested */
};

/* Returns a function with only the facts that rows or nodes distinguish: dso, symbol, function. */
static struct function choose(const struct function_facts *known, bool dso, bool symbol,
			      bool function)
{
	const struct frame *frame = known->frame;
	bool has_symbol = frame->symbol != NULL, named = symbol_is_named(frame->symbol);
	struct function chosen = {.level = frame_level(frame),
				  .own_code = frame->own_code,
				  .known = function ? known->function_known : named};
	chosen.from_cfi = has_symbol && !chosen.known;
	if (dso || symbol || function) {
		chosen.dso = known->texts->dso;
		chosen.dso_path = known->texts->dso_path;
		chosen.build_id = known->texts->build_id;
	}
	if (symbol || function)
		chosen.start = has_symbol ? frame->symbol->start : frame->address;
	if (symbol) {
		chosen.symbol = known->symbol;
		chosen.symbol_of = known->body ? known->body->named : NULL;
	}
	if (!function)
		return chosen;
	chosen.function = known->function;
	chosen.inlined = known->inlined;
	if (generated_has(frame) && !symbol)
		chosen.start = 0;
	if (!known->identity)
		return chosen;
	chosen.function_of = known->identity->named;
	chosen.home = known->identity->home;
	if (!symbol)
		chosen.start = known->identity->start == UINT64_MAX ? 0 : known->identity->start;
	return chosen;
}

static bool make_label(struct labelling *labelling, const struct function_facts *known,
		       struct label *label)
{
	struct labels *labels = labelling->labels;
	const struct label_options *options = labelling->options;
	const bool *keys = options->keys;
	bool row_lines = keys[SP_KEY_SRCFILE] || keys[SP_KEY_SRCLINE];
	*label = (struct label){UINT32_MAX, UINT32_MAX};
	if (keys[SP_KEY_DSO] || keys[SP_KEY_SYMBOL] || keys[SP_KEY_FUNCTION] || row_lines) {
		struct function row = choose(known, keys[SP_KEY_DSO], keys[SP_KEY_SYMBOL],
					     keys[SP_KEY_FUNCTION]);
		row.srcfile = row_lines ? known->file : NULL;
		row.line = keys[SP_KEY_SRCLINE] ? known->line : 0;
		row.instruction = known->instruction;
		label->row = functions_add(labels->functions, &row);
		if (label->row == UINT32_MAX)
			return false;
	}
	if (!options->tree)
		return true;
	bool by_function = options->expand || generated_has(known->frame);
	struct function node = choose(known, true, !by_function, by_function);
	node.srcfile = options->tree_lines ? known->file : NULL;
	node.line = options->tree_lines ? known->line : 0;
	node.sampled = known->sampled;
	label->node = functions_add(labels->nodes, &node);
	return label->node != UINT32_MAX;
}

static bool add_label(struct labelling *labelling, const struct function_facts *known)
{
	struct label *label = vec_push(&labelling->labels->items);
	return label && make_label(labelling, known, label);
}

static void set_piece(struct labelling *labelling, const char *file, uint32_t identity,
		      struct function_facts *known)
{
	known->identity = identities_find(&labelling->identities, identity);
	known->function = known->identity->name;
	known->file = file;
	known->function_known = symbol_is_named(known->frame->symbol);
}

/* Returns the label of a source frame's function, cached; NULL when out of memory. */
static const struct label *label_of(struct labelling *labelling, const struct function_facts *place,
				    const struct source_frame *source)
{
	struct source_known *of = known_of(labelling, place->frame, source);
	struct function_facts known = *place;
	/* Labels of instructions and addresses differ within a source frame. */
	if (of->has_label && !known.instruction && !known.sampled)
		return &of->label;
	if (!add_piece(labelling, place->frame, source, of))
		return NULL;
	set_piece(labelling, of->file, of->identity, &known);
	known.function_known |= source->name != NULL;
	known.inlined = source->caller;
	known.line = source->line;
	of->has_label = make_label(labelling, &known, &of->label);
	return of->has_label ? &of->label : NULL;
}

/* Adds a label for each function at a place, the outermost first. */
static bool expand(struct labelling *labelling, const struct source_frame *innermost,
		   struct function_facts *known)
{
	size_t count = 0, end;
	struct function_piece piece;
	if (!innermost) {
		if (!make_piece(labelling, known->frame, NULL, &piece))
			return false;
		/* It was added by make_pieces(). */
		uint32_t identity = identities_add(&labelling->identities, &piece);
		if (identity == UINT32_MAX)
			return false;
		set_piece(labelling, piece.file, identity, known);
		return add_label(labelling, known);
	}
	for (const struct source_frame *source = innermost; source; source = source->caller)
		count++;
	end = labelling->labels->items.count + count;
	if (!vec_reserve(&labelling->labels->items, end))
		return false;
	labelling->labels->items.count = end;
	for (const struct source_frame *source = innermost; source; source = source->caller) {
		const struct label *label = label_of(labelling, known, source);
		if (!label)
			return false;
		labelling->labels->items.items[--end] = *label;
	}
	return true;
}

/*
 * Adds a label for the symbol at a place (without inlined functions), with the line of the
 * innermost function.
 */
static bool add_symbol(struct labelling *labelling, const struct source_frame *innermost,
		       struct function_facts *known)
{
	known->function = function_text(labelling, known->frame);
	if (!known->function)
		return false;
	known->function_known = symbol_is_named(known->frame->symbol);
	known->identity = known->body;
	if (innermost && innermost->file) {
		known->file = intern_text(labelling, innermost->file);
		known->line = innermost->line;
		if (!known->file)
			return false;
	}
	return add_label(labelling, known);
}

static bool is_shown(const struct labelling *labelling, const struct frame *frame,
		     const struct source_frame *inner)
{
	if (!frame_passes_dso(labelling->names, frame))
		return false;
	if (frame_passes_symbol(labelling->names, frame))
		return true;
	return inner && inner->name &&
	       function_passes(labelling->names->options, &(const struct named){
								  .dso = frame_dso(frame),
								  .name = inner->name,
								  .raw = inner->raw_name,
								  .file = inner->file,
								  .start = inner->start,
								  .declared = inner->declared,
							  });
}

/* Adds a function to the list; *ret is its index. Returns false when out of memory. */
static bool add_side(struct functions *functions, const struct function *function, uint32_t *ret)
{
	*ret = functions_add(functions, function);
	return *ret != UINT32_MAX;
}

/*
 * Makes the labels of a branch's end or a data address: its symbol, its dso, and the line of the
 * innermost function. Returns false when out of memory.
 */
static bool label_side(struct labelling *labelling, size_t index,
		       const struct function_facts *known, const struct source_frame *inner)
{
	const bool *keys = labelling->options->keys;
	struct labels *labels = labelling->labels;
	if (!labels->sides.count)
		return true;
	struct side_labels *side = &labels->sides.items[index];
	*side = (struct side_labels){UINT32_MAX, UINT32_MAX, UINT32_MAX};
	struct function symbol = choose(known, false, true, false);
	if (side_keys_need_symbols(keys) && !add_side(labels->functions, &symbol, &side->symbol))
		return false;
	struct function dso = choose(known, true, false, false);
	if (side_keys_need_dsos(keys) && !add_side(labels->functions, &dso, &side->dso))
		return false;
	if (!side_keys_need_lines(keys) || !inner || !inner->file || !inner->line)
		return true;
	struct function line = {.srcfile = intern_text(labelling, inner->file),
				.line = inner->line};
	return line.srcfile && add_side(labels->functions, &line, &side->line);
}

/*
 * Returns a frame's address as its file's symbol table has it; 0: unknown. Code made at run time
 * has no file.
 */
static uint64_t sampled_address(const struct labelling *labelling, const struct frame *frame)
{
	const struct location location = {
		.module = frame->module, .offset = frame->offset, .pid = frame->pid};
	uint64_t vaddr;
	if (!frame->module || !labelling->options->tree_addresses)
		return 0;
	if (frame->module->kind == MODULE_KERNEL)
		return frame->offset;
	/* Labels are made by one thread, so the resolver needs no lock. */
	return resolver_vaddr(labelling->names->locked.resolver, &location, &vaddr) ? vaddr : 0;
}

static bool label_frame(struct labelling *labelling, size_t index,
			const struct source_frame *inner)
{
	struct labels *labels = labelling->labels;
	const struct frame *frame = &labelling->names->frames.items[index];
	struct frame_labels *of = &labels->frames.items[index];
	struct function_facts known = {.frame = frame, .texts = texts_of(labelling, frame),
				       .symbol = symbol_text(labelling, frame),
				       .sampled = sampled_address(labelling, frame)};
	if (!known.texts || !known.symbol)
		return false;
	if (labelling->bodies[index] != UINT32_MAX)
		known.body = identities_find(&labelling->symbols, labelling->bodies[index]);
	if ((labelling->options->instructions && frame->sourced) ||
	    (labelling->options->annotate && frame->module)) {
		known.instruction = make_instruction(labelling, frame, known.symbol);
		if (!known.instruction)
			return false;
	}
	*of = (struct frame_labels){
		.first = labels->items.count,
		.shown = is_shown(labelling, frame, inner),
		.named = symbol_is_named(frame->symbol) || (inner && inner->name),
		.lined = inner && inner->file && inner->line,
	};
	bool done = frame->sourced && labelling->options->expand ?
			    expand(labelling, inner, &known) :
			    add_symbol(labelling, inner, &known);
	if (done && labelling->options->fold_python && frame_is_collector(frame))
		labels->items.count = of->first + 1;
	of->count = (uint32_t)labels->items.count - of->first;
	return done && label_side(labelling, index, &known, inner);
}

/*
 * Labels the frames that have debug information, in the order of their places: neighbours have the
 * same functions, and their labels are cached.
 */
static bool label_frames(struct labelling *labelling)
{
	const struct names *names = labelling->names;
	const struct line_places *places = &labelling->places;
	if (!vec_reserve(&labelling->labels->frames, names->frames.count + 1))
		return false;
	labelling->labels->frames.count = names->frames.count;
	const bool *keys = labelling->options->keys;
	if (side_keys_need_symbols(keys) || side_keys_need_dsos(keys) ||
	    side_keys_need_lines(keys)) {
		if (!vec_reserve(&labelling->labels->sides, names->frames.count + 1))
			return false;
		labelling->labels->sides.count = names->frames.count;
	}
	for (size_t i = 0; i < places->count && !ctx_cancelled(labelling->options->ctx); i++)
		if (!label_frame(labelling, places->items[i].number, places->items[i].innermost))
			return false;
	for (size_t i = 0; i < names->frames.count && !ctx_cancelled(labelling->options->ctx); i++)
		if (!names->frames.items[i].sourced && !label_frame(labelling, i, NULL))
			return false;
	return true;
}

static struct sp_error *label_all(struct labelling *labelling)
{
	const struct names *names = labelling->names;
	labelling->modules = calloc(machine_module_count(names->locked.machine) + 3,
				    sizeof(*labelling->modules));
	NEED(labelling->modules);
	const struct label_options *options = labelling->options;
	NEED(names_list_sources(names, &labelling->places));
	TRY(line_places_find(&labelling->places, &names->locked, needs_lines(options),
			     options->threads));
	TRY(frame_namesakes_find(labelling->names, &labelling->places, needs_lines(options),
				 options->threads, &labelling->namesakes));
	NEED(make_pieces(labelling));
	return label_frames(labelling) ? NULL : error_no_memory();
}

struct sp_error *labels_make(struct labels *labels, const struct names *names,
			     const struct label_options *options, struct functions *functions,
			     struct functions *nodes)
{
	*labels = (struct labels){.functions = functions, .nodes = nodes};
	nodes->inlined_apart = true;
	struct labelling labelling = {.labels = labels, .names = names, .options = options};
	struct sp_error *error = label_all(&labelling);
	line_places_deinit(&labelling.places);
	frame_namesakes_deinit(&labelling.namesakes);
	free(labelling.modules);
	identities_deinit(&labelling.identities);
	identities_deinit(&labelling.symbols);
	u64map_deinit(&labelling.symbol_of);
	free(labelling.bodies);
	free(labelling.sources);
	u64map_deinit(&labelling.interned_of);
	vec_deinit(&labelling.interned);
	return error;
}

void labels_deinit(struct labels *labels)
{
	vec_deinit(&labels->frames);
	vec_deinit(&labels->items);
	vec_deinit(&labels->sides);
}
