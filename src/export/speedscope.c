/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * speedscope's own format: a sampled profile for each thread and event, the heaviest first. Stacks are in
 * the order of time; equal neighbours are one. A frame is a function, without the line, because
 * speedscope lists each line of a function apart.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "buffer.h"
#include "diag.h"
#include "export/report_notes.h"
#include "export/unique.h"
#include "json.h"
#include "list.h"
#include "memory.h"
#include "out/output.h"

/* Largest file to write: browsers cannot read JSON of about 500 MB. */
#define SIZE_MAX_BYTES ((uint64_t)300 << 20)

/* Name of the frame for functions that the tree leaves out (--percent-limit). */
static const char smaller[] = "(smaller)";

/* One thread's cells of one event. */
struct thread_lane {
	size_t event;       /* index of the timeline */
	uint32_t thread;
	size_t first, count; /* range of `order` */
	uint64_t weight;
};

/* A node of a timeline: index of its frame in `frames`, and its parent. */
struct node_step {
	uint32_t frame, parent;
};

struct speedscope {
	const struct report *report;
	struct json json;
	struct buffer text;
	struct unique frames; /* address of the name, dso, start address, source file */
	LIST(const struct sp_tree_node *) nodes; /* a node of each frame; NULL: `smaller` */
	struct node_step **steps;  /* by event and node of its timeline */
	uint32_t **order;     /* by event: its cells by thread, each thread's in order of time */
	LIST(struct thread_lane) lanes;
	uint32_t *path;       /* buffer for one stack */
	size_t path_room;
};

static void deinit(struct speedscope *speedscope)
{
	for (size_t i = 0; i < speedscope->report->profile_count; i++) {
		free(speedscope->steps[i]);
		free(speedscope->order[i]);
	}
	free(speedscope->steps);
	free(speedscope->order);
	free(speedscope->lanes.items);
	free(speedscope->nodes.items);
	free(speedscope->path);
	unique_deinit(&speedscope->frames);
	buffer_deinit(&speedscope->text);
}

/* Numbers the frames of one event's nodes. */
static void number_frames(struct speedscope *speedscope, size_t event)
{
	const struct sp_timeline *timeline = speedscope->report->timelines[event];
	struct node_step *steps = xcalloc(timeline->node_count + 1, sizeof(*steps));
	speedscope->steps[event] = steps;
	/* The root is no frame. */
	for (size_t i = 1; i < timeline->node_count; i++) {
		const struct sp_timeline_node *item = sp_timeline_node(timeline, i);
		const struct sp_tree_node *node = item->node;
		uint64_t row[] = {(uintptr_t)smaller, 0, 0, 0};
		if (node) {
			row[0] = (uintptr_t)node_name(node);
			row[1] = (uintptr_t)node->dso;
			row[2] = node->address;
			row[3] = (uintptr_t)node->srcpath;
		}
		steps[i] = (struct node_step){unique_add(&speedscope->frames, row), item->parent};
		if (steps[i].frame == speedscope->nodes.count)
			*list_push(&speedscope->nodes) = node;
	}
}

/* Orders one event's cells by thread, and lists its lanes. */
static void list_lanes(struct speedscope *speedscope, size_t event)
{
	const struct sp_timeline *timeline = speedscope->report->timelines[event];
	size_t first = speedscope->lanes.count, at = 0;
	uint32_t *order = xcalloc(timeline->cell_count + 1, sizeof(*order));
	speedscope->order[event] = order;
	list_reserve(&speedscope->lanes, first + timeline->thread_count + 1);
	for (uint32_t i = 0; i < timeline->thread_count; i++)
		*list_push(&speedscope->lanes) = (struct thread_lane){.event = event, .thread = i};
	struct thread_lane *lanes = speedscope->lanes.items + first;
	for (size_t i = 0; i < timeline->cell_count; i++)
		lanes[sp_timeline_cell(timeline, i)->thread].count++;
	for (size_t i = 0; i < timeline->thread_count; i++) {
		lanes[i].first = at;
		at += lanes[i].count;
		lanes[i].count = 0;
	}
	for (size_t i = 0; i < timeline->cell_count; i++) {
		const struct sp_cell *cell = sp_timeline_cell(timeline, i);
		struct thread_lane *lane = &lanes[cell->thread];
		order[lane->first + lane->count++] = (uint32_t)i;
		lane->weight += cell->weight;
	}
}

