/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call tree as text:
 *
 *   total   low–high    self  call tree, callers first
 *  98.20%  97.8–98.6   0.00%  _start [demo]
 *                             __libc_start_main [libc.so.6]
 *                      0.10%  main [demo]
 *  62.31%  60.9–63.6  62.31%  ├─ hash_words
 *  35.89%  34.6–37.2  34.00%  └─ fib (recursive, up to 23 deep)
 *
 * To keep deep trees narrow, a child with more than 99 % of the weight of the last line with a
 * total is not indented. The analysis made one node of the levels of a recursion
 * (collapse_recursion): a level may be below the limit, though all of them together are hot. The
 * code's file is shown if it differs from the caller's.
 *
 * The walk uses an explicit stack: call chains may be thousands of frames deep.
 */
#include "memory.h"
#include "out/table.h"

#include <stdlib.h>
#include <string.h>
#include "buffer.h"
#include "list.h"
#include "out/columns.h"

/* Least width of a line's text after the guides, and least width of the name alone. */
#define LEAST_LINE 28
#define LEAST_SYMBOL 12

/* A child with more than this part of the weight of the last line with a total is not indented. */
#define CHAIN_SHARE 0.99

/*
 * Open level of the walk: nodes that are not indented, while the last one's children are written.
 */
struct tree_level {
	const struct sp_tree_node *first, *last;
	size_t next, shown; /* children of `last` */
	size_t guide_size;  /* length of `guides` before this level's part was appended */
	double hidden;      /* share of the nodes' children below the limit */
	size_t hidden_count;
};

struct tree_writer {
	const struct report *report;
	const struct term *term;
	FILE *out;
	int decimals; /* decimals of intervals */
	bool has_depths; /* a line has its depth in place of guides */
	LIST(struct tree_level) levels; /* open levels */
	struct buffer guides; /* guides of the open levels: "│  " or "   " for each */
};

/* Counts the children with a share at or above the limit; children are ordered. */
static size_t shown_children(const struct tree_writer *tree, const struct sp_tree_node *node)
{
	size_t count = 0;
	while (count < node->child_count &&
	       sp_tree_child(node, count)->total.share.value >= tree->report->tree_limit)
		count++;
	return count;
}

static bool same_function(const struct sp_tree_node *a, const struct sp_tree_node *b)
{
	return a->level == b->level && !strcmp(node_name(a), node_name(b)) &&
	       text_is_same(a->dso, b->dso);
}

/*
 * Makes a node the last one of a level, and adds its children below the limit to the hidden ones.
 */
static void extend_level(const struct tree_writer *tree, struct tree_level *level,
			 const struct sp_tree_node *node)
{
	double rest = node->total.share.value - node->self.share.value;
	level->last = node;
	level->shown = shown_children(tree, node);
	for (size_t i = 0; i < node->child_count; i++) {
		double share = sp_tree_child(node, i)->total.share.value;
		rest -= share;
		if (i >= level->shown)
			level->hidden += share;
	}
	level->hidden_count += node->child_count - level->shown + node->left_out;
	/* The analysis left out small nodes (left_out): adds their share. */
	if (node->left_out && rest > 0)
		level->hidden += rest;
}

/*
 * Returns whether only one child is shown, and it has nearly all weight of the level's first node.
 */
static bool passes_on(const struct tree_writer *tree, const struct tree_level *level)
{
	return !tree->report->process_tree && level->shown == 1 &&
	       (double)sp_tree_child(level->last, 0)->total.weight >
		       CHAIN_SHARE * (double)level->first->total.weight;
}

/*
 * Returns whether one of the open levels has the same function, so that it calls itself through
 * other functions.
 */
static bool calls_itself(const struct tree_writer *tree, const struct sp_tree_node *node)
{
	for (size_t i = 1; i < tree->levels.count; i++) {
		const struct tree_level *level = &tree->levels.items[i];
		const struct sp_tree_node *at = level->first;
		while (at != level->last && !same_function(at, node))
			at = sp_tree_child(at, 0);
		if (same_function(at, node))
			return true;
	}
	return false;
}

static void write_share(const struct tree_writer *tree, double share)
{
	char buffer[FORMAT_SIZE];
	term_begin(tree->term, share_style(share), tree->out);
	fprintf(tree->out, "%7s", format_share(share, buffer));
	term_end(tree->term, share_style(share), tree->out);
}

#define SHARE_WIDTH 7
#define SELF_WIDTH (SHARE_WIDTH + 2)

static int total_width(const struct tree_writer *tree)
{
	bool ranges = report_has_intervals(tree->report);
	return SHARE_WIDTH + 2 + (ranges ? range_width(tree->decimals) + 2 : 0);
}

/* Returns whether lines show self. In a tree from callee to callers, only the roots have self. */
static bool has_self(const struct tree_writer *tree)
{
	return tree->report->tree == SP_TREE_CALLER;
}

