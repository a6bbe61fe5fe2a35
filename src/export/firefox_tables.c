/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/firefox_tables.h"

#include <stdlib.h>
#include "list.h"
#include "out/report.h"

/* Name for the callees of a node that a limit of shares removes from the tree. */
#define LEFT_OUT_NAME "[below --percent-limit]"

/* Firefox keeps addresses in 32 bits; only addresses in the kernel are larger. */
#define ADDRESS_MASK UINT32_MAX

static enum firefox_category category_of(const struct sp_tree_node *node, enum sp_state state)
{
	if (state == SP_STATE_BLOCKED)
		return CATEGORY_BLOCKED;
	if (state == SP_STATE_RUNNABLE)
		return CATEGORY_RUNNABLE;
	if (!node || node->truncated)
		return CATEGORY_OTHER;
	switch (node->level) {
	case SP_LEVEL_USER:
		return CATEGORY_USER;
	case SP_LEVEL_KERNEL:
		return CATEGORY_KERNEL;
	default:
		return CATEGORY_OTHER;
	}
}

/*
 * Gets the row of a text in `table`, a table with the text's string as its only column.
 * FIREFOX_NONE: no text.
 */
static bool add_name(struct firefox_tables *tables, struct unique *table, const char *text, uint64_t *ret)
{
	*ret = FIREFOX_NONE;
	if (!text)
		return true;
	uint64_t string = unique_add_text(&tables->strings, text);
	uint32_t row = string == UNIQUE_NONE ? UNIQUE_NONE : unique_add(table, &string);
	*ret = row;
	return row != UNIQUE_NONE;
}

/*
 * Gets the node's function. Equal functions may have nodes with different lines. A function that is
 * inlined everywhere has no address, and its source file identifies it.
 */
static bool add_function(struct firefox_tables *tables, const struct sp_tree_node *node,
			 uint64_t library, uint64_t *ret)
{
	uint64_t row[FUNCTION_COLUMNS] = {0}, source;
	size_t before = tables->functions.count;
	row[FUNCTION_NAME] = unique_add_text(&tables->strings, node ? node_name(node) : LEFT_OUT_NAME);
	if (row[FUNCTION_NAME] == UNIQUE_NONE ||
	    !add_name(tables, &tables->sources, node ? node->srcpath : NULL, &source))
		return false;
	row[FUNCTION_LIBRARY] = library;
	row[FUNCTION_SOURCE] = node && node->inlined && !node->address ? source : FIREFOX_NONE;
	row[FUNCTION_ADDRESS] = node ? node->address : 0;
	row[FUNCTION_LEVEL] = node ? node->level : 0;
	*ret = unique_add(&tables->functions, row);
	if (*ret == UNIQUE_NONE)
		return false;
	if (tables->functions.count > tables->function_source_capacity &&
	    !list_grow(&tables->function_sources, &tables->function_source_capacity,
		       tables->functions.count, sizeof(*tables->function_sources)))
		return false;
	if (tables->functions.count > before || tables->function_sources[*ret] == FIREFOX_NONE)
		tables->function_sources[*ret] = source;
	return true;
}

/* Gets the machine code's symbol that a node which is not inlined stands for. */
static bool add_symbol(struct firefox_tables *tables, const struct sp_tree_node *node,
		       uint64_t library, uint64_t *ret)
{
	uint64_t row[SYMBOL_COLUMNS] = {library, node->address & ADDRESS_MASK};
	row[SYMBOL_NAME] = unique_add_text(&tables->strings, node_name(node));
	*ret = row[SYMBOL_NAME] == UNIQUE_NONE ? UNIQUE_NONE : unique_add(&tables->symbols, row);
	return *ret != UNIQUE_NONE;
}

/*
 * Adds a node's frame. Inlined frames have the symbol of their physical frame. Only code without a
 * symbol has an address of its own; of other code the tree has the function's begin, which was not
 * sampled.
 */
static bool add_frame(struct firefox_tables *tables, const struct sp_timeline *timeline, size_t index)
{
	const struct sp_timeline_node *item = &timeline->nodes[index];
	const struct sp_tree_node *node = item->node;
	uint32_t parent = tables->node_frames[item->parent];
	bool named = node && (node->symbol_known || node->from_cfi);
	tables->node_states[index] = node && node->state ? node->state : tables->node_states[item->parent];
	uint64_t library, row[FRAME_COLUMNS] = {
		[FRAME_ADDRESS] = node && node->dso && !named ? node->address & ADDRESS_MASK : FIREFOX_NONE,
		[FRAME_CATEGORY] = category_of(node, tables->node_states[index]),
		[FRAME_SYMBOL] = FIREFOX_NONE,
		[FRAME_LINE] = node && node->line ? node->line : FIREFOX_NONE,
	};
	if (!add_name(tables, &tables->libraries, node ? node->dso : NULL, &library) ||
	    !add_function(tables, node, library, &row[FRAME_FUNCTION]))
		return false;
	if (node && node->inlined && parent != UNIQUE_NONE) {
		row[FRAME_ADDRESS] = unique_number(&tables->frames, parent, FRAME_ADDRESS);
		row[FRAME_DEPTH] = unique_number(&tables->frames, parent, FRAME_DEPTH) + 1;
		row[FRAME_SYMBOL] = unique_number(&tables->frames, parent, FRAME_SYMBOL);
	} else if (named && library != FIREFOX_NONE &&
		   !add_symbol(tables, node, library, &row[FRAME_SYMBOL])) {
		return false;
	}
	tables->node_frames[index] = unique_add(&tables->frames, row);
	return tables->node_frames[index] != UNIQUE_NONE;
}

bool firefox_tables_init(struct firefox_tables *tables, const struct sp_timeline *timeline)
{
	bool done = true;
	*tables = (struct firefox_tables){
		.sources.columns = SOURCE_COLUMNS,
		.libraries.columns = LIBRARY_COLUMNS,
		.symbols.columns = SYMBOL_COLUMNS,
		.functions.columns = FUNCTION_COLUMNS,
		.frames.columns = FRAME_COLUMNS,
	};
	if (!timeline || !timeline->node_count)
		return true;
	tables->node_frames = calloc(timeline->node_count, sizeof(*tables->node_frames));
	tables->node_states = calloc(timeline->node_count, sizeof(*tables->node_states));
	if (!tables->node_frames || !tables->node_states)
		return false;
	tables->node_frames[0] = UNIQUE_NONE;
	for (size_t i = 1; i < timeline->node_count && done; i++)
		done = add_frame(tables, timeline, i);
	return done;
}

void firefox_tables_deinit(struct firefox_tables *tables)
{
	unique_deinit(&tables->strings);
	unique_deinit(&tables->sources);
	unique_deinit(&tables->libraries);
	unique_deinit(&tables->symbols);
	unique_deinit(&tables->functions);
	unique_deinit(&tables->frames);
	free(tables->function_sources);
	free(tables->node_frames);
	free(tables->node_states);
}