static int compare_lanes(const void *a, const void *b)
{
	const struct thread_lane *x = a, *y = b;
	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return (x->thread > y->thread) - (x->thread < y->thread);
}

static const struct sp_cell *lane_cell(const struct speedscope *speedscope,
				       const struct thread_lane *lane, size_t index)
{
	uint32_t cell = speedscope->order[lane->event][lane->first + index];
	return sp_timeline_cell(speedscope->report->timelines[lane->event], cell);
}

/* Writes the frames of one stack, the outermost first. */
static void put_stack(struct speedscope *speedscope, size_t event, uint32_t node)
{
	const struct node_step *steps = speedscope->steps[event];
	struct buffer *text = &speedscope->text;
	size_t depth = 0;
	for (; node; node = steps[node].parent) {
		if (depth == speedscope->path_room)
			list_grow(&speedscope->path, &speedscope->path_room, depth + 1,
				  sizeof(*speedscope->path));
		speedscope->path[depth++] = steps[node].frame;
	}
	buffer_char(text, '[');
	while (depth-- > 0) {
		buffer_decimal(text, speedscope->path[depth], 0, ' ');
		if (depth)
			buffer_char(text, ',');
	}
	buffer_char(text, ']');
}

static void flush(struct speedscope *speedscope)
{
	fwrite(speedscope->text.text, 1, speedscope->text.count, speedscope->json.out);
	speedscope->text.count = 0;
}

/* Writes the lane's stacks, or, if `weights`, their weights, as a JSON array. */
static void put_samples(struct speedscope *speedscope, const struct thread_lane *lane, bool weights)
{
	struct buffer *text = &speedscope->text;
	bool more = false;
	for (size_t i = 0; i < lane->count;) {
		uint32_t node = lane_cell(speedscope, lane, i)->node;
		uint64_t weight = 0;
		for (; i < lane->count && lane_cell(speedscope, lane, i)->node == node; i++)
			weight += lane_cell(speedscope, lane, i)->weight;
		buffer_string(text, more ? "," : "[");
		more = true;
		if (weights)
			buffer_decimal(text, weight, 0, ' ');
		else
			put_stack(speedscope, lane->event, node);
		if (text->count > 64 << 10)
			flush(speedscope);
	}
	buffer_string(text, more ? "]" : "[]");
	flush(speedscope);
}

static void put_lane(struct speedscope *speedscope, const struct thread_lane *lane)
{
	const struct report *report = speedscope->report;
	const struct sp_timeline_thread *thread =
		sp_timeline_thread(report->timelines[lane->event], lane->thread);
	const struct sp_profile *profile = report->profiles[lane->event];
	struct json *json = &speedscope->json;
	char name[300];
	snprintf(name, sizeof(name), "%s %" PRId32 "%s%s", thread->comm, thread->tid,
		 report->profile_count > 1 ? " " : "", report->profile_count > 1 ? profile->event : "");
	json_begin(json, NULL, '{');
	json_string(json, "type", "sampled");
	json_string(json, "name", name);
	json_string(json, "unit", profile->weight_is_time ? "nanoseconds" : "none");
	json_unsigned(json, "startValue", 0);
	json_unsigned(json, "endValue", lane->weight);
	fputs(", \"samples\": ", json->out);
	put_samples(speedscope, lane, false);
	fputs(", \"weights\": ", json->out);
	put_samples(speedscope, lane, true);
	json_end(json, '}');
}

/*
 * Writes a frame's file. speedscope has no kind of frames, but orders colours by file. Files of the
 * kernel's code begin with the kernel's or module's name in brackets, as in perf script.
 */
static void put_file(struct speedscope *speedscope, const struct sp_tree_node *node)
{
	const char *file = node->srcpath ?: node->dso_path ?: node->dso, *dso = node->dso ?: "kernel";
	struct buffer *text = &speedscope->text;
	if (node->level != SP_LEVEL_KERNEL && node->level != SP_LEVEL_GUEST_KERNEL) {
		json_string(&speedscope->json, "file", file);
		return;
	}
	buffer_string(text, *dso == '[' ? "" : "[");
	buffer_string(text, dso);
	buffer_string(text, *dso == '[' ? "" : "]");
	if (node->srcpath) {
		buffer_char(text, ' ');
		buffer_string(text, node->srcpath);
	}
	buffer_char(text, '\0');
	json_string(&speedscope->json, "file", text->text);
	text->count = 0;
}

