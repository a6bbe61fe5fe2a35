/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call tree as text:
 *
 *	  total     low–high     self  caller, then what it called
 *	 98.20%    97.8–98.6    0.00%  _start [demo]
 *	                               __libc_start_main [libc.so.6]
 *	                        0.10%  main [demo]
 *	 62.31%    60.9–63.6   62.31%  ├─ hash_words [demo]
 *	 35.89%    34.6–37.2   34.00%  └─ fib [demo] (recursive, 23 deep)
 *
 * Two things are folded, so that what is deep but says little stays narrow: a
 * node that only passes all of its weight to one child is not indented against
 * it, and a function that calls itself is one line for all of its levels.
 *
 * The walk keeps its own stack: call chains may be thousands of frames deep.
 */
#include "out/table.h"

#include <stdlib.h>
#include <string.h>
#include "list.h"
#include "out/format.h"

/* Wider than these, guides leave no room for names. */
#define LEAST_SYMBOL 24

/* A line: one function, or a run of calls to itself. */
struct line {
	const struct sp_tree_node *first, *last; /* of the run; equal if there is none */
	unsigned int depth;
	double self;          /* of all of the run */
	double hidden;        /* children of the run that are below the limit */
	size_t hidden_count;
};

/* One open level of the walk. */
struct level {
	const struct sp_tree_node *node; /* whose children are being written */
	size_t next, shown;
	size_t guide_size; /* of the guides before the children */
	double hidden;
	size_t hidden_count;
};

struct tree {
	const struct report *report;
	const struct term *term;
	FILE *out;
	LIST(struct level) levels; /* that are open */
	char *guides; /* "│  " or "   " for each open level */
	size_t guides_capacity;
};

/* Of the children, which are ordered, those that are not below the limit. */
static size_t shown_children(const struct tree *tree, const struct sp_tree_node *node)
{
	size_t count = 0;
	while (count < node->child_count &&
	       node->children[count].total.share.value >= tree->report->tree_limit)
		count++;
	return count;
}

static bool same_function(const struct sp_tree_node *a, const struct sp_tree_node *b)
{
	return a->level == b->level && !strcmp(node_name(a), node_name(b)) &&
	       (a->dso == b->dso || (a->dso && b->dso && !strcmp(a->dso, b->dso)));
}

static void hide_children(const struct tree *tree, struct line *line)
{
	const struct sp_tree_node *node = line->last;
	double rest = node->total.share.value - node->self.share.value;
	size_t shown = shown_children(tree, node);
	for (size_t i = 0; i < node->child_count; i++) {
		rest -= node->children[i].total.share.value;
		if (i >= shown)
			line->hidden += node->children[i].total.share.value;
	}
	line->hidden_count += node->child_count - shown + node->left_out;
	/* Those that the analysis left out already. */
	if (node->left_out && rest > 0)
		line->hidden += rest;
}

/* The line of `node`, and of the calls of itself that follow. */
static struct line line_of(const struct tree *tree, const struct sp_tree_node *node)
{
	struct line line = {node, node, 1, node->self.share.value, 0, 0};
	hide_children(tree, &line);
	while (shown_children(tree, line.last) == 1 &&
	       same_function(line.last, &line.last->children[0])) {
		line.last = &line.last->children[0];
		line.depth++;
		line.self += line.last->self.share.value;
		hide_children(tree, &line);
	}
	return line;
}

/* The node adds nothing to what its only child says. */
static bool passes_on(const struct sp_tree_node *node)
{
	return node->child_count == 1 && !node->self.samples &&
	       node->children[0].total.samples == node->total.samples &&
	       node->children[0].total.weight == node->total.weight;
}

/* True if one of the functions that are open calls `node`, but not directly. */
static bool calls_itself(const struct tree *tree, const struct sp_tree_node *node)
{
	for (size_t i = 1; i < tree->levels.count; i++)
		if (same_function(tree->levels.items[i].node, node))
			return true;
	return false;
}

static void write_share(const struct tree *tree, double share)
{
	char buffer[FORMAT_SIZE];
	term_begin(tree->term, share_style(share), tree->out);
	fprintf(tree->out, "%7s", format_share(share, buffer));
	term_end(tree->term, share_style(share), tree->out);
}

#define RANGE_WIDTH 11
#define TOTAL_WIDTH (7 + 2 + RANGE_WIDTH + 2)
#define SELF_WIDTH (7 + 2)

