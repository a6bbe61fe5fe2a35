/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pprof's profile.proto, compressed by gzip. A location is one frame of the machine's stack: a function,
 * and the functions inlined into it, each with its line, at one address. Addresses are those of the
 * file's symbol table; an unknown one is 0. Field numbers are those of perftools.profiles.Profile.
 *
 * A report of events has two values for each: samples, and their weight. One of wall time has the values of
 * `wall_types`, and the thread's state is the outermost function.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "buffer.h"
#include "export/gzip.h"
#include "export/report_notes.h"
#include "export/protobuf.h"
#include "export/unique.h"
#include "list.h"
#include "memory.h"
#include "out/output.h"
#include "text.h"

/* Value of a word for "none": indexes are stored plus 1. */
#define NONE 0

/* Columns of the table of labels. */
enum { LABEL_PID, LABEL_TID, LABEL_COMM, LABEL_COUNT };

/* A node of the current stack. */
struct pprof_frame {
	const struct sp_tree_node *node;
	size_t next;        /* index of the child to visit next */
	uint32_t location;  /* index in `locations` of this function in its frame */
};

struct pprof {
	const struct report *report;
	struct buffer out;      /* the message Profile */
	struct buffer part;     /* a message in it */
	struct buffer inner;    /* a message or packed field in that */
	struct buffer notes;    /* texts of the comments */
	struct unique strings;
	struct unique mappings; /* addresses of dso, dso_path, build_id */
	struct unique functions; /* address of the name, dso, start address, source file */
	/*
	 * A function of a frame: its index in `functions`, its line, the location of the function
	 * that it is inlined into, plus 1, and the address.
	 */
	struct unique locations;
	struct unique used;      /* locations that samples have; an id is an index plus 1 */
	LIST(char *) names;      /* value types' names */
	LIST(const struct sp_tree_node *) nodes; /* a node of each function */
	LIST(struct pprof_frame) stack;
	struct unique labels;    /* labels of a sample: process, thread, index of the name in strings */
	struct unique labelled;  /* node and labels of samples of one event */
	LIST(struct sp_weight) sums; /* samples and weight of each row of labelled */
};

static void pprof_deinit(struct pprof *pprof)
{
	buffer_deinit(&pprof->out);
	buffer_deinit(&pprof->part);
	buffer_deinit(&pprof->inner);
	buffer_deinit(&pprof->notes);
	unique_deinit(&pprof->strings);
	unique_deinit(&pprof->mappings);
	unique_deinit(&pprof->functions);
	unique_deinit(&pprof->locations);
	unique_deinit(&pprof->used);
	unique_deinit(&pprof->labels);
	unique_deinit(&pprof->labelled);
	free(pprof->sums.items);
	for (size_t i = 0; i < pprof->names.count; i++)
		free(pprof->names.items[i]);
	free(pprof->names.items);
	free(pprof->nodes.items);
	free(pprof->stack.items);
}

/* Returns a text's index in the string table; its first string is empty. */
static uint64_t string_index(struct pprof *pprof, const char *text)
{
	return text ? unique_add_text(&pprof->strings, text) : 0;
}

/* Returns the id of the node's mapping; NONE for nodes that stand for missing callers. */
static uint64_t mapping_id(struct pprof *pprof, const struct sp_tree_node *node)
{
	if (!node->dso)
		return NONE;
	const uint64_t row[] = {(uintptr_t)node->dso, (uintptr_t)node->dso_path,
				(uintptr_t)node->build_id};
	return (uint64_t)unique_add(&pprof->mappings, row) + 1;
}

static uint32_t function_index(struct pprof *pprof, const struct sp_tree_node *node)
{
	const uint64_t row[] = {(uintptr_t)node_name(node), (uintptr_t)node->dso, node->address,
				(uintptr_t)node->srcpath};
	uint32_t index = unique_add(&pprof->functions, row);
	if (index == pprof->nodes.count)
		*list_push(&pprof->nodes) = node;
	return index;
}

/* Returns the location of a node; `caller` is the location of the node above plus 1. */
static uint32_t location_index(struct pprof *pprof, const struct sp_tree_node *node, uint64_t caller)
{
	const uint64_t row[] = {function_index(pprof, node), node->line,
				node->inlined ? caller : NONE, node->sampled};
	return unique_add(&pprof->locations, row);
}

