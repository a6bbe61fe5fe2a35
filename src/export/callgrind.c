/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Callgrind's format: costs by function and line, and calls from lines to functions with their inclusive
 * cost. All events are side by side. An inlined function is a function that is called where it is inlined.
 * Samples do not count calls, so each call has the count 1. Readers add up the calls to a
 * function for its inclusive cost. So each stack adds its weight once to each function, to the
 * outermost call of it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "buffer.h"
#include "export/report_notes.h"
#include "export/unique.h"
#include "list.h"
#include "memory.h"
#include "out/output.h"

/* Name of the tree's root, which calls the outermost functions. */
#define ROOT_NAME "[root]"

/* Name of files and objects that are not known. */
static const char unknown[] = "???";

/* End of a list of indexes. */
#define NONE UINT32_MAX

/* Costs of keys, which are two numbers: a weight for each event. */
struct costs {
	struct unique keys;
	LIST(uint64_t) weights; /* index: key * events + event */
	LIST(uint32_t) next;    /* by key: the next one of the same owner; NONE: none */
};

/* Names of files or of objects, each written once. */
struct callgrind_names {
	struct unique texts;
	uint32_t written;
};

/* A node of the current stack. */
struct callgrind_frame {
	const struct sp_tree_node *node;
	size_t next;       /* index of the child to visit next */
	uint32_t function; /* index in `functions` */
	uint32_t line;     /* index in `lines` */
	bool repeats;      /* an outer frame is of this function, too */
};

struct callgrind {
	const struct report *report;
	struct buffer text;
	struct unique functions; /* address of the name, dso, start address, source file */
	LIST(const struct sp_tree_node *) nodes; /* a node of each function */
	LIST(bool) named;           /* by function: its name has been written */
	LIST(uint32_t) first_line;  /* by function */
	LIST(bool) open;            /* by function: it is on the stack */
	LIST(uint32_t) first_call;  /* by line */
	struct costs lines;      /* function, line */
	struct costs calls;      /* index of the caller's line, called function */
	LIST(struct callgrind_frame) stack;
	struct callgrind_names objects, files;
};

static void costs_deinit(struct costs *costs)
{
	unique_deinit(&costs->keys);
	free(costs->weights.items);
	free(costs->next.items);
}

static void callgrind_deinit(struct callgrind *callgrind)
{
	buffer_deinit(&callgrind->text);
	unique_deinit(&callgrind->functions);
	unique_deinit(&callgrind->objects.texts);
	unique_deinit(&callgrind->files.texts);
	costs_deinit(&callgrind->lines);
	costs_deinit(&callgrind->calls);
	free(callgrind->nodes.items);
	free(callgrind->named.items);
	free(callgrind->first_line.items);
	free(callgrind->open.items);
	free(callgrind->first_call.items);
	free(callgrind->stack.items);
}

/*
 * Returns the index of a key in `costs`. A new key has no weight, and is put first in the list `*first`
 * of its owner.
 */
static uint32_t add_cost(struct callgrind *callgrind, struct costs *costs, const uint64_t key[2],
			 uint32_t *first)
{
	size_t events = callgrind->report->profile_count;
	uint32_t index = unique_add(&costs->keys, key);
	if (index < costs->next.count)
		return index;
	list_reserve(&costs->weights, costs->weights.count + events);
	memset(costs->weights.items + costs->weights.count, 0, events * sizeof(uint64_t));
	costs->weights.count += events;
	*list_push(&costs->next) = *first;
	*first = index;
	return index;
}

static uint32_t function_index(struct callgrind *callgrind, const struct sp_tree_node *node)
{
	const uint64_t row[] = {(uintptr_t)node_name(node), (uintptr_t)node->dso, node->address,
				(uintptr_t)node->srcpath};
	uint32_t index = unique_add(&callgrind->functions, row);
	if (index < callgrind->nodes.count)
		return index;
	*list_push(&callgrind->nodes) = node;
	*list_push(&callgrind->named) = false;
	*list_push(&callgrind->first_line) = NONE;
	*list_push(&callgrind->open) = false;
	return index;
}

