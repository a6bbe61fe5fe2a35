/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Firefox Profiler's processed profile: threads and their samples. */
#include "export/firefox.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include "out/output.h"

static const struct sp_cell *cell_at(const struct firefox *firefox, size_t i)
{
	return &firefox->timeline->cells[firefox->order[i]];
}

/* Writes times. Several cells of one bin are spread over the bin. Samples without a time are at 0. */
static void write_times(struct firefox *firefox, const struct firefox_thread *range)
{
	const struct sp_timeline *timeline = firefox->timeline;
	json_begin(&firefox->json, "time", '[');
	for (size_t i = range->begin, end; i < range->end; i = end) {
		uint64_t time_ns = cell_at(firefox, i)->time_ns;
		double from_ns = time_ns > timeline->begin_ns ? (double)(time_ns - timeline->begin_ns) : 0;
		for (end = i; end < range->end && cell_at(firefox, end)->time_ns == time_ns;)
			end++;
		double step_ns = timeline->width_ns > 1 ? (double)timeline->width_ns / (double)(end - i) : 0;
		for (size_t j = i; j < end; j++)
			json_double(&firefox->json, NULL, (from_ns + (double)(j - i) * step_ns) / NS_PER_MS);
	}
	json_end(&firefox->json, ']');
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
	write_times(firefox, range);
	write_weights(firefox, range);
	json_begin(json, "threadCPUDelta", '[');
	for (size_t i = range->begin; i < range->end; i++)
		json_unsigned(json, NULL, cpu_time(firefox, cell_at(firefox, i)));
	json_end(json, ']');
	json_end_lines(json, '}');
}

/* Writes the times of losses. A loss may be reported before the first or after the last sample. */
static void write_loss_times(struct firefox *firefox, size_t count)
{
	const struct sp_timeline *timeline = firefox->timeline;
	double end_ms = firefox_duration_ms(firefox);
	json_begin(&firefox->json, "startTime", '[');
	for (size_t i = 0; i < count; i++) {
		uint64_t time_ns = timeline->losses[i].time_ns;
		double ms = time_ns > timeline->begin_ns
				    ? (double)(time_ns - timeline->begin_ns) / NS_PER_MS : 0;
		json_double(&firefox->json, NULL, ms < end_ms ? ms : end_ms);
	}
	json_end(&firefox->json, ']');
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
		json_unsigned(json, "lost", firefox->timeline->losses[i].lost);
		json_end(json, '}');
	}
	json_end(json, ']');
	firefox_put_constant(json, "name", count, firefox->loss_name);
	write_loss_times(firefox, count);
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
struct process {
	size_t recording;
	int32_t pid;
	const char *comm;
};

