/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From profiles to rows of both sides. changes.c tests them. */
#include <sprof/diff.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/sized.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "diff/changes.h"
#include "diff/compared_tree.h"
#include "diff/function_renames.h"
#include "diff/matched_names.h"
#include "diff/moved_time.h"
#include "diff/passed_calls.h"

/* Longest name of a thread. */
#define COMM_MOST 15

/* Words of a run's command line that may name its program: the first ones. */
#define WORDS_MOST 64

/* Name of the code of a file that has no names. */
static const char unnamed[] = "[without a name]";

/* Keys of a row. Strings are interned: equal keys have equal pointers. NULL: not requested. */
struct matched_key {
	const char *comm, *dso, *function, *srcline;
	const char *build_id; /* `function` is an address in this build; NULL: it is a name */
};

/* A file. Addresses stand for functions without a name as long as all runs have one build of it. */
struct compared_object {
	const char *name;
	double weight[2];     /* in the runs of each side */
	const char *build_id; /* first build with such functions; NULL: none */
	bool build_differs;   /* a run had another one */
};

struct weighed_key {
	uint32_t key;
	struct row_sums sums;
};

struct compared_run {
	VEC(struct weighed_key) rows; /* a key may have several */
};

struct sp_diff {
	struct strtab names;
	VEC(struct matched_key) keys;
	struct index_set index; /* finds keys */
	VEC(struct compared_object) objects;
	struct u64map object_of;    /* pointer of a file's name -> index of the object */
	VEC(struct run_size) sizes; /* by run, as the next two */
	VEC(struct compared_run) runs;
	VEC(struct run_tree) trees;
	struct compared_tree tree;
	bool is_time, unit_differs;
	size_t run_count[2];
	VEC(const char *) words[2]; /* interned base names in each side's command lines */
	const char *renamed[2];	    /* by side; NULL: none */
	VEC(struct sp_diff_row) rows;
	struct sp_change total;
};

struct sp_error *sp_diff_new(struct sp_diff **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? NULL : error_no_memory();
}

void sp_diff_free(struct sp_diff *diff)
{
	if (!diff)
		return;
	vec_each (item, &diff->runs)
		vec_deinit(&item->rows);
	vec_each (tree, &diff->trees)
		vec_deinit(tree);
	vec_deinit(&diff->runs);
	vec_deinit(&diff->sizes);
	vec_deinit(&diff->trees);
	compared_tree_deinit(&diff->tree);
	for (size_t side = 0; side < 2; side++)
		vec_deinit(&diff->words[side]);
	vec_deinit(&diff->rows);
	vec_deinit(&diff->keys);
	vec_deinit(&diff->objects);
	u64map_deinit(&diff->object_of);
	index_set_deinit(&diff->index);
	strtab_deinit(&diff->names);
	free(diff);
}

const char *sp_diff_verdict_name(enum sp_diff_verdict verdict)
{
	static const char *const names[] = {
		[SP_DIFF_UNTESTED] = "untested", [SP_DIFF_INCONCLUSIVE] = "inconclusive",
		[SP_DIFF_SAME] = "same",	 [SP_DIFF_SLOWER] = "slower",
		[SP_DIFF_FASTER] = "faster",	 [SP_DIFF_APPEARED] = "new",
		[SP_DIFF_GONE] = "gone",	 [SP_DIFF_MOVED] = "moved",
	};
	return verdict < count_of(names) ? names[verdict] : "untested";
}

/* -- Runs ------------------------------------------------------------------ */

/* Returns the number of a key, which is added if it is new; UINT32_MAX when out of memory. */
static uint32_t key_number(struct sp_diff *diff, const struct matched_key *key)
{
	const char *const texts[] = {key->comm, key->dso, key->function, key->srcline,
				     key->build_id};
	uint64_t hash = 0;
	uint32_t number;
	for (size_t i = 0; i < count_of(texts); i++)
		hash = hash_pair(hash, (uintptr_t)texts[i]);
	if (!index_set_reserve(&diff->index))
		return UINT32_MAX;
	struct index_probe probe = index_set_probe(&diff->index, hash);
	while (index_set_next(&diff->index, &probe, &number))
		if (!memcmp(&diff->keys.items[number], key, sizeof(*key)))
			return number;
	struct matched_key *added = vec_push(&diff->keys);
	if (!added)
		return UINT32_MAX;
	*added = *key;
	number = diff->keys.count - 1;
	index_set_add(&diff->index, &probe, number);
	return number;
}