static uint32_t line_index(struct callgrind *callgrind, uint32_t function, uint32_t line)
{
	const uint64_t key[] = {function, line};
	uint32_t index = add_cost(callgrind, &callgrind->lines, key,
				  &callgrind->first_line.items[function]);
	if (index == callgrind->first_call.count)
		*list_push(&callgrind->first_call) = NONE;
	return index;
}

/* Adds a call by the function on top of the stack. */
static void add_call(struct callgrind *callgrind, size_t event,
		     const struct callgrind_frame *called)
{
	uint32_t line = callgrind->stack.items[callgrind->stack.count - 1].line;
	const uint64_t key[] = {line, called->function};
	uint32_t call = add_cost(callgrind, &callgrind->calls, key,
				 &callgrind->first_call.items[line]);
	if (called->repeats)
		return;
	size_t at = call * callgrind->report->profile_count + event;
	callgrind->calls.weights.items[at] += called->node->total.weight;
}

/* Puts a node on the stack, and adds its costs. */
static void enter(struct callgrind *callgrind, size_t event, const struct sp_tree_node *node)
{
	struct callgrind_frame frame = {.node = node};
	frame.function = function_index(callgrind, node);
	frame.line = line_index(callgrind, frame.function, node->line);
	frame.repeats = callgrind->open.items[frame.function];
	callgrind->open.items[frame.function] = true;
	if (callgrind->stack.count)
		add_call(callgrind, event, &frame);
	*list_push(&callgrind->stack) = frame;
	size_t at = frame.line * callgrind->report->profile_count + event;
	callgrind->lines.weights.items[at] += node->self.weight;
}

static void leave(struct callgrind *callgrind)
{
	const struct callgrind_frame *top = &callgrind->stack.items[--callgrind->stack.count];
	if (!top->repeats)
		callgrind->open.items[top->function] = false;
}

/* Writes the name of a file or object: "(7) NAME" at its first use, then "(7)". */
static void put_name(struct callgrind *callgrind, struct callgrind_names *names, const char *title,
		     const char *name)
{
	struct buffer *text = &callgrind->text;
	uint32_t index = unique_add_text(&names->texts, name);
	buffer_format(text, "%s=(%" PRIu32 ")", title, index + 1);
	if (index == names->written) {
		names->written++;
		buffer_char(text, ' ');
		buffer_name(text, name);
	}
	buffer_char(text, '\n');
}

/* Writes a function's object, file and name; `prefix` is "c" for a called function. */
static void put_function(struct callgrind *callgrind, const char *prefix, uint32_t function)
{
	const struct sp_tree_node *node = callgrind->nodes.items[function];
	put_name(callgrind, &callgrind->objects, *prefix ? "cob" : "ob",
		 node->dso_path ?: node->dso ?: unknown);
	put_name(callgrind, &callgrind->files, *prefix ? "cfi" : "fl", node->srcpath ?: unknown);
	/* Functions of one name in two files are two, so the name has the function's number. */
	buffer_format(&callgrind->text, "%sfn=(%" PRIu32 ")", prefix, function + 1);
	if (!callgrind->named.items[function]) {
		callgrind->named.items[function] = true;
		buffer_char(&callgrind->text, ' ');
		buffer_name(&callgrind->text, node_name(node) ?: ROOT_NAME);
	}
	buffer_char(&callgrind->text, '\n');
}

static void put_costs(struct callgrind *callgrind, uint64_t line, const struct costs *costs,
		      uint32_t index)
{
	size_t events = callgrind->report->profile_count;
	buffer_decimal(&callgrind->text, line, 0, ' ');
	for (size_t i = 0; i < events; i++) {
		buffer_char(&callgrind->text, ' ');
		buffer_decimal(&callgrind->text, costs->weights.items[index * events + i], 0, ' ');
	}
	buffer_char(&callgrind->text, '\n');
}

