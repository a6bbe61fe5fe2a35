/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folded stacks, as flamegraph.pl, inferno and speedscope take them: a line
 * "comm;root;...;leaf COUNT" for each distinct stack, where COUNT is samples.
 *
 * A frame of the kernel ends in "_[k]", an inlined function in "_[i]". One without a
 * symbol is its "[dso]", so that unnamed code is not split into single addresses; a
 * function without a name is "fn@0x1234 [dso]", since its address is unique in one file only.
 * By that, children of one node, or of several, may become the same frame: `frames` are
 * therefore groups of nodes, and the walk goes down groups, not nodes. Lines come out in
 * the order of the frames' names.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "list.h"
#include "out/output.h"
#include "text.h"

/* Children of the nodes with one name at one place of the tree, ordered by their names. */
struct level {
	const struct sp_tree_node **nodes;
	size_t count, next;
	size_t line_size; /* size of the line before these frames */
};

struct folder {
	const struct report *report;
	FILE *out;
	LIST(struct level) levels; /* open levels */
	char *line;
	size_t line_size, line_capacity;
};

/* Whether it is code without a known function. Commands have no dso. */
static bool is_module(const struct sp_tree_node *node)
{
	return !node->symbol_known && !node->from_cfi && node->dso;
}

static int compare(const void *a, const void *b)
{
	const struct sp_tree_node *x = *(const struct sp_tree_node *const *)a;
	const struct sp_tree_node *y = *(const struct sp_tree_node *const *)b;
	int order = strcmp(is_module(x) ? x->dso : node_name(x),
			   is_module(y) ? y->dso : node_name(y));
	if (!order)
		order = x->from_cfi - y->from_cfi;
	if (!order && x->from_cfi)
		order = strcmp(x->dso, y->dso);
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

static bool line_reserve(struct folder *folder, size_t more)
{
	size_t need = folder->line_size + more;
	return need <= folder->line_capacity ||
	       list_grow(&folder->line, &folder->line_capacity, need, 1);
}

static void line_put(struct folder *folder, const char *text)
{
	size_t size = strlen(text);
	memcpy(folder->line + folder->line_size, text, size);
	folder->line_size += size;
}

/* With nothing in it that a reader of lines would take for syntax. */
static void line_put_name(struct folder *folder, const char *name)
{
	while (true) {
		size_t plain = text_plain_size(name);
		const char *semicolon = memchr(name, ';', plain);
		if (semicolon)
			plain = (size_t)(semicolon - name);
		memcpy(folder->line + folder->line_size, name, plain);
		folder->line_size += plain;
		name += plain;
		uint32_t code = text_next(&name);
		if (!code)
			return;
		if (code == ';')
			code = ':';
		else if (code == TEXT_INVALID)
			code = 0xfffd;
		else if (text_is_control(code))
			code = ' ';
		folder->line_size += text_put(code, folder->line + folder->line_size);
	}
}

static void line_put_dso(struct folder *folder, const char *dso)
{
	bool bare = *dso != '['; /* "[vdso]" has its own */
	if (bare)
		line_put(folder, "[");
	line_put_name(folder, dso);
	if (bare)
		line_put(folder, "]");
}

/* Appends the frame. */
static bool line_add(struct folder *folder, const struct sp_tree_node *node)
{
	bool module = is_module(node), dso = module || node->from_cfi;
	const char *srcline = node->srcline && !module ? node->srcline : "";
	size_t size = strlen(srcline) + (dso ? strlen(node->dso) : 0);
	/* A byte takes up to three: U+FFFD for each that is not UTF-8. */
	if (!line_reserve(folder, 3 * (strlen(node_name(node)) + size) + 32))
		return false;
	if (folder->line_size)
		line_put(folder, ";");
	if (!module)
		line_put_name(folder, node_name(node));
	if (node->from_cfi)
		line_put(folder, " ");
	if (dso)
		line_put_dso(folder, node->dso);
	if (*srcline) {
		line_put(folder, " ");
		line_put_name(folder, srcline);
	}
	if (node->cycle_calls)
		line_put(folder, " (recursive)");
	/* One suffix is all that readers take: that of the kernel comes first. */
	if (node->level == SP_LEVEL_KERNEL || node->level == SP_LEVEL_GUEST_KERNEL)
		line_put(folder, "_[k]");
	else if (node->inlined)
		line_put(folder, "_[i]");
	return true;
}

/* Opens the level of the children of all nodes of the group. */
static bool push_level(struct folder *folder, const struct sp_tree_node *const *group, size_t size)
{
	struct level level = {.line_size = folder->line_size};
	size_t total = 0;
	for (size_t i = 0; i < size; i++)
		total += group[i]->child_count;
	if (!list_reserve(&folder->levels, folder->levels.count + 1))
		return false;
	level.nodes = malloc((total ? total : 1) * sizeof(*level.nodes));
	if (!level.nodes)
		return false;
	for (size_t i = 0; i < size; i++)
		for (size_t j = 0; j < group[i]->child_count; j++)
			if (group[i]->children[j].total.share.value >= folder->report->tree_limit)
				level.nodes[level.count++] = &group[i]->children[j];
	qsort(level.nodes, level.count, sizeof(*level.nodes), compare);
	*list_push(&folder->levels) = level;
	return true;
}

static bool write_group(struct folder *folder)
{
	struct level *level = &folder->levels.items[folder->levels.count - 1];
	const struct sp_tree_node *const *group = &level->nodes[level->next];
	size_t size = 0;
	uint64_t samples = 0;
	while (level->next < level->count && !compare(&group[0], &level->nodes[level->next])) {
		samples += group[size++]->self.samples;
		level->next++;
	}
	folder->line_size = level->line_size;
	if (!line_add(folder, group[0]))
		return false;
	if (samples) {
		fwrite(folder->line, 1, folder->line_size, folder->out);
		fprintf(folder->out, " %" PRIu64 "\n", samples);
	}
	return push_level(folder, group, size);
}

static bool fold(struct folder *folder, const struct sp_tree_node *root)
{
	if (!push_level(folder, &root, 1))
		return false;
	while (folder->levels.count) {
		struct level *level = &folder->levels.items[folder->levels.count - 1];
		if (level->next < level->count) {
			if (!write_group(folder))
				return false;
		} else {
			free(level->nodes);
			folder->levels.count--;
		}
	}
	return true;
}

static bool write_folded(const struct report *report, FILE *out)
{
	bool done = true;
	for (size_t i = 0; i < report->profile_count && done; i++) {
		struct folder folder = {.report = report, .out = out};
		if (report->profiles[i]->tree)
			done = fold(&folder, report->profiles[i]->tree);
		while (folder.levels.count)
			free(folder.levels.items[--folder.levels.count].nodes);
		free(folder.levels.items);
		free(folder.line);
	}
	return done;
}

const struct output output_folded = {"folded", false, write_folded};