static int numbers_width(const struct tree_writer *tree)
{
	return total_width(tree) + (has_self(tree) ? SELF_WIDTH : 0);
}

static void write_total(const struct tree_writer *tree, const struct sp_share *total)
{
	char buffer[FORMAT_SIZE];
	write_share(tree, total->value);
	term_pad(2, tree->out);
	if (!report_has_intervals(tree->report))
		return;
	term_begin(tree->term, TERM_DIM, tree->out);
	fprintf(tree->out, "%s  ", format_range(tree->term, total, tree->decimals, buffer));
	term_end(tree->term, TERM_DIM, tree->out);
}

/*
 * Writes the total and self of a line. A line that is not indented has nearly its caller's total,
 * so only the `first` line shows a total.
 */
static void write_numbers(const struct tree_writer *tree, const struct sp_tree_node *node,
			  bool first)
{
	if (first)
		write_total(tree, &node->total.share);
	else
		fprintf(tree->out, "%*s", total_width(tree), "");
	if (!has_self(tree))
		return;
	if (first || node->self.share.value > 0)
		write_share(tree, node->self.share.value);
	else
		fprintf(tree->out, "%7s", "");
	fputs("  ", tree->out);
}

/* Formats the suffix " (recursive, up to 8 deep)"; "" if the function does not call itself. */
static void format_suffix(const struct tree_writer *tree, const struct sp_tree_node *node, int room,
			  char *buffer, size_t size)
{
	*buffer = '\0';
	if (node->cycle_calls == 1)
		snprintf(buffer, size, " (recursive, up to %u deep)", node->cycle_rounds);
	else if (node->cycle_calls)
		snprintf(buffer, size, " (%u calls that repeat, up to %u times)", node->cycle_calls,
			 node->cycle_rounds);
	else if (calls_itself(tree, node))
		snprintf(buffer, size, " (recursive)");
	if (tree->term->width && (int)strlen(buffer) > room - LEAST_SYMBOL - 8)
		snprintf(buffer, size, node->cycle_calls > 1 ? " (repeats)" : " (recursive)");
}

/* Writes " [dso]" in `room` columns (0: no limit). The kernel's name already has brackets. */
static void write_dso(const struct tree_writer *tree, const char *dso, int room)
{
	bool bare = *dso != '[';
	fputs(bare ? " [" : " ", tree->out);
	term_put(tree->term, dso, room ? room - (bare ? 3 : 1) : 0, tree->out);
	fputs(bare ? "]" : "", tree->out);
}

/*
 * Widths of a name and the parts after it. If there is too little room, the name shrinks first,
 * then the dso, then the source line.
 */
struct widths {
	int name, dso, srcline; /* columns on a terminal; a file without room is omitted */
	bool inlined;
};

static struct widths fit_name(const struct tree_writer *tree, const struct sp_tree_node *node,
			      const char *dso, int room)
{
	const struct term *term = tree->term;
	struct widths widths = {.inlined = node->inlined};
	if (!term->width)
		return widths;
	widths.dso = dso ? term_text_width(term, dso) + (*dso == '[' ? 1 : 3) : 0;
	widths.srcline = node->srcline ? term_text_width(term, node->srcline) + 1 : 0;
	int inlined = node->inlined ? (int)strlen(COLUMN_INLINED) : 0;
	int least = term_text_width(term, node_name(node));
	least = least < LEAST_SYMBOL ? least : LEAST_SYMBOL;
	int excess = least + widths.dso + widths.srcline + inlined - room;
	if (excess > 0 && inlined) {
		widths.inlined = false;
		excess -= inlined;
		inlined = 0;
	}
	int given = excess > widths.dso - 8 ? widths.dso - 8 : excess;
	if (given > 0) {
		widths.dso -= given;
		excess -= given;
	}
	given = excess > widths.srcline - 8 ? widths.srcline - 8 : excess;
	if (given > 0) {
		widths.srcline -= given;
		excess -= given;
	}
	if (excess > 0)
		widths.dso = 0;
	widths.name = room - widths.dso - widths.srcline - inlined;
	if (widths.name < 1)
		widths.name = 1;
	return widths;
}

/*
 * Writes a process's text, "cc1 file.c (PID)", in `width` columns (0: no limit), with its whole
 * pid.
 */
static void write_process(const struct tree_writer *tree, const char *text, int width)
{
	const char *pid = strrchr(text, ' ');
	int rest = width - (pid ? (int)strlen(pid) : 0);
	if (!pid || !width || rest < 1 || term_text_width(tree->term, text) <= width) {
		term_put(tree->term, text, width, tree->out);
		return;
	}
	char *head = xstrndup(text, (size_t)(pid - text));
	term_put(tree->term, head, rest, tree->out);
	term_put(tree->term, pid, 0, tree->out);
	free(head);
}

