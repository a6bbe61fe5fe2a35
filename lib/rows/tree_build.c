/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Makes the paths of call trees from resolved chains, in the order of callers or of callees. If a
 * stack's outer calls are missing, its path begins with a node that states the cause, so that it
 * does not look complete.
 */
#include "rows/tree_build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/ctx.h"

/*
 * Number of words before the calls of a path: room for the command, the thread's state, and the
 * reason why the stack was truncated.
 */
#define PREFIX 3

/*
 * A node on the current path. `words` and `root` are those of the builder before the node was
 * added.
 */
struct open_node {
	uint32_t node;
	size_t words, root;
};

/* Cached word that stands for the end of a truncated stack in an event's tree. */
struct end_word {
	bool known;
	uint16_t event;
	enum sp_stack_end end;
	const char *module;
	uint64_t word;
};

/*
 * State while one worker's chains are walked as a tree. `words` are those from the root to the
 * current node.
 */
struct tree_builder {
	const struct work *work;
	struct strtab *strings;
	const struct resolved *resolved;
	struct merged_event *const *events; /* index: event */
	/* Words [0, PREFIX) are room for the command and the stack's end; calls begin at PREFIX. */
	VEC(uint64_t) words;
	/* Index in `words` of the function of --callers or --callees; SIZE_MAX: not on the path. */
	size_t root;
	VEC(struct open_node) open; /* nodes on the current path */
	VEC(uint64_t) path;         /* buffer for a path that is changed before it is added */
	VEC(struct cycle) cycles;   /* calls of the path that repeat (collapse_recursion) */
	uint32_t *first_leaf, *next_leaf;
	size_t paths_per_leaf;
	uint32_t *nodes;  /* nodes where paths end, see trees_build(); NULL: not requested */
	uint64_t task;              /* word of the command, if trees begin with commands */
	VEC(uint64_t) processes; /* process_tree: the whole path, words of processes */
	size_t fixed;               /* words that begin each path in both orders: command, state */
	uint16_t event;
	/* Word for a stack end that was requested last. It often repeats. */
	struct end_word last_end;
	bool failed; /* out of memory; see `failed` of the events' paths, too */
};

/* Returns whether the outermost nodes are commands or processes. */
static bool has_tasks(const struct work *work)
{
	return work->options->tree.comms || work->options->tree.processes;
}

/* Returns the index of a text in the event's texts. */
static uint32_t text_index(struct tree_builder *builder, const char *text)
{
	return merged_event_text(builder->events[builder->event],
				 strtab_add(builder->strings, text));
}

static void tree_builder_deinit(struct tree_builder *builder)
{
	vec_deinit(&builder->words);
	vec_deinit(&builder->open);
	vec_deinit(&builder->path);
	vec_deinit(&builder->cycles);
	vec_deinit(&builder->processes);
	free(builder->first_leaf);
	free(builder->next_leaf);
}

static bool link_leaves(struct tree_builder *builder)
{
	const struct counted *counted = builder->resolved->counted;
	size_t nodes = counted->chains.radix.count;
	builder->first_leaf = malloc((nodes + 1) * sizeof(*builder->first_leaf));
	builder->next_leaf = malloc((counted->leaves.count + 1) * sizeof(*builder->next_leaf));
	if (!builder->first_leaf || !builder->next_leaf)
		return false;
	for (size_t i = 0; i < nodes; i++)
		builder->first_leaf[i] = RADIX_NONE;
	for (uint32_t i = 0; i < counted->leaves.count; i++) {
		uint32_t node = counted->leaves.items[i].node;
		builder->next_leaf[i] = builder->first_leaf[node];
		builder->first_leaf[node] = i;
	}
	return true;
}

/* Limit of the processes above one. A damaged recording may state a circle of parents. */
#define ANCESTORS_MAX 100