static void put_location_id(struct pprof *pprof, uint64_t location)
{
	protobuf_varint(&pprof->inner, (uint64_t)unique_add(&pprof->used, &location) + 1);
}

static void enter(struct pprof *pprof, const struct sp_tree_node *node)
{
	uint64_t caller = NONE;
	if (pprof->stack.count)
		caller = (uint64_t)pprof->stack.items[pprof->stack.count - 1].location + 1;
	*list_push(&pprof->stack) = (struct pprof_frame){
		.node = node, .location = location_index(pprof, node, caller)};
}

/* Appends a message that was made in `part` as an element of the profile. */
static void put_part(struct pprof *pprof, unsigned int field)
{
	protobuf_element(&pprof->out, field, pprof->part.text, pprof->part.count);
	pprof->part.count = 0;
}

/* Appends a message or packed field that was made in `inner` to the one in `part`. */
static void put_inner(struct pprof *pprof, unsigned int field)
{
	protobuf_bytes(&pprof->part, field, pprof->inner.text, pprof->inner.count);
	pprof->inner.count = 0;
}

/* Appends a label with a text, given by its index in strings, or with a number. */
static void put_label(struct pprof *pprof, const char *key, uint64_t string, uint64_t number)
{
	protobuf_number(&pprof->inner, 1, string_index(pprof, key));
	protobuf_number(&pprof->inner, 2, string);
	protobuf_number(&pprof->inner, 3, number);
	put_inner(pprof, 3);
}

/* Appends a label with a number, unless it is negative: unknown. */
static void put_number(struct pprof *pprof, const char *key, uint64_t number)
{
	if ((int64_t)number >= 0)
		put_label(pprof, key, 0, number);
}

static bool is_wall(const struct report *report)
{
	return report->mode == SP_MODE_WALL;
}

/*
 * Appends a sample with the stack in `inner` and its outermost function `outermost`. Only event
 * `number` has values. `labels` is a row of pprof->labels, or NULL.
 */
static void put_sample(struct pprof *pprof, size_t number, const struct sp_weight *sum,
		       const struct sp_tree_node *outermost, const uint64_t *labels)
{
	put_inner(pprof, 1);
	if (is_wall(pprof->report)) {
		/* Appends the values of `wall_types`. */
		bool off = outermost->state == SP_STATE_RUNNABLE ||
			   outermost->state == SP_STATE_BLOCKED;
		protobuf_varint(&pprof->inner,
				outermost->state == SP_STATE_ON_CPU ? sum->weight : 0);
		protobuf_varint(&pprof->inner, sum->weight);
		protobuf_varint(&pprof->inner, off ? sum->weight : 0);
	}
	for (size_t i = 0; i < pprof->report->profile_count && !is_wall(pprof->report); i++) {
		protobuf_varint(&pprof->inner, i == number ? sum->samples : 0);
		protobuf_varint(&pprof->inner, i == number ? sum->weight : 0);
	}
	put_inner(pprof, 2);
	if (labels) {
		/* Appends the labels that the keys of the report select. */
		if (report_has_key(pprof->report, SP_KEY_COMM))
			put_label(pprof, "comm", labels[LABEL_COMM], 0);
		if (report_has_key(pprof->report, SP_KEY_PID))
			put_number(pprof, "pid", labels[LABEL_PID]);
		if (report_has_key(pprof->report, SP_KEY_TID)) {
			put_label(pprof, "thread", labels[LABEL_COMM], 0);
			put_number(pprof, "tid", labels[LABEL_TID]);
		}
	}
	put_part(pprof, 2);
}

/* Appends the samples with a stack that ends at the top node. */
static void put_top(struct pprof *pprof, size_t number)
{
	const struct pprof_frame *stack = pprof->stack.items;
	size_t depth = pprof->stack.count;
	/* Innermost first. An inlined function is in the location of the one below. */
	for (size_t i = depth; i-- > 0;)
		if (i + 1 == depth || !stack[i + 1].node->inlined)
			put_location_id(pprof, stack[i].location);
	put_sample(pprof, number, &stack[depth - 1].node->self, stack[0].node, NULL);
}