/*
 * Writes a line's end, "name file.c:123 (inlined) [dso] (recursive)"; the dso only if it differs
 * from `before`.
 */
static void write_name(const struct tree_writer *tree, const struct sp_tree_node *node,
		       const char *before, int guides)
{
	const struct term *term = tree->term;
	const char *dso = text_is_same(node->dso, before) ? NULL : node->dso;
	char suffix[64], *made = NULL;
	int room = term->width - numbers_width(tree) - guides;
	format_suffix(tree, node, room, suffix, sizeof(suffix));
	struct widths widths = fit_name(tree, node, dso, room - (int)strlen(suffix));
	if (term->width && !widths.dso)
		dso = NULL;
	if (tree->report->process_tree) {
		write_process(tree, node_name(node), widths.name);
		putc('\n', tree->out);
		return;
	}
	const char *name = name_shorten(term, node_name(node), widths.name, &made);
	enum term_style style = node_style(node);
	term_begin(term, style, tree->out);
	term_put(term, name, widths.name, tree->out);
	term_end(term, style, tree->out);
	free(made);
	term_begin(term, TERM_DIM, tree->out);
	if (node->srcline) {
		putc(' ', tree->out);
		term_put(term, node->srcline, widths.srcline ? widths.srcline - 1 : 0, tree->out);
	}
	if (widths.inlined)
		fputs(COLUMN_INLINED, tree->out);
	if (dso)
		write_dso(tree, dso, widths.dso);
	term_end(term, TERM_DIM, tree->out);
	fprintf(tree->out, "%s\n", suffix);
}

/*
 * Writes the vertical guides and the branch of a line at `depth` levels, 3 columns each. If there is
 * too little room, the depth replaces the inner guides and the branch. Returns the columns written.
 */
static int write_guides(struct tree_writer *tree, const char *branch, size_t depth)
{
	int room = tree->term->width - numbers_width(tree) - LEAST_LINE;
	size_t most = room > 9 ? (size_t)room / 3 : 3, count = tree->guides.count;
	char number[24] = "";
	term_begin(tree->term, TERM_DIM, tree->out);
	bool deep = tree->term->width && depth > most;
	if (deep) {
		tree->has_depths = true;
		depth = most;
		/* The guides of the first level are empty. The number takes the columns of two. */
		count = tree->levels.items[depth].guide_size;
		if (*branch)
			snprintf(number, sizeof(number), "%zu:", tree->levels.count - 1);
	}
	fprintf(tree->out, "%.*s%-*s%s", (int)count, count ? tree->guides.text : "", deep ? 6 : 0,
		number, deep ? "" : branch);
	term_end(tree->term, TERM_DIM, tree->out);
	return (int)depth * 3;
}

static void push_level(struct tree_writer *tree, const struct sp_tree_node *node, const char *guide)
{
	size_t size = tree->guides.count;
	buffer_put(&tree->guides, guide, strlen(guide) + 1);
	tree->guides.count--;
	struct tree_level *level = list_push(&tree->levels);
	*level = (struct tree_level){.first = node, .guide_size = size};
	extend_level(tree, level, node);
}

static void pop_level(struct tree_writer *tree)
{
	tree->guides.count = tree->levels.items[--tree->levels.count].guide_size;
	tree->guides.text[tree->guides.count] = '\0';
}

/* Returns whether a line for the hidden children is written: if they reach the limit together. */
static bool tells_hidden(const struct tree_writer *tree, const struct tree_level *level)
{
	return !tree->report->process_tree && level->hidden_count &&
	       level->hidden >= tree->report->tree_limit;
}

/* Writes the end of a line, after `used` columns, as far as the terminal has room. */
static void write_rest(const struct tree_writer *tree, const char *text, int used)
{
	int room = tree->term->width - used;
	term_begin(tree->term, TERM_DIM, tree->out);
	term_put(tree->term, text, !tree->term->width ? 0 : room > 0 ? room : 1, tree->out);
	term_end(tree->term, TERM_DIM, tree->out);
	putc('\n', tree->out);
}

static void write_hidden(struct tree_writer *tree, const struct tree_level *level)
{
	char share[FORMAT_SIZE], text[2 * FORMAT_SIZE];
	term_begin(tree->term, TERM_DIM, tree->out);
	fprintf(tree->out, "%7s%*s", format_share(level->hidden, share),
		numbers_width(tree) - SHARE_WIDTH, "");
	term_end(tree->term, TERM_DIM, tree->out);
	int used = write_guides(tree,
				tree->levels.count > 1 ? term_glyph(tree->term, "└─ ", "`- ") : "",
				tree->levels.count > 1 ? tree->levels.count - 1 : 0);
	snprintf(text, sizeof(text), "%s %zu more, each below %s",
		 term_glyph(tree->term, "…", "..."), level->hidden_count,
		 format_share(tree->report->tree_limit, share));
	write_rest(tree, text, numbers_width(tree) + used);
}

