/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Firefox Profiler's processed profile: threads and their samples. */
#include "export/firefox.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include "list.h"
#include "memory.h"
#include "out/output.h"
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
 * Returns the row of a text in `table`, a table with the text's string as its only column.
 * FIREFOX_NONE: no text.
 */
static uint64_t add_name(struct firefox_tables *tables, struct unique *table, const char *text)
{
	uint64_t string = text ? unique_add_text(&tables->strings, text) : 0;
	return text ? unique_add(table, &string) : FIREFOX_NONE;
}

/*
 * Returns the node's function. Equal functions may have nodes with different lines. A function that
 * is inlined everywhere has no address, and its source file identifies it.
 */
static uint32_t add_function(struct firefox_tables *tables, const struct sp_tree_node *node,
			     uint64_t library)
{
	size_t before = tables->functions.count;
	const char *name = node ? node_name(node) : LEFT_OUT_NAME;
	uint64_t row[FUNCTION_COLUMNS] = {
		[FUNCTION_NAME] = unique_add_text(&tables->strings, name)};
	uint64_t source = add_name(tables, &tables->sources, node ? node->srcpath : NULL);
	row[FUNCTION_LIBRARY] = library;
	row[FUNCTION_SOURCE] = node && node->inlined && !node->address ? source : FIREFOX_NONE;
	row[FUNCTION_ADDRESS] = node ? node->address : 0;
	row[FUNCTION_LEVEL] = node ? node->level : 0;
	uint32_t function = unique_add(&tables->functions, row);
	if (tables->functions.count > tables->function_source_capacity)
		list_grow(&tables->function_sources, &tables->function_source_capacity,
			  tables->functions.count, sizeof(*tables->function_sources));
	if (tables->functions.count > before || tables->function_sources[function] == FIREFOX_NONE)
		tables->function_sources[function] = source;
	return function;
}

/* Returns the machine code's symbol that a node which is not inlined stands for. */
static uint32_t add_symbol(struct firefox_tables *tables, const struct sp_tree_node *node,
			   uint64_t library)
{
	const uint64_t row[SYMBOL_COLUMNS] = {
		library, node->address & ADDRESS_MASK,
		[SYMBOL_NAME] = unique_add_text(&tables->strings, node_name(node))};
	return unique_add(&tables->symbols, row);
}

/*
 * Adds a node's frame. Inlined frames have the symbol of their physical frame. Only code without a
 * symbol has an address of its own; of other code the tree has the function's begin, which was not
 * sampled.
 */
static void add_frame(struct firefox_tables *tables, const struct sp_timeline *timeline,
		      size_t index)
{
	const struct sp_timeline_node *item = sp_timeline_node(timeline, index);
	const struct sp_tree_node *node = item->node;
	uint32_t parent = tables->node_frames[item->parent];
	bool named = node && (node->symbol_known || node->from_cfi);
	tables->node_states[index] =
		node && node->state ? node->state : tables->node_states[item->parent];
	uint64_t library = add_name(tables, &tables->libraries, node ? node->dso : NULL);
	uint64_t row[FRAME_COLUMNS] = {
		[FRAME_ADDRESS] =
			node && node->dso && !named ? node->address & ADDRESS_MASK : FIREFOX_NONE,
		[FRAME_CATEGORY] = category_of(node, tables->node_states[index]),
		[FRAME_FUNCTION] = add_function(tables, node, library),
		[FRAME_SYMBOL] = FIREFOX_NONE,
		[FRAME_LINE] = node && node->line ? node->line : FIREFOX_NONE,
	};
	if (node && node->inlined && parent != UNIQUE_NONE) {
		row[FRAME_ADDRESS] = unique_number(&tables->frames, parent, FRAME_ADDRESS);
		row[FRAME_DEPTH] = unique_number(&tables->frames, parent, FRAME_DEPTH) + 1;
		row[FRAME_SYMBOL] = unique_number(&tables->frames, parent, FRAME_SYMBOL);
	} else if (named && library != FIREFOX_NONE) {
		row[FRAME_SYMBOL] = add_symbol(tables, node, library);
	}
	tables->node_frames[index] = unique_add(&tables->frames, row);
}