/* Interns the first `size` bytes of a text. NULL stays NULL. Sets *failed when out of memory. */
static const char *intern(struct sp_diff *diff, const char *text, size_t size, bool *failed)
{
	const char *name = text ? strtab_add_sized(&diff->names, text, size) : NULL;
	*failed |= text && !name;
	return name;
}

/* Adds a row's weight to its file, and notes its build. Returns false when out of memory. */
static bool add_to_object(struct sp_diff *diff, const struct matched_key *key,
			  enum sp_diff_side side, double weight)
{
	struct compared_object *object =
		u64map_item(&diff->object_of, (uintptr_t)key->dso, &diff->objects);
	if (!object)
		return false;
	object->name = key->dso;
	object->weight[side == SP_DIFF_NEW] += weight;
	if (!object->build_id)
		object->build_id = key->build_id;
	object->build_differs |= key->build_id && object->build_id != key->build_id;
	return true;
}

/*
 * Code without a name is one row of its file: its addresses differ between builds. Functions that
 * call frame information delimits keep their addresses as long as all runs have the same build.
 */
static struct matched_key function_key(struct sp_diff *diff, const char *dso, const char *function,
				       const char *build_id, bool *failed)
{
	return (struct matched_key){
		.dso = intern(diff, dso, dso ? object_name_size(dso) : 0, failed),
		.function =
			intern(diff, function, function ? function_name_size(function) : 0, failed),
		.build_id = intern(diff, build_id, build_id ? strlen(build_id) : 0, failed),
	};
}

static struct matched_key key_of_row(struct sp_diff *diff, const struct sp_row *row, bool *failed)
{
	const char *function = row->function ? row->function : row->symbol;
	const char *line = row->srcline ? row->srcline : row->srcfile;
	bool is_unnamed = function && !row->symbol_known;
	/* A run may lack the other file that has the name. */
	if (function && !row->dso && row->identity && row->identity->name_is_shared)
		function = intern(diff, function, unfiled_name_size(function), failed);
	const char *build_id = is_unnamed && row->from_cfi ? row->build_id : NULL;
	if (is_unnamed && !build_id)
		function = unnamed;
	struct matched_key key = function_key(diff, row->dso, function, build_id, failed);
	key.comm = intern(diff, row->comm, row->comm ? strlen(row->comm) : 0, failed);
	key.srcline = intern(diff, line, line ? strlen(line) : 0, failed);
	return key;
}

static struct matched_key key_of_node(struct sp_diff *diff, const struct sp_tree_node *node,
				      bool *failed)
{
	const char *function = node->function ? node->function : node->symbol;
	const char *build_id = node->from_cfi && !node->symbol_known ? node->build_id : NULL;
	/* A mark of missing callers has a name, and no file. */
	if (node->dso && !node->symbol_known && !build_id)
		function = unnamed;
	return function_key(diff, node->dso, function, build_id, failed);
}

/* Appends a node to a run's tree. `file_weight` is added to its file's. */
static bool copy_node(struct sp_diff *diff, struct run_tree *tree, const struct sp_tree_node *node,
		      uint32_t parent, double scale, enum sp_diff_side side, double file_weight)
{
	struct run_node *copy = vec_push(tree);
	bool failed = !copy;
	struct matched_key key = key_of_node(diff, node, &failed);
	uint32_t function = failed ? UINT32_MAX : key_number(diff, &key);
	if (function == UINT32_MAX || !add_to_object(diff, &key, side, file_weight))
		return false;
	*copy = (struct run_node){
		.parent = parent,
		.function = function,
		.level = node->level,
		.own_code = node->own_code,
		.inlined = node->inlined,
		.self = {(double)node->self.weight * scale, (double)node->self.samples},
		.total = {(double)node->total.weight * scale, (double)node->total.samples},
	};
	return true;
}

/* Copies a call tree, parents first. Returns false when out of memory. */
static bool copy_tree(struct sp_diff *diff, struct run_tree *tree, const struct sp_profile *profile,
		      double scale, enum sp_diff_side side)
{
	VEC(const struct sp_tree_node *) nodes = {0}; /* by index in the tree */
	bool by_dso = profile->row_count && sp_profile_row(profile, 0)->dso;
	bool done =
		vec_reserve(&nodes, 1) && copy_node(diff, tree, profile->tree, 0, scale, side, 0);
	if (done)
		nodes.items[nodes.count++] = profile->tree;
	for (size_t i = 0; done && i < nodes.count; i++) {
		const struct sp_tree_node *node = nodes.items[i];
		for (size_t j = 0; done && j < node->child_count; j++) {
			const struct sp_tree_node *child = sp_tree_child(node, j);
			/* Rows with files have their weight already. */
			double weight = by_dso ? 0 : (double)child->self.weight * scale;
			done = vec_reserve(&nodes, nodes.count + 1) &&
			       copy_node(diff, tree, child, i, scale, side, weight);
			if (done)
				nodes.items[nodes.count++] = child;
		}
	}
	vec_deinit(&nodes);
	return done;
}