/* Reverses the words of a path, except the first `fixed` ones. */
static void reverse(uint64_t *words, size_t count, size_t fixed)
{
	for (size_t i = fixed, j = count; i < j--; i++) {
		uint64_t other = words[i];
		words[i] = words[j];
		words[j] = other;
	}
}

/* Sets the words of a group's process and of those above it, the outermost first. */
static void find_processes(struct tree_builder *builder, const struct group *group)
{
	const struct machine *machine = builder->work->read->machine;
	const struct sp_analysis_tree *options = &builder->work->options->tree;
	struct machine_process process =
		machine_process(machine, group->process_pid, group->process_ns);
	builder->processes.count = 0;
	while (!builder->failed) {
		CLEANUP_FREE char *text = machine_process_text(
			machine, process.pid, process.from_ns, options->command_lines);
		builder->failed |= !text;
		*vec_add(&builder->processes, &builder->failed) =
			PATHS_COMM | text_index(builder, text ? text : "");
		if (!options->process_tree || !process.parent ||
		    builder->processes.count == ANCESTORS_MAX)
			break;
		process = machine_process(machine, process.parent, process.from_ns);
	}
	reverse(builder->processes.items, builder->processes.count, 0);
}

/* Begins a new root: sets the event, and the word of the command if trees begin with commands. */
static void start(struct tree_builder *builder, const struct radix_node *root)
{
	const struct group *group = &builder->resolved->counted->groups.items[root_group(root)];
	builder->event = group->event;
	builder->words.count = PREFIX;
	builder->root = SIZE_MAX;
	if (!has_tasks(builder->work))
		return;
	if (builder->work->options->tree.processes) {
		find_processes(builder, group);
		builder->task = *vec_last(&builder->processes);
	} else {
		builder->task = PATHS_COMM | text_index(builder, group->comm);
	}
}

/* Returns the word for the end of a truncated stack. */
static uint64_t word_of_end(struct tree_builder *builder, enum sp_stack_end end,
			    const struct leaf *leaf)
{
	const char *module = NULL;
	char text[300];
	if (end == SP_STACK_NO_UNWIND_INFO) {
		uint32_t frame = answer_frame(resolved_outermost(builder->resolved, leaf));
		module = frame_dso(&builder->work->names->frames.items[frame]);
	}
	const struct end_word *last = &builder->last_end;
	if (last->known && last->event == builder->event && last->end == end &&
	    last->module == module)
		return last->word;
	const char *mark = sp_stack_end_words(end)->mark;
	snprintf(text, sizeof(text), "[truncated%s%s%s%s]", mark ? ": " : " stacks", mark ?: "",
		 module ? " for " : "", module ?: "");
	builder->last_end = (struct end_word){true, builder->event, end, module,
					      PATHS_CUT | text_index(builder, text)};
	return builder->last_end.word;
}

/* Adds words for the functions of a frame, the outermost first. */
static void push_frame(struct tree_builder *builder, uint32_t frame)
{
	const struct labels *labels = builder->work->labels;
	const struct frame_labels *of = &labels->frames.items[frame];
	const struct matches *matches = builder->resolved->counted->work->matches;
	if (!vec_reserve(&builder->words, builder->words.count + of->count)) {
		builder->failed = true;
		return;
	}
	for (uint32_t i = of->first; i < of->first + of->count; i++) {
		uint32_t node = labels->items.items[i].node;
		if (matches && matches->functions[node] & MATCH_ROOT && builder->root == SIZE_MAX)
			builder->root = builder->words.count;
		*vec_push(&builder->words) = node;
	}
}

static void push_node(struct tree_builder *builder, uint32_t at)
{
	const struct resolved *resolved = builder->resolved;
	const struct counted *counted = resolved->counted;
	const struct radix_node *node = &counted->chains.radix.items[at];
	*vec_add(&builder->open, &builder->failed) =
		(struct open_node){at, builder->words.count, builder->root};
	for (uint32_t i = node->run; i < node->run + node->length; i++) {
		/* WORD_GAP: calls are missing in the middle of the stack */
		if (resolved->frames[i] == WORD_GAP)
			*vec_add(&builder->words, &builder->failed) =
				PATHS_CUT | text_index(builder, "[frames omitted]");
		else if (resolved->frames[i] != WORD_NONE)
			push_frame(builder, resolved->frames[i]);
	}
}

