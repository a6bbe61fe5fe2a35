/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call tree as text:
 *
 *   total   low–high    self  call tree, callers first
 *  98.20%  97.8–98.6   0.00%  _start [demo]
 *                             __libc_start_main [libc.so.6]
 *                      0.10%  main [demo]
 *  62.31%  60.9–63.6  62.31%  ├─ hash_words
 *  35.89%  34.6–37.2  34.00%  └─ fib (recursive, 23 deep)
 *
 * To keep deep trees narrow, a child with more than 99 % of its caller's weight is not indented. All
 * levels of a function that calls itself are one line. The code's file is shown if it differs from the
 * caller's.
 *
 * The walk uses an explicit stack: call chains may be thousands of frames deep.
 */
#include "out/table.h"

#include <stdlib.h>
#include <string.h>
#include "list.h"
#include "out/columns.h"

/* Least width of a line's text after the guides, and least width of the name alone. */
#define LEAST_LINE 28
#define LEAST_SYMBOL 12

/* A child with more than this part of its caller's weight is not indented. */
#define CHAIN_SHARE 0.99

/* Line of the tree: one function, or several levels of a function that calls itself. */
struct tree_line {
	const struct sp_tree_node *first, *last; /* outermost and innermost level; equal if there is one */
	unsigned int depth;
	double self;          /* sum of all levels */
	double hidden;        /* share of the children that are hidden, because they are below the limit */
	size_t hidden_count;
};

/* Open level of the walk: a node while its children are being written. */
struct tree_level {
	const struct sp_tree_node *node; /* node; its children are being written */
	size_t next, shown;
	size_t guide_size; /* length of `guides` before this level's part was appended */
	double hidden;
	size_t hidden_count;
};

struct tree_writer {
	const struct report *report;
	const struct term *term;
	FILE *out;
	int decimals; /* decimals of intervals */
	LIST(struct tree_level) levels; /* open levels */
	char *guides; /* guides of the open levels: "│  " or "   " for each */
	size_t guides_capacity;
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
	       (a->dso == b->dso || (a->dso && b->dso && !strcmp(a->dso, b->dso)));
}

static void hide_children(const struct tree_writer *tree, struct tree_line *line)
{
	const struct sp_tree_node *node = line->last;
	double rest = node->total.share.value - node->self.share.value;
	size_t shown = shown_children(tree, node);
	for (size_t i = 0; i < node->child_count; i++) {
		double share = sp_tree_child(node, i)->total.share.value;
		rest -= share;
		if (i >= shown)
			line->hidden += share;
	}
	line->hidden_count += node->child_count - shown + node->left_out;
	/* The analysis left out small nodes (left_out): adds their share. */
	if (node->left_out && rest > 0)
		line->hidden += rest;
}

/* Returns the line of `node` and of the directly recursive calls below it. */
static struct tree_line line_of(const struct tree_writer *tree, const struct sp_tree_node *node)
{
	struct tree_line line = {node, node, 1, node->self.share.value, 0, 0};
	hide_children(tree, &line);
	while (shown_children(tree, line.last) == 1 &&
	       same_function(line.last, sp_tree_child(line.last, 0))) {
		line.last = sp_tree_child(line.last, 0);
		line.depth++;
		line.self += line.last->self.share.value;
		hide_children(tree, &line);
	}
	return line;
}

/* Returns whether only one child is shown, and it has nearly all weight of the node. */
static bool passes_on(const struct tree_writer *tree, const struct sp_tree_node *node)
{
	return !tree->report->process_tree && shown_children(tree, node) == 1 &&
	       (double)sp_tree_child(node, 0)->total.weight >
		       CHAIN_SHARE * (double)node->total.weight;
}

/*
 * Returns whether one of the open levels has the same function, so that it calls itself through other
 * functions.
 */