static void firefox_tables_init(struct firefox_tables *tables, const struct sp_timeline *timeline)
{
	*tables = (struct firefox_tables){
		.sources.columns = SOURCE_COLUMNS,
		.libraries.columns = LIBRARY_COLUMNS,
		.symbols.columns = SYMBOL_COLUMNS,
		.functions.columns = FUNCTION_COLUMNS,
		.frames.columns = FRAME_COLUMNS,
	};
	if (!timeline || !timeline->node_count)
		return;
	tables->node_frames = xcalloc(timeline->node_count, sizeof(*tables->node_frames));
	tables->node_states = xcalloc(timeline->node_count, sizeof(*tables->node_states));
	tables->node_frames[0] = UNIQUE_NONE;
	for (size_t i = 1; i < timeline->node_count; i++)
		add_frame(tables, timeline, i);
}

static void firefox_tables_deinit(struct firefox_tables *tables)
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

static const struct sp_cell *cell_at(const struct firefox *firefox, size_t i)
{
	return sp_timeline_cell(firefox->timeline, firefox->order[i]);
}

static void write_weights(struct firefox *firefox, const struct firefox_thread *range)
{
	struct json *json = &firefox->json;
	json_string(json, "weightType", firefox->weight_kind == WEIGHT_TIME ? "tracing-ms" : "samples");
	if (firefox->weight_kind == WEIGHT_NONE) {
		json_double(json, "weight", NAN);
		return;
	}
	json_begin(json, "weight", '[');
	for (size_t i = range->begin; i < range->end; i++) {
		const struct sp_cell *cell = cell_at(firefox, i);
		if (firefox->weight_kind == WEIGHT_TIME)
			json_double(json, NULL, (double)cell->weight / NS_PER_MS);
		else
			json_unsigned(json, NULL,
				      firefox->weight_kind == WEIGHT_SAMPLES ? cell->samples : cell->weight);
	}
	json_end(json, ']');
}

/* Returns the CPU time of a cell; in modes of time only that of threads on a CPU. */
static uint64_t cpu_time(const struct firefox *firefox, const struct sp_cell *cell)
{
	enum sp_state state = firefox->tables.node_states[cell->node];
	return state == SP_STATE_NONE || state == SP_STATE_ON_CPU ? cell->weight : 0;
}

/* Writes samples. "threadCPUDelta" makes the graph show idle time between samples as idle. */
static void write_samples(struct firefox *firefox, const struct firefox_thread *range)
{
	struct json *json = &firefox->json;
	json_begin_lines(json, "samples", '{');
	json_unsigned(json, "length", range->end - range->begin);
	json_begin(json, "stack", '[');
	for (size_t i = range->begin; i < range->end; i++) {
		uint32_t node = cell_at(firefox, i)->node;
		firefox_put_number(json, node ? node - 1 : FIREFOX_NONE, NAN);
	}
	json_end(json, ']');

	/*
	 * Writes times. Several cells of one bin are spread over the bin. Samples without a time
	 * are at 0.
	 */
	const struct sp_timeline *timeline = firefox->timeline;
	json_begin(&firefox->json, "time", '[');
	for (size_t i = range->begin, end; i < range->end; i = end) {
		uint64_t time_ns = cell_at(firefox, i)->time_ns;
		double from_ns =
			time_ns > timeline->begin_ns ? (double)(time_ns - timeline->begin_ns) : 0;
		for (end = i; end < range->end && cell_at(firefox, end)->time_ns == time_ns;)
			end++;
		double step_ns =
			timeline->width_ns > 1 ? (double)timeline->width_ns / (double)(end - i) : 0;
		for (size_t j = i; j < end; j++)
			json_double(&firefox->json, NULL,
				    (from_ns + (double)(j - i) * step_ns) / NS_PER_MS);
	}
	json_end(&firefox->json, ']');
	write_weights(firefox, range);
	json_begin(json, "threadCPUDelta", '[');
	for (size_t i = range->begin; i < range->end; i++)
		json_unsigned(json, NULL, cpu_time(firefox, cell_at(firefox, i)));
	json_end(json, ']');
	json_end_lines(json, '}');
}