/* Appends the samples of one event's tree. The root is no frame. */
static void put_samples(struct pprof *pprof, size_t number)
{
	const struct sp_tree_node *root = pprof->report->profiles[number]->tree;
	for (size_t i = 0; root && i < root->child_count; i++) {
		pprof->stack.count = 0;
		enter(pprof, sp_tree_child(root, i));
		while (pprof->stack.count) {
			struct pprof_frame *top = &pprof->stack.items[pprof->stack.count - 1];
			/*
			 * A node may have weight without samples: time in a state in which none was
			 * taken.
			 */
			if (!top->next && (top->node->self.samples || top->node->self.weight))
				put_top(pprof, number);
			if (top->next < top->node->child_count)
				enter(pprof, sp_tree_child(top->node, top->next++));
			else
				pprof->stack.count--;
		}
	}
}

/* Returns the labels of a thread. Threads with equal labels have one row. */
static uint32_t labels_index(struct pprof *pprof, const struct sp_timeline_thread *thread)
{
	const struct report *report = pprof->report;
	bool tid = report_has_key(report, SP_KEY_TID), comm = tid || report_has_key(report, SP_KEY_COMM);
	const uint64_t row[LABEL_COUNT] = {
		[LABEL_PID] = report_has_key(report, SP_KEY_PID) ? (uint64_t)(int64_t)thread->pid : 0,
		[LABEL_TID] = tid ? (uint64_t)(int64_t)thread->tid : 0,
		[LABEL_COMM] = comm ? string_index(pprof, thread->comm) : 0,
	};
	return unique_add(&pprof->labels, row);
}

/* Adds up the cells of a timeline by node and labels. The tree leaves out nodes without a function. */
static void sum_cells(struct pprof *pprof, const struct sp_timeline *timeline)
{
	uint32_t *labels = xcalloc(timeline->thread_count + 1, sizeof(*labels));
	for (size_t i = 0; i < timeline->thread_count; i++)
		labels[i] = labels_index(pprof, sp_timeline_thread(timeline, i));
	for (size_t i = 0; i < timeline->cell_count; i++) {
		const struct sp_cell *cell = sp_timeline_cell(timeline, i);
		if (!cell->node || !sp_timeline_node(timeline, cell->node)->node)
			continue;
		const uint64_t row[] = {cell->node, labels[cell->thread]};
		uint32_t index = unique_add(&pprof->labelled, row);
		if (index == pprof->sums.count)
			*list_push(&pprof->sums) = (struct sp_weight){0};
		pprof->sums.items[index].samples += cell->samples;
		pprof->sums.items[index].weight += cell->weight;
	}
	free(labels);
}

/* Appends the samples of one event with labels of their threads. */
static void put_labelled(struct pprof *pprof, size_t number)
{
	const struct sp_timeline *timeline = pprof->report->timelines[number];
	uint32_t *locations = xcalloc(timeline->node_count + 1, sizeof(*locations));
	for (size_t i = 1; i < timeline->node_count; i++) {
		const struct sp_timeline_node *node = sp_timeline_node(timeline, i);
		if (node->node)
			locations[i] = location_index(pprof, node->node, node->parent ?
						      (uint64_t)locations[node->parent] + 1 : NONE);
	}
	unique_deinit(&pprof->labelled);
	pprof->labelled = (struct unique){.columns = 2};
	pprof->sums.count = 0;
	sum_cells(pprof, timeline);
	for (size_t i = 0; i < pprof->labelled.count; i++) {
		const uint64_t *row = unique_row(&pprof->labelled, i);
		uint32_t outermost = 0;
		/* Innermost first. An inlined function is in the location of the one below. */
		for (uint32_t node = (uint32_t)row[0]; node;
		     outermost = node, node = sp_timeline_node(timeline, node)->parent)
			if (!outermost || !sp_timeline_node(timeline, outermost)->node->inlined)
				put_location_id(pprof, locations[node]);
		put_sample(pprof, number, &pprof->sums.items[i],
			   sp_timeline_node(timeline, outermost)->node,
			   unique_row(&pprof->labels, row[1]));
	}
	free(locations);
}