/* Writes the words before the calls of a path, and returns the index of the first one. */
static size_t put_prefix(struct tree_builder *builder, const struct leaf *leaf,
			 const struct leaf_part *part, uint64_t *path)
{
	/* With --callees, paths begin in the middle of a stack: its end does not matter. */
	bool whole = leaf->has_chain && !builder->work->options->stacks.callees;
	enum sp_stack_end end = whole ? resolved_stack_end(builder->resolved, leaf) : SP_STACK_NONE;
	size_t begin = PREFIX;
	if (end != SP_STACK_COMPLETE && end != SP_STACK_NONE)
		path[--begin] = word_of_end(builder, end, leaf);
	if (part->text)
		path[--begin] = PATHS_STATE_WORD(part->time, text_index(builder, part->text));
	if (has_tasks(builder->work))
		path[--begin] = builder->task;
	return begin;
}

static void mark(struct tree_builder *builder, struct paths *paths, size_t before, size_t calls)
{
	bool reversed = builder->work->options->tree.order == SP_TREE_CALLEE;
	size_t fixed = builder->fixed;
	for (size_t i = 0; builder->work->options->tree.collapse_recursion && i < calls; i++) {
		struct cycle cycle = builder->cycles.items[i];
		size_t at = reversed ? fixed + calls - i - cycle.calls : before + i;
		if (cycle.calls)
			paths_mark(paths, at, cycle);
	}
}

/*
 * Copies the words to a buffer in which they may be changed, with the room before the calls. NULL
 * when out of memory.
 */
static uint64_t *copy_words(struct tree_builder *builder)
{
	if (!vec_reserve(&builder->path, builder->words.count) ||
	    !vec_reserve(&builder->cycles, builder->words.count))
		return NULL;
	return memcpy(builder->path.items, builder->words.items,
		      builder->words.count * sizeof(uint64_t));
}

/*
 * Returns the path down to the sampled function: PREFIX free words, then *calls_ret calls. NULL
 * when out of memory.
 */
static uint64_t *find_path(struct tree_builder *builder, const struct leaf *leaf, size_t *calls_ret)
{
	const struct analysis_options *options = builder->work->options;
	size_t above = builder->words.count, root = builder->root;
	push_frame(builder, answer_frame(leaf->answer));
	/* Most paths need no copy: `words` already has room for the words before the calls. */
	bool as_is = options->tree.order == SP_TREE_CALLER && !options->tree.collapse_recursion &&
		     !options->stacks.callees;
	uint64_t *path = as_is ? builder->words.items : copy_words(builder);
	/*
	 * `root` is SIZE_MAX if only an unmapped address has the root's name, which is not part of
	 * the path: uses the last call.
	 */
	size_t last = builder->words.count - 1, at = builder->root < last ? builder->root : last;
	size_t first = options->stacks.callees ? at : PREFIX;
	size_t end = (options->stacks.callers ? at : last) + 1;
	builder->words.count = above;
	builder->root = root;
	*calls_ret = end - first;
	return path ? path + first - PREFIX : NULL;
}

/* Adds a path with the weight of a leaf's part, and keeps its node; `place`: the part's number. */
static void add_path(struct tree_builder *builder, const struct leaf *leaf,
		     const struct leaf_part *part, size_t place, const uint64_t *words,
		     size_t count)
{
	struct paths *paths = &builder->events[builder->event]->paths;
	uint32_t node = paths_add(paths, words, count, part->samples, part->weight);
	const struct leaf *first = builder->resolved->counted->leaves.items;
	if (builder->nodes)
		builder->nodes[builder->paths_per_leaf * (size_t)(leaf - first) + place] = node;
	if (part->text)
		paths_add_times(paths, node, &part->times);
}