struct sp_error *sp_diff_add(struct sp_diff *diff, enum sp_diff_side side,
			     const struct sp_profile *profile)
{
	struct compared_run *run = vec_push(&diff->runs);
	bool failed = false;
	/* Lost samples are of the same code as the others, as far as is known. */
	double scale =
		profile->samples ? 1 + (double)profile->lost_own / (double)profile->samples : 1;
	NEED(run);
	*run = (struct compared_run){0};
	struct run_tree *tree = vec_push(&diff->trees);
	NEED(tree);
	*tree = (struct run_tree){0};
	struct run_size *size = vec_push(&diff->sizes);
	NEED(size);
	*size = (struct run_size){
		.side = side,
		.weight = (double)profile->shown_weight * scale,
		.samples = profile->shown_samples,
		.unknown = profile->samples ? (double)profile->weight / (double)profile->samples *
						      (double)profile->lost_unknown
					    : 0,
	};
	diff->unit_differs |= diff->runs.count > 1 && diff->is_time != profile->weight_is_time;
	diff->is_time = profile->weight_is_time;
	diff->run_count[side == SP_DIFF_NEW]++;
	for (size_t i = 0; i < profile->row_count; i++) {
		const struct sp_row *from = sp_profile_row(profile, i);
		struct matched_key key = key_of_row(diff, from, &failed);
		uint32_t number = failed ? UINT32_MAX : key_number(diff, &key);
		struct weighed_key *row = vec_push(&run->rows);
		double weight = (double)from->self.weight * scale;
		NEED(row && number != UINT32_MAX && add_to_object(diff, &key, side, weight));
		*row = (struct weighed_key){number, {weight, (double)from->self.samples}};
	}
	NEED(!profile->tree || copy_tree(diff, tree, profile, scale, side));
	return NULL;
}

void sp_diff_set_count(struct sp_diff *diff, double weight)
{
	if (diff->sizes.count)
		vec_last(&diff->sizes)->counted = weight;
}

/* -- Programs with other names ---------------------------------------------- */

struct sp_error *sp_diff_add_command(struct sp_diff *diff, const char *const *words)
{
	enum sp_diff_side side = diff->sizes.count ? vec_last(&diff->sizes)->side : SP_DIFF_BASE;
	for (size_t i = 0; words && i < WORDS_MOST && words[i]; i++) {
		const char *slash = strrchr(words[i], '/');
		const char *name = strtab_add(&diff->names, slash ? slash + 1 : words[i]);
		bool known = false;
		NEED(name);
		vec_each (word, &diff->words[side])
			known |= *word == name;
		const char **added = known ? NULL : vec_push(&diff->words[side]);
		NEED(known || added);
		if (added)
			*added = name;
	}
	return NULL;
}

/* Returns whether a word of the side's commands names a file, maybe without its version. */
static bool is_own_program(const struct sp_diff *diff, size_t side, const char *file)
{
	vec_each (word, &diff->words[side]) {
		size_t size = strlen(*word);
		if (size && !strncmp(file, *word, size) &&
		    !file[size + strspn(file + size, ".-0123456789")])
			return true;
	}
	return false;
}

/* Finds the heaviest program of each side's commands that the other side does not have. */
static void find_renamed(struct sp_diff *diff)
{
	const struct compared_object *heaviest[2] = {NULL, NULL};
	vec_each (object, &diff->objects) {
		size_t side = object->weight[SP_DIFF_NEW] > 0;
		bool alone = !object->weight[SP_DIFF_BASE] != !object->weight[SP_DIFF_NEW];
		if (!alone || !object->name || !object_is_program(object->name) ||
		    !is_own_program(diff, side, object->name))
			continue;
		if (!heaviest[side] || object->weight[side] > heaviest[side]->weight[side])
			heaviest[side] = object;
	}
	for (size_t side = 0; side < 2; side++)
		diff->renamed[side] = heaviest[0] && heaviest[1] ? heaviest[side]->name : NULL;
}

/* -- Rows ------------------------------------------------------------------ */