/* From a function up to its callers, all self is at the root: there is no column. */
static bool has_self(const struct tree *tree)
{
	return tree->report->tree == SP_TREE_CALLER;
}

static int numbers_width(const struct tree *tree)
{
	return TOTAL_WIDTH + (has_self(tree) ? SELF_WIDTH : 0);
}

static void write_total(const struct tree *tree, const struct sp_share *total)
{
	char buffer[FORMAT_SIZE];
	const char *range = format_range(tree->term, total, buffer);
	write_share(tree, total->value);
	term_begin(tree->term, TERM_DIM, tree->out);
	fprintf(tree->out, "  %*s%s  ", RANGE_WIDTH - term_text_width(tree->term, range), "", range);
	term_end(tree->term, TERM_DIM, tree->out);
}

/* The numbers of a line. Those that only pass on weight share the first one's total. */
static void write_numbers(const struct tree *tree, const struct line *line, bool first)
{
	if (first)
		write_total(tree, &line->first->total.share);
	else
		fprintf(tree->out, "%*s", TOTAL_WIDTH, "");
	if (!has_self(tree))
		return;
	if (first || line->self > 0)
		write_share(tree, line->self);
	else
		fprintf(tree->out, "%7s", "");
	fputs("  ", tree->out);
}

#define INLINED_WIDTH 10

/* "name file.c:123 (inlined) [dso]" in what the guides leave of the terminal's width. */
static bool write_name(const struct tree *tree, const struct sp_tree_node *node, int guides)
{
	const struct term *term = tree->term;
	const char *name = node_name(node);
	char *made = NULL;
	int width = 0;
	if (term->width) {
		int dso = node->dso ? term_text_width(term, node->dso) + 3 : 0;
		int line = node->srcline ? term_text_width(term, node->srcline) + 1 : 0;
		width = term->width - numbers_width(tree) - guides - dso - line;
		width -= node->inlined ? INLINED_WIDTH : 0;
		if (width < LEAST_SYMBOL)
			width = LEAST_SYMBOL;
		name = name_shorten(term, name, width, &made);
		if (!name)
			return false;
	}
	enum term_style style = node->truncated                  ? TERM_WARNING
				: !node->symbol_known         ? TERM_DIM
				: node->level == SP_LEVEL_USER ? TERM_PLAIN
							       : TERM_KERNEL;
	term_begin(term, style, tree->out);
	term_put(term, name, width, tree->out);
	term_end(term, style, tree->out);
	free(made);
	if (!node->srcline && !node->inlined && !node->dso)
		return true;
	term_begin(term, TERM_DIM, tree->out);
	if (node->srcline) {
		putc(' ', tree->out);
		term_put(term, node->srcline, 0, tree->out);
	}
	if (node->inlined)
		fputs(" (inlined)", tree->out);
	if (node->dso) {
		bool bare = *node->dso != '['; /* "[kernel.kallsyms]" has its own */
		fputs(bare ? " [" : " ", tree->out);
		term_put(term, node->dso, 0, tree->out);
		fputs(bare ? "]" : "", tree->out);
	}
	term_end(term, TERM_DIM, tree->out);
	return true;
}

static void write_guides(const struct tree *tree, const char *branch)
{
	term_begin(tree->term, TERM_DIM, tree->out);
	if (tree->guides)
		fputs(tree->guides, tree->out);
	fputs(branch, tree->out);
	term_end(tree->term, TERM_DIM, tree->out);
}

/* Room for `size` bytes of guides and a NUL. */
static bool reserve_guides(struct tree *tree, size_t size)
{
	bool first = !tree->guides;
	if (size + 1 > tree->guides_capacity &&
	    !list_grow(&tree->guides, &tree->guides_capacity, size + 1, 1))
		return false;
	if (first)
		tree->guides[0] = '\0';
	return true;
}

/* Opens the level of the line's children. */
static bool push_level(struct tree *tree, const struct line *line, const char *guide)
{
	size_t size = tree->guides ? strlen(tree->guides) : 0;
	if (!list_reserve(&tree->levels, tree->levels.count + 1) ||
	    !reserve_guides(tree, size + strlen(guide)))
		return false;
	strcpy(tree->guides + size, guide);
	*list_push(&tree->levels) = (struct level){
		.node = line->last,
		.shown = shown_children(tree, line->last),
		.guide_size = size,
		.hidden = line->hidden,
		.hidden_count = line->hidden_count,
	};
	return true;
}

static void pop_level(struct tree *tree)
{
	tree->guides[tree->levels.items[--tree->levels.count].guide_size] = '\0';
}