/* Writes the first `count` losses as markers without a duration. */
static void write_markers(struct firefox *firefox, size_t count)
{
	struct json *json = &firefox->json;
	firefox_begin_table(json, "markers", count);
	json_begin(json, "data", '[');
	for (size_t i = 0; i < count; i++) {
		json_begin(json, NULL, '{');
		json_string(json, "type", FIREFOX_LOSS);
		json_unsigned(json, "lost", sp_timeline_loss(firefox->timeline, i)->lost);
		json_end(json, '}');
	}
	json_end(json, ']');
	firefox_put_constant(json, "name", count, firefox->loss_name);

	/*
	 * Writes the times of losses. A loss may be reported before the first or after the last
	 * sample.
	 */
	const struct sp_timeline *timeline = firefox->timeline;
	double end_ms = firefox_duration_ms(firefox);
	json_begin(&firefox->json, "startTime", '[');
	for (size_t i = 0; i < count; i++) {
		uint64_t time_ns = sp_timeline_loss(timeline, i)->time_ns;
		double ms = time_ns > timeline->begin_ns
				    ? (double)(time_ns - timeline->begin_ns) / NS_PER_MS : 0;
		json_double(&firefox->json, NULL, ms < end_ms ? ms : end_ms);
	}
	json_end(&firefox->json, ']');
	firefox_put_constant(json, "endTime", count, NAN);
	firefox_put_constant(json, "phase", count, 0);
	firefox_put_constant(json, "category", count, CATEGORY_OTHER);
	json_end_lines(json, '}');
}

/*
 * Writes a thread. Equal process numbers of several recordings are made distinct. Records of losses
 * do not have the thread that lost samples; the busiest one, which the viewer shows first, lists all.
 */
static void write_thread(struct firefox *firefox, const struct firefox_thread *range,
			 const struct sp_timeline_thread *thread, const char *process)
{
	struct json *json = &firefox->json;
	char pid[48];
	if (thread->recording)
		snprintf(pid, sizeof(pid), "%" PRId32 ".%zu", thread->pid, thread->recording);
	else
		snprintf(pid, sizeof(pid), "%" PRId32, thread->pid);
	json_begin_lines(json, NULL, '{');
	json_string(json, "processType", "default");
	json_double(json, "processStartupTime", 0);
	json_double(json, "processShutdownTime", NAN);
	json_double(json, "registerTime", 0);
	json_double(json, "unregisterTime", NAN);
	json_begin(json, "pausedRanges", '[');
	json_end(json, ']');
	json_string(json, "name", thread->comm);
	json_bool(json, "isMainThread", thread->pid == thread->tid);
	json_string(json, "processName", process);
	json_string(json, "pid", pid);
	json_signed(json, "tid", thread->tid);
	write_samples(firefox, range);
	bool lists_losses = firefox->timeline && range == &firefox->threads[firefox->busiest];
	write_markers(firefox, lists_losses ? firefox->timeline->loss_count : 0);
	json_end_lines(json, '}');
}

/* Index entry of the main thread of a process. */
struct process_entry {
	size_t recording;
	int32_t pid;
	const char *comm;
};