static int by_importance(const void *a, const void *b)
{
	const struct sp_change *x = &((const struct sp_diff_row *)a)->change;
	const struct sp_change *y = &((const struct sp_diff_row *)b)->change;
	bool first_x = change_is_found(x), first_y = change_is_found(y),
	     untested = x->verdict == SP_DIFF_UNTESTED;
	double of_x = first_x || untested ? fabs(x->now - x->base) : fmax(x->now, x->base);
	double of_y = first_y || untested ? fabs(y->now - y->base) : fmax(y->now, y->base);
	if (first_x != first_y)
		return first_x ? -1 : 1;
	return (of_x < of_y) - (of_x > of_y);
}

static bool build_differs(const struct sp_diff *diff, const char *dso)
{
	return diff->objects.items[*u64map_find(&diff->object_of, (uintptr_t)dso)].build_differs;
}

/*
 * Makes targets[i] the key that key i counts for: that with the new name of a renamed program, and
 * without addresses if builds differ.
 */
static struct sp_error *find_targets(struct sp_diff *diff, size_t count, uint32_t *targets)
{
	bool failed = false;
	const char *now = diff->renamed[SP_DIFF_NEW];
	/* A thread's first name is that of its program, cut. */
	const char *renamed_comm = intern(diff, now, now ? strnlen(now, COMM_MOST) : 0, &failed);
	for (size_t i = 0; i < count; i++) {
		struct matched_key key = diff->keys.items[i];
		bool renamed = key.dso && key.dso == diff->renamed[SP_DIFF_BASE];
		if (key.build_id && (renamed || key.dso == now || build_differs(diff, key.dso))) {
			key.function = intern(diff, unnamed, strlen(unnamed), &failed);
			key.build_id = NULL;
		}
		if (renamed)
			key.dso = now;
		if (key.comm && renamed_comm &&
		    !strncmp(key.comm, diff->renamed[SP_DIFF_BASE], COMM_MOST) &&
		    strlen(key.comm) <= COMM_MOST)
			key.comm = renamed_comm;
		targets[i] = failed ? UINT32_MAX : key_number(diff, &key);
		NEED(targets[i] != UINT32_MAX);
	}
	return NULL;
}

/* Adds a row; `key` NULL: the rest. */
static struct sp_error *add_row(struct sp_diff *diff, const struct matched_key *key,
				struct measured_row measured, struct measured_row *all_measured)
{
	struct sp_diff_row *row = vec_push(&diff->rows);
	NEED(row);
	*row = (struct sp_diff_row){
		.base_samples = measured.samples[SP_DIFF_BASE],
		.now_samples = measured.samples[SP_DIFF_NEW],
	};
	if (key) {
		row->comm = key->comm;
		row->dso = key->dso;
		row->function = key->function;
		row->srcline = key->srcline;
	}
	row->is_rest = !key;
	all_measured[diff->rows.count - 1] = measured;
	return NULL;
}

static void add_sums(struct row_sums *to, const struct row_sums *from)
{
	to->weight += from->weight;
	to->samples += from->samples;
}

/* Makes a row of each heavy key, and one of the rest. */
static struct sp_error *make_rows(struct sp_diff *diff, const struct run_set *set,
				  struct row_sums *sums, const uint32_t *targets,
				  double least_share)
{
	size_t runs = set->count;
	CLEANUP_FREE struct row_sums *rest = calloc(runs, sizeof(*rest));
	CLEANUP_FREE struct measured_row *measured =
		calloc(diff->keys.count + 1, sizeof(*measured));
	CLEANUP_FREE struct sp_change *changes = calloc(diff->keys.count + 1, sizeof(*changes));
	CLEANUP_FREE uint32_t *row_of = calloc(diff->keys.count + 1, sizeof(*row_of));
	NEED(rest && measured && changes && row_of);
	for (size_t i = 0; i < runs; i++) {
		const struct compared_run *run = &diff->runs.items[i];
		vec_each (row, &run->rows) {
			add_sums(&sums[targets[row->key] * runs + i], &row->sums);
		}
	}
	for (size_t i = 0; i < diff->keys.count; i++) {
		struct row_sums *row = sums + i * runs;
		row_of[i] = UINT32_MAX;
		if (row_is_heavy(set, row, least_share))
			row_of[i] = diff->rows.count;
		if (row_of[i] < UINT32_MAX)
			TRY(add_row(diff, &diff->keys.items[i], measure(set, row), measured));
		else
			for (size_t j = 0; j < runs; j++)
				add_sums(&rest[j], &row[j]);
	}
	struct measured_row last = measure(set, rest);
	if (last.weight[0] > 0 || last.weight[1] > 0)
		TRY(add_row(diff, NULL, last, measured));
	TRY(changes_test(set, measured, diff->rows.count, changes));
	for (size_t i = 0; i < diff->rows.count; i++)
		diff->rows.items[i].change = changes[i];
	/* Nodes have the keys of rows by dso and function, but not of rows by other keys. */
	const struct moved_rows rows = {diff->rows.items, diff->rows.count, row_of, targets};
	TRY(moved_time_find(&rows, diff->trees.items, runs));
	vec_sort(&diff->rows, by_importance);
	return NULL;
}