/*
 * Worth a line of its own: together, they are not below the limit. Where nothing
 * else is shown, the title has said it.
 */
static bool tells_hidden(const struct tree *tree, const struct level *level)
{
	return level->shown && level->hidden_count && level->hidden >= tree->report->tree_limit;
}

static void write_hidden(const struct tree *tree, const struct level *level)
{
	char share[FORMAT_SIZE];
	term_begin(tree->term, TERM_DIM, tree->out);
	fprintf(tree->out, "%7s%*s", format_share(level->hidden, share), numbers_width(tree) - 7, "");
	term_end(tree->term, TERM_DIM, tree->out);
	write_guides(tree, tree->levels.count > 1 ? term_glyph(tree->term, "└─ ", "`- ") : "");
	term_begin(tree->term, TERM_DIM, tree->out);
	fprintf(tree->out, "%s %zu more, each below %s\n", term_glyph(tree->term, "…", "..."),
		level->hidden_count, format_share(tree->report->tree_limit, share));
	term_end(tree->term, TERM_DIM, tree->out);
}

/* What was collapsed to this node and those that follow. */
static void write_cycle(const struct tree *tree, const struct sp_tree_node *node)
{
	if (node->cycle_calls == 1)
		fprintf(tree->out, " (recursive, up to %u deep)", node->cycle_rounds);
	else
		fprintf(tree->out, " (begins %u calls that repeat, up to %u times)",
			node->cycle_calls, node->cycle_rounds);
}

/* Writes the next child of the innermost level, and opens its own. */
static bool write_child(struct tree *tree)
{
	struct level *level = &tree->levels.items[tree->levels.count - 1];
	const struct sp_tree_node *node = &level->node->children[level->next++];
	bool top = tree->levels.count == 1;
	bool last = level->next == level->shown && !tells_hidden(tree, level);
	const char *branch = last ? term_glyph(tree->term, "└─ ", "`- ")
				  : term_glyph(tree->term, "├─ ", "|- ");
	const char *guide = top ? "" : last ? "   " : term_glyph(tree->term, "│  ", "|  ");
	int guides = top ? 0 : (int)(tree->levels.count - 1) * 3;
	struct line line = line_of(tree, node);
	write_numbers(tree, &line, true);
	write_guides(tree, top ? "" : branch);
	for (;;) {
		if (!write_name(tree, line.first, guides))
			return false;
		if (line.first->cycle_calls)
			write_cycle(tree, line.first);
		else if (line.depth > 1)
			fprintf(tree->out, " (recursive, %u deep)", line.depth);
		else if (calls_itself(tree, line.first))
			fputs(" (recursive)", tree->out);
		putc('\n', tree->out);
		if (line.depth > 1 || !passes_on(line.last))
			break;
		line = line_of(tree, &line.last->children[0]);
		write_numbers(tree, &line, false);
		write_guides(tree, guide);
	}
	return push_level(tree, &line, guide);
}

static void write_titles(const struct tree *tree)
{
	const char *range = term_glyph(tree->term, "low–high", "low-high");
	char limit[FORMAT_SIZE];
	term_begin(tree->term, TERM_DIM, tree->out);
	fprintf(tree->out, "%7s  %*s%s  ", "total", RANGE_WIDTH - 8, "", range);
	if (has_self(tree))
		fprintf(tree->out, "%7s  caller, then what it called", "self");
	else
		fputs("function, then its callers", tree->out);
	if (tree->report->tree_limit > 0)
		fprintf(tree->out, "; below %s left out",
			format_share(tree->report->tree_limit, limit));
	term_end(tree->term, TERM_DIM, tree->out);
	putc('\n', tree->out);
}

static bool walk(struct tree *tree)
{
	while (tree->levels.count) {
		const struct level *level = &tree->levels.items[tree->levels.count - 1];
		if (level->next < level->shown) {
			if (!write_child(tree))
				return false;
			continue;
		}
		if (tells_hidden(tree, level))
			write_hidden(tree, level);
		pop_level(tree);
	}
	return true;
}

bool tree_write(const struct report *report, const struct sp_profile *profile, FILE *out)
{
	struct tree tree = {.report = report, .term = &report->term, .out = out};
	struct line root = {profile->tree, profile->tree, 1, 0, 0, 0};
	hide_children(&tree, &root);
	write_titles(&tree);
	bool done = push_level(&tree, &root, "") && walk(&tree);
	free(tree.levels.items);
	free(tree.guides);
	return done;
}