static void put_value_type(struct pprof *pprof, unsigned int field, const char *type, const char *unit)
{
	protobuf_number(&pprof->part, 1, string_index(pprof, type));
	protobuf_number(&pprof->part, 2, string_index(pprof, unit));
	put_part(pprof, field);
}

/* Returns the name of an event's weight: "cpu" is usual for time, if there is one event. */
static const char *weight_name(const struct report *report, size_t number)
{
	const struct sp_profile *profile = report->profiles[number];
	bool cpu = profile->weight_is_time && report->profile_count == 1 && report->mode == SP_MODE_CPU;
	return cpu ? "cpu" : profile->event;
}

/* Returns the name of an event's number of samples. Readers select a value type by its name. */
static const char *samples_name(struct pprof *pprof, size_t number)
{
	const struct report *report = pprof->report;
	if (report->profile_count == 1)
		return "samples";
	char *name = xasprintf("%s-samples", report->profiles[number]->event);
	*list_push(&pprof->names) = name;
	return name;
}

static const char *weight_unit(const struct sp_profile *profile)
{
	return profile->weight_is_time ? "nanoseconds" : "count";
}

/* Types of values in mode wall, in ns. */
static const char *const wall_types[] = {"cpu", "wall", "off-cpu"};

static void put_types(struct pprof *pprof)
{
	const struct report *report = pprof->report;
	for (size_t i = 0; is_wall(report) && i < sizeof(wall_types) / sizeof(*wall_types); i++)
		put_value_type(pprof, 1, wall_types[i], "nanoseconds");
	for (size_t i = 0; i < report->profile_count && !is_wall(report); i++) {
		put_value_type(pprof, 1, samples_name(pprof, i), "count");
		put_value_type(pprof, 1, weight_name(report, i), weight_unit(report->profiles[i]));
	}
	if (!report->profile_count)
		return;
	const struct sp_profile *first = report->profiles[0];
	const char *name = weight_name(report, 0);
	put_value_type(pprof, 11, is_wall(report) ? wall_types[0] : name, weight_unit(first));
	/* Periods of on-CPU samples are none of waits. */
	if (report->mode == SP_MODE_CPU || is_wall(report))
		protobuf_number(&pprof->out, 12, report_period(report, report->profiles[0]));
	protobuf_number(&pprof->out, 14, string_index(pprof, name));
}

static void put_locations(struct pprof *pprof)
{
	for (size_t i = 0; i < pprof->used.count; i++) {
		uint64_t location = unique_number(&pprof->used, i, 0);
		const uint64_t *words = unique_row(&pprof->locations, location);
		const struct sp_tree_node *node = NULL;
		protobuf_number(&pprof->part, 1, i + 1);
		/* The innermost function comes first, its callers' lines follow. */
		for (bool more = true; more;) {
			node = pprof->nodes.items[words[0]];
			protobuf_number(&pprof->inner, 1, words[0] + 1);
			protobuf_number(&pprof->inner, 2, words[1]);
			protobuf_element(&pprof->part, 4, pprof->inner.text, pprof->inner.count);
			pprof->inner.count = 0;
			more = words[2] != NONE;
			if (more)
				words = unique_row(&pprof->locations, words[2] - 1);
		}
		protobuf_number(&pprof->part, 2, mapping_id(pprof, node));
		protobuf_number(&pprof->part, 3, words[3]);
		put_part(pprof, 4);
	}
}

/* Returns whether a file is likely the program: no shared library, kernel or other pseudo file. */
static bool is_program(const struct sp_tree_node *node)
{
	return node->dso && *node->dso != '[' && !strstr(node->dso, ".so");
}

/* Returns the heaviest node of a program, or NULL. The stack is empty before and after. */
static const struct sp_tree_node *find_program(struct pprof *pprof, const struct sp_tree_node *root)
{
	const struct sp_tree_node *found = NULL;
	if (root)
		*list_push(&pprof->stack) = (struct pprof_frame){.node = root};
	while (pprof->stack.count) {
		const struct sp_tree_node *node = pprof->stack.items[--pprof->stack.count].node;
		if (is_program(node) && (!found || node->total.weight > found->total.weight))
			found = node;
		/* Nodes below a program's are lighter. */
		for (size_t i = 0; i < node->child_count && !is_program(node); i++)
			*list_push(&pprof->stack) =
				(struct pprof_frame){.node = sp_tree_child(node, i)};
	}
	return found;
}