/* Returns whether some runs have stacks, and others samples without their callers. */
static bool lack_calls(const struct sp_diff *diff)
{
	size_t runs[2] = {0, 0}; /* without and with calls */
	vec_each (tree, &diff->trees) {
		bool has_calls = false;
		vec_each (node, tree)
			has_calls |= node->parent > 0;
		runs[has_calls] += tree->count > 1;
	}
	return runs[false] && runs[true];
}

/* Makes the tree. Its nodes are tested if a change is found: it answers where, not whether. */
static struct sp_error *make_tree(struct sp_diff *diff, const struct run_set *set,
				  const uint32_t *targets, double least_share)
{
	bool found = change_is_found(&diff->total) ||
		     (diff->rows.count && change_is_found(&diff->rows.items[0].change));
	compared_tree_deinit(&diff->tree);
	TRY(compared_tree_merge(&diff->tree, set, diff->trees.items, targets));
	TRY(passed_calls_match(&diff->tree, set, diff->trees.items, least_share));
	/* Callers would be gone where they were not recorded. */
	if (found && !lack_calls(diff))
		TRY(compared_tree_test(&diff->tree, set, diff->trees.items, least_share));
	for (size_t i = 1; i < diff->tree.nodes.count; i++) {
		const struct matched_key *key = &diff->keys.items[diff->tree.functions.items[i]];
		diff->tree.nodes.items[i].dso = key->dso;
		diff->tree.nodes.items[i].function = key->function;
	}
	return NULL;
}

struct sp_error *sp_diff_run(struct sp_diff *diff, const struct sp_diff_options *options)
{
	struct sp_diff_options values;
	size_t count = diff->keys.count;
	TRY(sized_copy(&values, sizeof(values), options));
	if (!diff->run_count[SP_DIFF_BASE] || !diff->run_count[SP_DIFF_NEW])
		return error_new(SP_ERROR_INVALID, "a comparison needs a run of each side");
	if (diff->unit_differs)
		return error_new(SP_ERROR_INVALID, "some runs have weights in ns, others do not");
	const struct run_set set = {
		.runs = diff->sizes.items,
		.count = diff->sizes.count,
		.side_counts = {diff->run_count[SP_DIFF_BASE], diff->run_count[SP_DIFF_NEW]},
		.by_share = values.by_share,
		.risk = values.risk > 0 ? values.risk : 0.05,
	};
	double least_share = values.least_share > 0 ? values.least_share : 0.005;
	diff->rows.count = 0;
	find_renamed(diff);
	CLEANUP_FREE uint32_t *targets = calloc(count + 1, sizeof(*targets));
	NEED(targets);
	TRY(find_targets(diff, count, targets));
	CLEANUP_FREE struct row_sums *sums =
		calloc(diff->keys.count + 1, diff->runs.count * sizeof(*sums));
	NEED(sums);
	total_test(&set, &diff->total);
	TRY(make_rows(diff, &set, sums, targets, least_share));
	TRY(make_tree(diff, &set, targets, least_share));
	return function_renames_find(diff->rows.items, diff->rows.count, &diff->tree);
}

size_t sp_diff_row_count(const struct sp_diff *diff)
{
	return diff->rows.count;
}

const struct sp_diff_row *sp_diff_row(const struct sp_diff *diff, size_t index)
{
	return &diff->rows.items[index];
}

size_t sp_diff_node_count(const struct sp_diff *diff)
{
	return diff->tree.nodes.count;
}

const struct sp_diff_node *sp_diff_node(const struct sp_diff *diff, size_t index)
{
	return &diff->tree.nodes.items[index];
}

const struct sp_change *sp_diff_total(const struct sp_diff *diff)
{
	return &diff->total;
}

const char *sp_diff_renamed(const struct sp_diff *diff, enum sp_diff_side side)
{
	return diff->renamed[side == SP_DIFF_NEW];
}