static bool calls_itself(const struct tree_writer *tree, const struct sp_tree_node *node)
{
	for (size_t i = 1; i < tree->levels.count; i++)
		if (same_function(tree->levels.items[i].node, node))
			return true;
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
 * Writes the total and self of a line. A line that is not indented has nearly its caller's total, so
 * only the `first` line shows a total.
 */
static void write_numbers(const struct tree_writer *tree, const struct tree_line *line, bool first)
{
	if (first)
		write_total(tree, &line->first->total.share);
	else
		fprintf(tree->out, "%*s", total_width(tree), "");
	if (!has_self(tree))
		return;
	if (first || line->self > 0)
		write_share(tree, line->self);
	else
		fprintf(tree->out, "%7s", "");
	fputs("  ", tree->out);
}

/* Formats the suffix " (recursive, 8 deep)"; "" if the function does not call itself. */
static void format_suffix(const struct tree_writer *tree, const struct tree_line *line, int room,
			  char *buffer, size_t size)
{
	const struct sp_tree_node *node = line->first;
	*buffer = '\0';
	if (node->cycle_calls == 1)
		snprintf(buffer, size, " (recursive, up to %u deep)", node->cycle_rounds);
	else if (node->cycle_calls)
		snprintf(buffer, size, " (%u calls that repeat, up to %u times)", node->cycle_calls,
			 node->cycle_rounds);
	else if (line->depth > 1)
		snprintf(buffer, size, " (recursive, %u deep)", line->depth);
	else if (calls_itself(tree, node))
		snprintf(buffer, size, " (recursive)");
	if (tree->term->width && (int)strlen(buffer) > room - LEAST_SYMBOL - 8)
		snprintf(buffer, size, node->cycle_calls > 1 ? " (repeats)" : " (recursive)");
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
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
 * Widths of a name and the parts after it. If there is too little room, the name shrinks first, then
 * the dso, then the source line.
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
 * pid. Returns false when out of memory.
 */
static bool write_process(const struct tree_writer *tree, const char *text, int width)
{
	const char *pid = strrchr(text, ' ');
	int rest = width - (pid ? (int)strlen(pid) : 0);
	if (!pid || !width || rest < 1 || term_text_width(tree->term, text) <= width) {
		term_put(tree->term, text, width, tree->out);
		return true;
	}
	char *head = strndup(text, (size_t)(pid - text));
	if (!head)
		return false;
	term_put(tree->term, head, rest, tree->out);
	term_put(tree->term, pid, 0, tree->out);
	free(head);
	return true;
}

/* Writes "name file.c:123 (inlined) [dso] (recursive)"; the dso only if it differs from `before`. */
static bool write_name(const struct tree_writer *tree, const struct tree_line *line,
		       const char *before, int guides)
{
	const struct term *term = tree->term;
	const struct sp_tree_node *node = line->first;
	const char *dso = same_text(node->dso, before) ? NULL : node->dso;
	char suffix[64], *made = NULL;
	int room = term->width - numbers_width(tree) - guides;
	format_suffix(tree, line, room, suffix, sizeof(suffix));
	struct widths widths = fit_name(tree, node, dso, room - (int)strlen(suffix));
	if (term->width && !widths.dso)
		dso = NULL;
	if (tree->report->process_tree)
		return write_process(tree, node_name(node), widths.name);
	const char *name = name_shorten(term, node_name(node), widths.name, &made);
	if (!name)
		return false;
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
	fputs(suffix, tree->out);
	return true;
}

/*
 * Writes the vertical guides and the branch of a line at `depth` levels, 3 columns each. If there is
 * too little room, a number (the depth) replaces the outer guides. Returns the columns written.
 */
static int write_guides(const struct tree_writer *tree, const char *branch, size_t depth)
{
	const char *guides = tree->guides ? tree->guides : "";
	int room = tree->term->width - numbers_width(tree) - LEAST_LINE;
	size_t most = room > 9 ? (size_t)room / 3 : 3;
	term_begin(tree->term, TERM_DIM, tree->out);
	if (tree->term->width && depth > most) {
		char number[24];
		snprintf(number, sizeof(number), "%zu:", depth);
		fprintf(tree->out, "%-6s", number);
		/* The number takes the columns of two levels, and the branch those of one. */
		size_t first = depth - most + 4;
		guides += first < tree->levels.count ? tree->levels.items[first].guide_size
						     : strlen(guides);
		depth = most;
	}
	fputs(guides, tree->out);
	fputs(branch, tree->out);
	term_end(tree->term, TERM_DIM, tree->out);
	return (int)depth * 3;
}

/* Grows tree->guides to `size` bytes and a NUL. Returns false when out of memory. */
static bool reserve_guides(struct tree_writer *tree, size_t size)
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
static bool push_level(struct tree_writer *tree, const struct tree_line *line, const char *guide)
{
	size_t size = tree->guides ? strlen(tree->guides) : 0;
	if (!list_reserve(&tree->levels, tree->levels.count + 1) ||
	    !reserve_guides(tree, size + strlen(guide)))
		return false;
	strcpy(tree->guides + size, guide);
	*list_push(&tree->levels) = (struct tree_level){
		.node = line->last,
		.shown = shown_children(tree, line->last),
		.guide_size = size,
		.hidden = line->hidden,
		.hidden_count = line->hidden_count,
	};
	return true;
}

static void pop_level(struct tree_writer *tree)
{
	tree->guides[tree->levels.items[--tree->levels.count].guide_size] = '\0';
}

/*
 * Returns whether a line for the hidden children is written: if they reach the limit together and at
 * least one child is shown.
 */
static bool tells_hidden(const struct tree_writer *tree, const struct tree_level *level)
{
	return !tree->report->process_tree && level->shown && level->hidden_count &&
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

static void write_hidden(const struct tree_writer *tree, const struct tree_level *level)
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
static bool write_child(struct tree_writer *tree)
{
	struct tree_level *level = &tree->levels.items[tree->levels.count - 1];
	const struct sp_tree_node *node = sp_tree_child(level->node, level->next++);
	bool top = tree->levels.count == 1;
	size_t depth = tree->levels.count - 1;
	bool last = level->next == level->shown && !tells_hidden(tree, level);
	const char *branch = last ? term_glyph(tree->term, "└─ ", "`- ")
				  : term_glyph(tree->term, "├─ ", "|- ");
	const char *guide = top ? "" : last ? "   " : term_glyph(tree->term, "│  ", "|  ");
	const char *before = level->node->dso;
	struct tree_line line = line_of(tree, node);
	write_numbers(tree, &line, true);
	int guides = write_guides(tree, top ? "" : branch, depth);
	for (;;) {
		if (!write_name(tree, &line, before, guides))
			return false;
		putc('\n', tree->out);
		if (line.depth > 1 || !passes_on(tree, line.last))
			break;
		before = line.last->dso;
		line = line_of(tree, sp_tree_child(line.last, 0));
		write_numbers(tree, &line, false);
		guides = write_guides(tree, guide, depth);
	}
	return push_level(tree, &line, guide);
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
	bool narrow = !report_has_intervals(tree->report);
	snprintf(text, sizeof(text), "%s%s%s%s%s",
		 narrow			      ? ""
		 : tree->report->process_tree ? "processes, "
		 : has_self(tree)	      ? "call tree, "
					      : "functions, ",
		 tree->report->process_tree ? "parents first"
		 : has_self(tree)	    ? "callers first"
					    : "callees first",
		 limited ? "; below " : "",
		 limited ? format_share(tree->report->tree_limit, limit) : "",
		 limited ? " hidden" : "");
	write_rest(tree, text, numbers_width(tree));
}

static bool walk(struct tree_writer *tree)
{
	while (tree->levels.count) {
		const struct tree_level *level = &tree->levels.items[tree->levels.count - 1];
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
static void write_hidden_processes(const struct tree_writer *tree, const struct sp_tree_node *root)
{
	struct process_counts counts = {0};
	count_processes(root, tree->report->tree_limit, &counts);
	const struct tree_level level = {.hidden = counts.hidden_self,
					 .hidden_count = counts.hidden};
	if (counts.hidden)
		write_hidden(tree, &level);
}

bool tree_write(const struct report *report, const struct sp_profile *profile, FILE *out)
{
	struct report limited = *report;
	struct tree_writer tree = {.report = &limited, .term = &report->term, .out = out};
	struct tree_line root = {profile->tree, profile->tree, 1, 0, 0, 0};
	size_t hidden;
	if (!report_limit_tree(report, profile->tree, &limited.tree_limit, &hidden))
		return false;
	hide_children(&tree, &root);
	tree.decimals = range_decimals(profile->samples);
	write_titles(&tree);
	bool done = push_level(&tree, &root, "") && walk(&tree);
	if (done && report->process_tree)
		write_hidden_processes(&tree, profile->tree);
	free(tree.levels.items);
	free(tree.guides);
	return done;
}
