/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folded stacks for flamegraph.pl, inferno and speedscope: a line "comm;root;...;leaf COUNT" for
 * each distinct stack, where COUNT is samples, or ns if equal numbers of samples are other times:
 * rates vary, or context switches have the times. In modes of time it is ns, and the thread's
 * state is a frame before the root.
 *
 * A kernel frame ends in "_[k]", an inlined function in "_[i]". Code without a symbol is named by
 * its "[dso]", so that it is not split into single addresses. A function without a name is
 * "fn@0x1234 [dso]", because its address is unique only within one file, and so are names that
 * functions of several files have. Different nodes may therefore become the same frame: `frames`
 * are groups of nodes, and the walk descends by groups. Lines are ordered by frame names.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "buffer.h"
#include "list.h"
#include "out/folded.h"
#include "memory.h"
#include "out/output.h"

/* Open level of the walk: child nodes in groups of equal frame names, ordered by these names. */
struct folded_level {
	const struct sp_tree_node **nodes;
	size_t count, next;
	size_t line_size; /* length of the line before this level's frame */
};

struct folded_writer {
	const struct report *report;
	FILE *out;
	bool by_weight; /* counts are weights, else samples */
	LIST(struct folded_level) levels; /* open levels of the walk */
	struct buffer line;
};

/*
 * Returns whether the node is code at an unknown address, which is shown by its file. Code of one
 * runtime has a name, such as "[Java JIT]". Nodes of commands have no dso.
 */
static bool is_module(const struct sp_tree_node *node)
{
	return !node->symbol_known && !node->from_cfi && node->dso && *node_name(node) != '[';
}

/*
 * Returns whether the name alone does not identify the node's function. Each program has a main().
 */
static bool has_dso(const struct sp_tree_node *node)
{
	const char *name = node_name(node);
	return is_module(node) || node->from_cfi ||
	       (node->identity && node->identity->name_is_shared && strcmp(name, "main") &&
		strcmp(name, "_start"));
}

static int compare(const void *a, const void *b)
{
	const struct sp_tree_node *x = *(const struct sp_tree_node *const *)a;
	const struct sp_tree_node *y = *(const struct sp_tree_node *const *)b;
	int order = strcmp(is_module(x) ? x->dso : node_name(x),
			   is_module(y) ? y->dso : node_name(y));
	if (!order)
		order = x->from_cfi - y->from_cfi;
	if (!order)
		order = strcmp(has_dso(x) ? x->dso : "", has_dso(y) ? y->dso : "");
	if (!order)
		order = x->symbol_known - y->symbol_known;
	if (!order)
		order = x->inlined - y->inlined;
	if (!order)
		order = (x->cycle_calls > 0) - (y->cycle_calls > 0);
	if (!order)
		order = strcmp(x->srcline ?: "", y->srcline ?: "");
	return order ? order : (int)x->level - (int)y->level;
}

char *folded_put_name(char *end, const char *name)
{
	while (true) {
		size_t plain = text_plain_size(name);
		const char *semicolon = memchr(name, ';', plain);
		if (semicolon)
			plain = (size_t)(semicolon - name);
		memcpy(end, name, plain);
		end += plain;
		name += plain;
		uint32_t code = text_next(&name);
		if (!code)
			return end;
		if (code == ';')
			code = ':';
		else if (code == TEXT_INVALID)
			code = 0xfffd;
		else if (text_is_control(code))
			code = ' ';
		end += text_put(code, end);
	}
}

static void put_name(struct buffer *line, const char *name)
{
	buffer_reserve(line, FOLDED_GROWTH * strlen(name));
	line->count = (size_t)(folded_put_name(line->text + line->count, name) - line->text);
}

static void put_dso(struct buffer *line, const char *dso)
{
	bool bare = *dso != '['; /* names like "[vdso]" already have brackets */
	buffer_string(line, bare ? "[" : "");
	put_name(line, dso);
	buffer_string(line, bare ? "]" : "");
}

static void put_frame(struct buffer *line, const struct sp_tree_node *node)
{
	bool module = is_module(node), dso = has_dso(node);
	if (line->count)
		buffer_char(line, ';');
	if (!module)
		put_name(line, node_name(node));
	if (dso && !module)
		buffer_char(line, ' ');
	if (dso)
		put_dso(line, node->dso);
	if (node->srcline && !module) {
		buffer_char(line, ' ');
		put_name(line, node->srcline);
	}
	if (node->cycle_calls)
		buffer_string(line, " (recursive)");
	/* Flame graph tools accept one suffix, so an inlined kernel function only gets "_[k]". */
	if (node->level == SP_LEVEL_KERNEL || node->level == SP_LEVEL_GUEST_KERNEL)
		buffer_string(line, "_[k]");
	else if (node->inlined)
		buffer_string(line, "_[i]");
}

/* Opens a level with the children of all nodes in the group. */
static void push_level(struct folded_writer *folder, const struct sp_tree_node *const *group,
		       size_t size)
{
	struct folded_level level = {.line_size = folder->line.count};
	size_t total = 0;
	for (size_t i = 0; i < size; i++)
		total += group[i]->child_count;
	level.nodes = xmalloc(total * sizeof(*level.nodes));
	for (size_t i = 0; i < size; i++)
		for (size_t j = 0; j < group[i]->child_count; j++) {
			const struct sp_tree_node *child = sp_tree_child(group[i], j);
			if (child->total.share.value >= folder->report->tree_limit)
				level.nodes[level.count++] = child;
		}
	qsort(level.nodes, level.count, sizeof(*level.nodes), compare);
	*list_push(&folder->levels) = level;
}

static void write_group(struct folded_writer *folder)
{
	struct folded_level *level = &folder->levels.items[folder->levels.count - 1];
	const struct sp_tree_node *const *group = &level->nodes[level->next];
	size_t size = 0;
	bool times = folder->by_weight;
	uint64_t sum = 0;
	while (level->next < level->count && !compare(&group[0], &level->nodes[level->next])) {
		sum += times ? group[size]->self.weight : group[size]->self.samples;
		size++;
		level->next++;
	}
	folder->line.count = level->line_size;
	put_frame(&folder->line, group[0]);
	if (sum) {
		fwrite(folder->line.text, 1, folder->line.count, folder->out);
		fprintf(folder->out, " %" PRIu64 "\n", sum);
	}
	push_level(folder, group, size);
}

static bool write_folded(const struct report *report, FILE *out)
{
	for (size_t i = 0; i < report->profile_count; i++) {
		const struct sp_tree_node *root = report->profiles[i]->tree;
		struct folded_writer folder = {
			.report = report,
			.out = out,
			.by_weight = report->mode != SP_MODE_CPU ||
				     report->profiles[i]->weight_is_scaled,
		};
		if (root)
			push_level(&folder, &root, 1);
		while (folder.levels.count) {
			struct folded_level *level = &folder.levels.items[folder.levels.count - 1];
			if (level->next < level->count) {
				write_group(&folder);
			} else {
				free(level->nodes);
				folder.levels.count--;
			}
		}
		free(folder.levels.items);
		buffer_deinit(&folder.line);
	}
	return true;
}

const struct output_format output_folded = {
	.name = "folded",
	.files = (const char *const[]){"*.folded", "*.collapsed", NULL},
	.stacks = true,
	.comms = true,
	.one_event = true,
	.write = write_folded,
};