static void put_block(struct callgrind *callgrind, uint32_t function)
{
	put_function(callgrind, "", function);
	for (uint32_t line = callgrind->first_line.items[function]; line != NONE;
	     line = callgrind->lines.next.items[line]) {
		uint64_t number = unique_number(&callgrind->lines.keys, line, 1);
		put_costs(callgrind, number, &callgrind->lines, line);
		for (uint32_t call = callgrind->first_call.items[line]; call != NONE;
		     call = callgrind->calls.next.items[call]) {
			uint64_t called = unique_number(&callgrind->calls.keys, call, 1);
			put_function(callgrind, "c", (uint32_t)called);
			buffer_string(&callgrind->text, "calls=1 0\n");
			put_costs(callgrind, number, &callgrind->calls, call);
		}
	}
	buffer_char(&callgrind->text, '\n');
}

static void put_header(struct callgrind *callgrind)
{
	struct buffer *text = &callgrind->text;
	const struct report *report = callgrind->report;
	buffer_string(text, "# callgrind format\nversion: 1\ncreator: sprof " PACKAGE_VERSION "\n");
	size_t begin = text->count;
	notes_put(report, text);
	/* Each note becomes a line "desc: Note: NOTE", which readers print. */
	buffer_char(text, '\0');
	char *notes = xstrdup(text->text + begin);
	text->count = begin;
	for (char *rest = notes, *line; (line = strsep(&rest, "\n")) && *line;) {
		bool command = !strncmp(line, "command: ", 9);
		buffer_string(text, command ? "cmd: " : "desc: Note: ");
		buffer_string(text, command ? line + 9 : line);
		buffer_char(text, '\n');
	}
	free(notes);
	buffer_string(text, "desc: Note: samples do not count calls: each has the count 1\n"
			    "positions: line\nevents:");
	for (size_t i = 0; i < report->profile_count; i++) {
		/* Writes an event's name in the characters that are safe in a list of names. */
		const struct sp_profile *profile = report->profiles[i];
		char *name = xstrdup(profile->event);
		for (char *c = name; (c = strpbrk(c, " \t,()\n\r"));)
			*c = '_';
		buffer_char(text, ' ');
		buffer_name(text, name);
		free(name);
		if (profile->weight_is_time)
			buffer_string(text, "-ns");
	}
	buffer_string(text, "\n\n");
}

static bool write_callgrind(const struct report *report, FILE *out)
{
	struct callgrind callgrind = {
		.report = report,
		.text.form = TEXT_SHOWN,
		.functions.columns = 4,
		.lines.keys.columns = 2,
		.calls.keys.columns = 2,
	};
	for (size_t i = 0; i < report->profile_count; i++) {
		/*
		 * Adds the costs of one event's tree. Its root is a function, too, because readers
		 * add up the calls to a function, and so would miss stacks that begin there.
		 */
		const struct sp_tree_node *root = callgrind.report->profiles[i]->tree;
		if (root)
			enter(&callgrind, i, root);
		while (callgrind.stack.count) {
			struct callgrind_frame *top =
				&callgrind.stack.items[callgrind.stack.count - 1];
			if (top->next < top->node->child_count)
				enter(&callgrind, i, sp_tree_child(top->node, top->next++));
			else
				leave(&callgrind);
		}
	}
	put_header(&callgrind);
	for (uint32_t i = 0; i < callgrind.nodes.count; i++)
		put_block(&callgrind, i);
	buffer_string(&callgrind.text, "totals:");
	for (size_t i = 0; i < report->profile_count; i++)
		buffer_format(&callgrind.text, " %" PRIu64, report->profiles[i]->shown_weight);
	buffer_char(&callgrind.text, '\n');
	fwrite(callgrind.text.text, 1, callgrind.text.count, out);
	callgrind_deinit(&callgrind);
	return true;
}

const struct output_format output_callgrind = {
	.name = "callgrind",
	.files = (const char *const[]){"callgrind.*", "*.callgrind", NULL},
	.stacks = true,
	.lines = true,
	.write = write_callgrind,
};