static int compare_processes(const void *a, const void *b)
{
	const struct process_entry *x = a, *y = b;
	if (x->recording != y->recording)
		return x->recording < y->recording ? -1 : 1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* Writes the threads. The viewer refuses a profile without any, so an empty one has a thread. */
static void write_threads(struct firefox *firefox)
{
	static const struct sp_timeline_thread none = {.comm = "no samples"};
	const struct sp_timeline *timeline = firefox->timeline;
	size_t thread_count = timeline ? timeline->thread_count : 0, count = 0;
	struct process_entry *processes = xcalloc(thread_count + 1, sizeof(*processes));
	for (size_t i = 0; i < thread_count; i++) {
		const struct sp_timeline_thread *thread = sp_timeline_thread(timeline, i);
		if (thread->pid == thread->tid)
			processes[count++] = (struct process_entry){thread->recording, thread->pid,
								    thread->comm};
	}
	qsort(processes, count, sizeof(*processes), compare_processes);
	json_begin_lines(&firefox->json, "threads", '[');
	for (size_t i = 0; i < firefox->thread_count; i++) {
		const struct sp_timeline_thread *thread =
			sp_timeline_thread(timeline, firefox->threads[i].thread);
		const struct process_entry key = {thread->recording, thread->pid, NULL}, *found =
			bsearch(&key, processes, count, sizeof(*processes), compare_processes);
		write_thread(firefox, &firefox->threads[i], thread, found ? found->comm : thread->comm);
	}
	if (!firefox->thread_count)
		write_thread(firefox, &(const struct firefox_thread){0}, &none, none.comm);
	json_end_lines(&firefox->json, ']');
	free(processes);
}

static enum firefox_weight weight_kind(const struct firefox *firefox)
{
	const struct sp_timeline *timeline = firefox->timeline;
	enum firefox_weight kind = WEIGHT_NONE;
	if (firefox->report->mode != SP_MODE_CPU)
		return WEIGHT_TIME;
	const struct sp_cell *first = timeline->cell_count ? sp_timeline_cell(timeline, 0) : NULL;
	for (size_t i = 0; i < timeline->cell_count; i++) {
		const struct sp_cell *cell = sp_timeline_cell(timeline, i);
		/* With one period, weights are proportional to samples. */
		if ((double)cell->weight * first->samples != (double)first->weight * cell->samples)
			return firefox->profile->weight_is_time ? WEIGHT_TIME : WEIGHT_EVENTS;
		if (cell->samples != 1)
			kind = WEIGHT_SAMPLES;
	}
	return kind;
}

static void order_cells(struct firefox *firefox)
{
	const struct sp_timeline *timeline = firefox->timeline;
	size_t begin = 0;
	if (!timeline)
		return;
	struct firefox_thread *threads = xcalloc(timeline->thread_count + 1, sizeof(*threads));
	firefox->order = xcalloc(timeline->cell_count + 1, sizeof(*firefox->order));
	firefox->threads = threads;
	for (size_t i = 0; i < timeline->cell_count; i++) {
		const struct sp_cell *cell = sp_timeline_cell(timeline, i);
		threads[cell->thread].end++;
		threads[cell->thread].weight += cell->weight;
	}
	for (size_t i = 0; i < timeline->thread_count; i++) {
		size_t count = threads[i].end;
		threads[i] = (struct firefox_thread){begin, begin, threads[i].weight, i};
		begin += count;
	}
	for (size_t i = 0; i < timeline->cell_count; i++)
		firefox->order[threads[sp_timeline_cell(timeline, i)->thread].end++] = (uint32_t)i;
	for (size_t i = 0; i < timeline->thread_count; i++)
		if (threads[i].end > threads[i].begin)
			threads[firefox->thread_count++] = threads[i];
	for (size_t i = 0; i < firefox->thread_count; i++)
		if (threads[i].weight > threads[firefox->busiest].weight)
			firefox->busiest = i;
	firefox->weight_kind = weight_kind(firefox);
}

static bool write_firefox(const struct report *report, FILE *out)
{
	struct firefox firefox = {.report = report, .json.out = out};
	if (report->profile_count) {
		firefox.profile = report->profiles[0];
		firefox.timeline = report->timelines[0];
	}
	order_cells(&firefox);
	firefox_tables_init(&firefox.tables, firefox.timeline);
	firefox.loss_name = unique_add_text(&firefox.tables.strings, FIREFOX_LOSS);
	json_begin_lines(&firefox.json, NULL, '{');
	firefox_write_meta(&firefox);
	firefox_write_libraries(&firefox);
	firefox_write_shared(&firefox);
	write_threads(&firefox);
	json_end_lines(&firefox.json, '}');
	firefox_tables_deinit(&firefox.tables);
	free(firefox.order);
	free(firefox.threads);
	return true;
}

const struct output_format output_firefox = {
	.name = "firefox",
	.files = (const char *const[]){"*.json.gz", "*.firefox.json", NULL},
	.stacks = true,
	.lines = true,
	.timeline = true,
	.one_event = true,
	.write = write_firefox,
};