/* Appends the notes as comments, which are indexes of strings. */
static void put_comments(struct pprof *pprof)
{
	struct buffer *notes = &pprof->notes;
	notes_put(pprof->report, notes);
	buffer_char(notes, '\0');
	for (char *line = notes->text, *end; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		protobuf_varint(&pprof->inner, string_index(pprof, line));
	}
	protobuf_bytes(&pprof->out, 13, pprof->inner.text, pprof->inner.count);
	pprof->inner.count = 0;
}

static bool write_pprof(const struct report *report, FILE *out)
{
	struct pprof pprof = {
		.report = report,
		.mappings.columns = 3,
		.functions.columns = 4,
		.locations.columns = 4,
		.used.columns = 1,
		.labels.columns = LABEL_COUNT,
	};
	string_index(&pprof, "");
	put_types(&pprof);

	/*
	 * Makes the program's mapping the first one, because readers take that for the main binary.
	 */
	const struct sp_tree_node *program = NULL;
	for (size_t i = 0; i < pprof.report->profile_count && !program; i++)
		program = find_program(&pprof, pprof.report->profiles[i]->tree);
	if (program)
		mapping_id(&pprof, program);
	for (size_t i = 0; i < report->profile_count; i++)
		if (report->timelines && report->timelines[i] && report->timelines[i]->cell_count)
			put_labelled(&pprof, i);
		else
			put_samples(&pprof, i);
	put_locations(&pprof);
	for (size_t i = 0; i < pprof.nodes.count; i++) {
		const struct sp_tree_node *node = pprof.nodes.items[i];
		uint64_t name = string_index(&pprof, node_name(node));
		protobuf_number(&pprof.part, 1, i + 1);
		protobuf_number(&pprof.part, 2, name);
		protobuf_number(&pprof.part, 3,
				node->identity ? string_index(&pprof, node->identity->linkage_name)
					       : name);
		protobuf_number(&pprof.part, 4, string_index(&pprof, node->srcpath));
		protobuf_number(&pprof.part, 5, node->start_line);
		put_part(&pprof, 5);
	}
	for (size_t i = 0; i < pprof.mappings.count; i++) {
		const uint64_t *words = unique_row(&pprof.mappings, i);
		const char *dso = (const char *)(uintptr_t)words[0];
		const char *path = (const char *)(uintptr_t)words[1];
		protobuf_number(&pprof.part, 1, i + 1);
		protobuf_number(&pprof.part, 5, string_index(&pprof, path ? path : dso));
		protobuf_number(&pprof.part, 6,
				string_index(&pprof, (const char *)(uintptr_t)words[2]));
		/*
		 * Functions, files, lines and inlined frames are complete: pprof need not add any.
		 */
		for (unsigned int field = 7; field <= 10; field++)
			protobuf_number(&pprof.part, field, 1);
		put_part(&pprof, 3);
	}
	const struct sp_file_info *info = pprof.report->info;
	if (info->has_clock && info->first_sample_ns && pprof.report->recording_count == 1)
		protobuf_number(&pprof.out, 9,
				info->clock_wall_ns + (info->first_sample_ns - info->clock_ns));
	protobuf_number(&pprof.out, 10, pprof.report->duration_ns);
	put_comments(&pprof);

	/* Appends the string table. Readers refuse strings that are not UTF-8. */
	pprof.part.form = TEXT_SHOWN;
	for (size_t i = 0; i < pprof.strings.count; i++) {
		buffer_name(&pprof.part, pprof.strings.texts[i]);
		put_part(&pprof, 6);
	}
	FILE *compressed = gzip_open(out);
	fwrite(pprof.out.text, 1, pprof.out.count, compressed);
	fclose(compressed);
	pprof_deinit(&pprof);
	return true;
}

const struct output_format output_pprof = {
	.name = "pprof",
	.files = (const char *const[]){"*.pb.gz", "*.pprof", NULL},
	.binary = true,
	.stacks = true,
	.lines = true,
	.addresses = true,
	.labels = true,
	.write = write_pprof,
};