/* Writes the next child of the innermost open level, and opens the child's level. */
static void write_child(struct tree_writer *tree)
{
	size_t depth = tree->levels.count - 1;
	struct tree_level *level = &tree->levels.items[depth];
	const struct sp_tree_node *node = sp_tree_child(level->last, level->next++);
	bool last = level->next == level->shown && !tells_hidden(tree, level);
	const char *branch = last ? term_glyph(tree->term, "└─ ", "`- ")
				  : term_glyph(tree->term, "├─ ", "|- ");
	const char *guide = last ? "   " : term_glyph(tree->term, "│  ", "|  ");
	write_numbers(tree, node, true);
	int guides = write_guides(tree, depth ? branch : "", depth);
	write_name(tree, node, level->last->dso, guides);
	push_level(tree, node, depth ? guide : "");
	level = &tree->levels.items[depth + 1];
	while (passes_on(tree, level)) {
		node = sp_tree_child(level->last, 0);
		write_numbers(tree, node, false);
		guides = write_guides(tree, "", depth);
		write_name(tree, node, level->last->dso, guides);
		extend_level(tree, level, node);
	}
}

static void write_titles(const struct tree_writer *tree)
{
	const char *range = term_glyph(tree->term, "low–high", "low-high");
	char limit[FORMAT_SIZE], text[2 * FORMAT_SIZE];
	term_begin(tree->term, TERM_DIM, tree->out);
	fprintf(tree->out, "%7s  ", "total");
	if (report_has_intervals(tree->report))
		fprintf(tree->out, "%*s%s  ", range_width(tree->decimals) - 8, "", range);
	if (has_self(tree))
		fprintf(tree->out, "%7s  ", "self");
	term_end(tree->term, TERM_DIM, tree->out);
	bool limited = tree->report->tree_limit > 0;
	bool narrow = !report_has_intervals(tree->report) || tree->has_depths;
	snprintf(text, sizeof(text), "%s%s%s%s%s%s",
		 narrow			      ? ""
		 : tree->report->process_tree ? "processes, "
		 : has_self(tree)	      ? "call tree, "
					      : "functions, ",
		 tree->report->process_tree ? "parents first"
		 : has_self(tree)	    ? "callers first"
					    : "callees first",
		 limited ? "; below " : "",
		 limited ? format_share(tree->report->tree_limit, limit) : "",
		 limited ? " hidden" : "",
		 tree->has_depths ? "; N: depth" : "");
	write_rest(tree, text, numbers_width(tree));
}

/* Processes with shares below a limit. */
struct process_counts {
	size_t hidden;
	double hidden_self;
};

/* Counts the processes below `node`. Their tree is not deep: the analysis limits it. */
static void count_processes(const struct sp_tree_node *node, double limit,
			    struct process_counts *counts)
{
	for (size_t i = 0; i < node->child_count; i++) {
		const struct sp_tree_node *child = sp_tree_child(node, i);
		bool hidden = child->total.share.value < limit;
		counts->hidden += hidden;
		counts->hidden_self += hidden ? child->self.share.value : 0;
		count_processes(child, limit, counts);
	}
}

/* Writes the number of hidden processes, and their own time. */
static void write_hidden_processes(struct tree_writer *tree, const struct sp_tree_node *root)
{
	struct process_counts counts = {0};
	count_processes(root, tree->report->tree_limit, &counts);
	const struct tree_level level = {.hidden = counts.hidden_self,
					 .hidden_count = counts.hidden};
	if (counts.hidden)
		write_hidden(tree, &level);
}

void tree_write(const struct report *report, const struct sp_profile *profile, FILE *out)
{
	struct report limited = *report;
	struct tree_writer tree = {.report = &limited, .term = &report->term, .out = out};
	size_t hidden;
	report_limit_tree(report, profile->tree, &limited.tree_limit, &hidden);
	tree.decimals = range_decimals(profile->samples);
	char *lines = NULL;
	size_t size;
	tree.out = text_stream_open(&lines, &size);
	push_level(&tree, profile->tree, "");
	while (tree.levels.count) {
		const struct tree_level *level = &tree.levels.items[tree.levels.count - 1];
		if (level->next < level->shown) {
			write_child(&tree);
			continue;
		}
		if (tells_hidden(&tree, level))
			write_hidden(&tree, level);
		pop_level(&tree);
	}
	if (report->process_tree)
		write_hidden_processes(&tree, profile->tree);
	text_stream_close(tree.out, &lines);
	tree.out = out;
	write_titles(&tree);
	fputs(lines, out);
	free(lines);
	free(tree.levels.items);
	buffer_deinit(&tree.guides);
}