/*
 * Collapses repeated calls in place; returns how many are left. A function that is inlined into
 * itself is the same call, as its split parts are.
 */
static size_t collapse(struct tree_builder *builder, uint64_t *words, size_t count)
{
	const struct function *functions = builder->work->labels->nodes->items;
	for (size_t i = 1; i < count; i++) {
		if ((words[i - 1] | words[i]) & PATHS_TEXT)
			continue;
		const struct function *outer = &functions[words[i - 1]];
		const struct function *inner = &functions[words[i]];
		if (outer->inlined != inner->inlined && function_equals(outer, inner, false))
			words[i] = words[i - 1];
	}
	return cycles_collapse(words, count, builder->cycles.items);
}

/* Adds a part of a leaf; `place`: the part's number. */
static void add_call_path(struct tree_builder *builder, const struct leaf *leaf,
			  const struct leaf_part *part, size_t place)
{
	const struct analysis_options *options = builder->work->options;
	struct paths *paths = &builder->events[builder->event]->paths;
	size_t calls;
	uint64_t *path = find_path(builder, leaf, &calls);
	builder->failed |= !path;
	if (builder->failed)
		return;
	size_t begin = put_prefix(builder, leaf, part, path);
	if (options->tree.collapse_recursion)
		calls = collapse(builder, path + PREFIX, calls);
	size_t count = PREFIX - begin + calls;
	if (options->tree.order == SP_TREE_CALLEE)
		reverse(path + begin, count, builder->fixed);
	add_path(builder, leaf, part, place, path + begin, count);
	mark(builder, paths, PREFIX - begin, calls);
}

static void add_node(struct tree_builder *builder, uint32_t at)
{
	const struct counted *counted = builder->resolved->counted;
	const struct radix_node *node = &counted->chains.radix.items[at];
	const bool processes = builder->work->options->tree.process_tree;
	while (builder->open.count && vec_last(&builder->open)->node != node->parent) {
		const struct open_node *last = &builder->open.items[--builder->open.count];
		builder->words.count = last->words;
		builder->root = last->root;
	}
	if (node->parent == RADIX_NONE)
		start(builder, node);
	push_node(builder, at);
	for (uint32_t i = builder->first_leaf[at]; i != RADIX_NONE; i = builder->next_leaf[i]) {
		struct leaf_part parts[TIME_STATES];
		const struct leaf *leaf = &counted->leaves.items[i];
		for (size_t j = counted_leaf_parts(counted, i, parts); j-- > 0;)
			if (processes)
				add_path(builder, leaf, &parts[j], j, builder->processes.items,
					 builder->processes.count);
			else
				add_call_path(builder, leaf, &parts[j], j);
	}
}

bool trees_build(struct strtab *strings, struct merged_event *const *events,
		 const struct resolved *resolved, uint32_t *nodes_ret)
{
	const struct work *work = resolved->counted->work;
	CLEANUP(tree_builder_deinit)
	struct tree_builder builder = {.work = work,
				       .strings = strings,
				       .resolved = resolved,
				       .events = events,
				       .paths_per_leaf = trees_paths_per_leaf(work->times->weigher),
				       .nodes = nodes_ret,
				       .fixed = has_tasks(work) +
						(work->times->weigher->parts_max > 0)};
	if (!link_leaves(&builder) || !vec_reserve(&builder.words, PREFIX + 1) ||
	    !vec_reserve(&builder.open, 1) || !vec_reserve(&builder.processes, 1))
		return false;
	for (size_t i = 0; i < resolved->counted->chains.radix.count && !ctx_cancelled(work->ctx);
	     i++) {
		add_node(&builder, resolved->order[i]);
		if (builder.failed || events[builder.event]->paths.failed)
			return false;
	}
	return true;
}