static int compare_processes(const void *a, const void *b)
{
	const struct process *x = a, *y = b;
	if (x->recording != y->recording)
		return x->recording < y->recording ? -1 : 1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* Writes the threads. The viewer refuses a profile without any, so an empty one has a thread. */
static bool write_threads(struct firefox *firefox)
{
	static const struct sp_timeline_thread none = {.comm = "no samples"};
	const struct sp_timeline *timeline = firefox->timeline;
	size_t thread_count = timeline ? timeline->thread_count : 0, count = 0;
	struct process *processes = calloc(thread_count + 1, sizeof(*processes));
	if (!processes)
		return false;
	for (size_t i = 0; i < thread_count; i++) {
		const struct sp_timeline_thread *thread = &timeline->threads[i];
		if (thread->pid == thread->tid)
			processes[count++] = (struct process){thread->recording, thread->pid, thread->comm};
	}
	qsort(processes, count, sizeof(*processes), compare_processes);
	json_begin_lines(&firefox->json, "threads", '[');
	for (size_t i = 0; i < firefox->thread_count; i++) {
		const struct sp_timeline_thread *thread = &timeline->threads[firefox->threads[i].thread];
		const struct process key = {thread->recording, thread->pid, NULL}, *found =
			bsearch(&key, processes, count, sizeof(*processes), compare_processes);
		write_thread(firefox, &firefox->threads[i], thread, found ? found->comm : thread->comm);
	}
	if (!firefox->thread_count)
		write_thread(firefox, &(const struct firefox_thread){0}, &none, none.comm);
	json_end_lines(&firefox->json, ']');
	free(processes);
	return true;
}

static enum firefox_weight weight_kind(const struct firefox *firefox)
{
	const struct sp_timeline *timeline = firefox->timeline;
	enum firefox_weight kind = WEIGHT_NONE;
	const struct sp_cell *first = timeline->cells;
	if (firefox->report->mode != SP_MODE_CPU)
		return WEIGHT_TIME;
	for (size_t i = 0; i < timeline->cell_count; i++) {
		const struct sp_cell *cell = &timeline->cells[i];
		/* With one period, weights are proportional to samples. */
		if ((double)cell->weight * first->samples != (double)first->weight * cell->samples)
			return firefox->profile->weight_is_time ? WEIGHT_TIME : WEIGHT_EVENTS;
		if (cell->samples != 1)
			kind = WEIGHT_SAMPLES;
	}
	return kind;
}

/* Orders the cells by thread. Returns false when out of memory. */
static bool order_cells(struct firefox *firefox)
{
	const struct sp_timeline *timeline = firefox->timeline;
	size_t begin = 0;
	if (!timeline)
		return true;
	struct firefox_thread *threads = calloc(timeline->thread_count + 1, sizeof(*threads));
	firefox->order = calloc(timeline->cell_count + 1, sizeof(*firefox->order));
	firefox->threads = threads;
	if (!threads || !firefox->order)
		return false;
	for (size_t i = 0; i < timeline->cell_count; i++) {
		struct firefox_thread *range = &threads[timeline->cells[i].thread];
		range->end++;
		range->weight += timeline->cells[i].weight;
	}
	for (size_t i = 0; i < timeline->thread_count; i++) {
		size_t count = threads[i].end;
		threads[i] = (struct firefox_thread){begin, begin, threads[i].weight, i};
		begin += count;
	}
	for (size_t i = 0; i < timeline->cell_count; i++)
		firefox->order[threads[timeline->cells[i].thread].end++] = (uint32_t)i;
	for (size_t i = 0; i < timeline->thread_count; i++)
		if (threads[i].end > threads[i].begin)
			threads[firefox->thread_count++] = threads[i];
	for (size_t i = 0; i < firefox->thread_count; i++)
		if (threads[i].weight > threads[firefox->busiest].weight)
			firefox->busiest = i;
	firefox->weight_kind = weight_kind(firefox);
	return true;
}

static bool write_document(struct firefox *firefox)
{
	struct json *json = &firefox->json;
	if (!order_cells(firefox) || !firefox_tables_init(&firefox->tables, firefox->timeline))
		return false;
	firefox->loss_name = unique_add_text(&firefox->tables.strings, FIREFOX_LOSS);
	if (firefox->loss_name == UNIQUE_NONE)
		return false;
	json_begin_lines(json, NULL, '{');
	if (!firefox_write_meta(firefox))
		return false;
	firefox_write_libraries(firefox);
	firefox_write_shared(firefox);
	bool done = write_threads(firefox);
	json_end_lines(json, '}');
	return done;
}

static bool write_firefox(const struct report *report, FILE *out)
{
	struct firefox firefox = {.report = report, .json.out = out};
	if (report->profile_count) {
		firefox.profile = report->profiles[0];
		firefox.timeline = report->timelines[0];
	}
	bool done = write_document(&firefox);
	firefox_tables_deinit(&firefox.tables);
	free(firefox.order);
	free(firefox.threads);
	return done;
}

const struct output output_firefox = {
	.name = "firefox",
	.files = (const char *const[]){"*.json.gz", "*.firefox.json", NULL},
	.stacks = true,
	.lines = true,
	.timeline = true,
	.one_event = true,
	.write = write_firefox,
};