static void put_frames(struct speedscope *speedscope)
{
	struct json *json = &speedscope->json;
	json_begin(json, "shared", '{');
	json_begin_lines(json, "frames", '[');
	for (size_t i = 0; i < speedscope->nodes.count; i++) {
		const struct sp_tree_node *node = speedscope->nodes.items[i];
		json_begin(json, NULL, '{');
		json_string(json, "name", node ? node_name(node) : smaller);
		if (node)
			put_file(speedscope, node);
		json_end(json, '}');
	}
	json_end_lines(json, ']');
	json_end(json, '}');
}

/* Writes the title: the recording, its command, and the losses of each event. */
static void put_title(struct speedscope *speedscope)
{
	struct buffer *text = &speedscope->text;
	text->form = TEXT_SHOWN;
	buffer_name(text, speedscope->report->path);
	if (speedscope->report->info->cmdline && *speedscope->report->info->cmdline) {
		buffer_string(text, ": ");
		notes_put_command(speedscope->report, text);
	}
	for (size_t i = 0; i < speedscope->report->profile_count; i++) {
		buffer_string(text, i ? "; " : ", ");
		notes_put_event(speedscope->report->profiles[i], text);
	}
	buffer_char(text, '\0');
	json_string(&speedscope->json, "name", text->text);
	text->count = 0;
}

static void prepare(struct speedscope *speedscope)
{
	size_t count = speedscope->report->profile_count;
	speedscope->steps = xcalloc(count + 1, sizeof(*speedscope->steps));
	speedscope->order = xcalloc(count + 1, sizeof(*speedscope->order));
	for (size_t i = 0; i < count; i++) {
		number_frames(speedscope, i);
		list_lanes(speedscope, i);
	}
	if (speedscope->lanes.count)
		qsort(speedscope->lanes.items, speedscope->lanes.count,
		      sizeof(*speedscope->lanes.items), compare_lanes);
}

static bool write_speedscope(const struct report *report, FILE *out)
{
	struct speedscope speedscope = {
		.report = report, .json = {.out = out}, .frames.columns = 4};
	struct json *json = &speedscope.json;
	prepare(&speedscope);
	json_begin_lines(json, NULL, '{');
	json_string(json, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_string(json, "exporter", "sprof@" PACKAGE_VERSION);
	put_title(&speedscope);
	json_unsigned(json, "activeProfileIndex", 0);
	put_frames(&speedscope);
	json_begin_lines(json, "profiles", '[');
	for (size_t i = 0; i < speedscope.lanes.count; i++)
		if (speedscope.lanes.items[i].count)
			put_lane(&speedscope, &speedscope.lanes.items[i]);
	json_end_lines(json, ']');
	json_end_lines(json, '}');
	deinit(&speedscope);
	return true;
}

/* Returns about how many bytes the stacks of an event take: up to 6 for each frame. */
static uint64_t stacks_size(const struct sp_timeline *timeline)
{
	uint64_t size = 0;
	uint32_t *depth = xcalloc(timeline->node_count + 1, sizeof(*depth));
	for (size_t i = 1; i < timeline->node_count; i++)
		depth[i] = depth[sp_timeline_node(timeline, i)->parent] + 1;
	for (size_t i = 0; i < timeline->cell_count; i++)
		size += 6 * (uint64_t)depth[sp_timeline_cell(timeline, i)->node] + 10;
	free(depth);
	return size;
}

static bool check_size(const struct report *report)
{
	uint64_t size = 0;
	for (size_t i = 0; i < report->profile_count; i++)
		size += stacks_size(report->timelines[i]);
	if (size <= SIZE_MAX_BYTES)
		return true;
	diag_print("the file would have about %" PRIu64 " MB, which speedscope cannot read",
		   size >> 20);
	diag_more("--time selects a part; -o FILE.pb.gz, which has no times, is small");
	return false;
}

const struct output_format output_speedscope = {
	.name = "speedscope",
	.files = (const char *const[]){"*.speedscope.json", "*.speedscope.json.gz", NULL},
	.stacks = true,
	.lines = true,
	.timeline = true,
	.check = check_size,
	.write = write_speedscope,
};
