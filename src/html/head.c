/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "html/head.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>
#include "memory.h"
#include "out/findings_output.h"

#define NS_PER_S 1000000000

/* Index in `strings` of the name for merged threads' processes. */
#define OTHER_PROCESSES 1

void head_deinit(struct head *head)
{
	for (size_t i = 0; i < head->page->event_count; i++)
		free(head->row_functions[i]);
	free(head->row_functions);
	free(head->row_counts);
	free(head->thread_names);
	free(head->process_names);
	unique_deinit(&head->strings);
	unique_deinit(&head->functions);
}

/* Facts that tree nodes and rows have in common. */
struct code_facts {
	const char *name, *dso, *path;
	uint64_t address;
	unsigned int kind;
};

static uint32_t add_function(struct head *head, const struct code_facts *code)
{
	const uint64_t row[FUNCTION_COLUMNS] = {
		[FUNCTION_NAME] = unique_add_text(&head->strings, code->name ?: ""),
		[FUNCTION_DSO] = unique_add_text(&head->strings, code->dso ?: ""),
		[FUNCTION_PATH] = unique_add_text(&head->strings, code->path ?: ""),
		[FUNCTION_KIND] = code->kind,
		[FUNCTION_ADDRESS] = code->address,
	};
	return unique_add(&head->functions, row);
}

static uint32_t add_node(struct head *head, const struct page_node *node)
{
	const struct sp_tree_node *from = node->node;
	if (!from)
		return add_function(
			head, &(const struct code_facts){.name = "(smaller)", .kind = KIND_LIGHT});
	struct code_facts code = {node_name(from), from->dso, from->dso_path, from->address,
				  from->level & KIND_LEVEL};
	code.kind |= from->own_code ? KIND_OWN : 0;
	/* States of threads, and time without a stack, are no functions, either. */
	if (from->state)
		code.kind = KIND_MISSING | KIND_STATE | from->state;
	else if (from->truncated || !from->dso)
		code.kind |= KIND_MISSING;
	else if (!from->symbol_known)
		code.kind |= KIND_UNKNOWN;
	return add_function(head, &code);
}

uint32_t head_add_row(struct head *head, const struct sp_row *row)
{
	struct code_facts code = {row->function ?: row->symbol, row->dso, row->dso_path,
				  row->address, row->level & KIND_LEVEL};
	code.kind |= row->own_code ? KIND_OWN : 0;
	if (!row->symbol_known)
		code.kind |= KIND_UNKNOWN;
	return add_function(head, &code);
}

uint32_t head_add_inner(struct head *head)
{
	const struct code_facts code = {.name = "(inner frames)", .kind = KIND_LIGHT};
	return add_function(head, &code);
}

uint32_t head_add_light(struct head *head, uint32_t function)
{
	const uint64_t *of = unique_row(&head->functions, function);
	const char *const *texts = head->strings.texts;
	const struct code_facts code = {.name = "(light functions)", .dso = texts[of[FUNCTION_DSO]],
					.path = texts[of[FUNCTION_PATH]],
					.kind = of[FUNCTION_KIND] & (KIND_LEVEL | KIND_OWN)};
	return add_function(head, &code);
}

static void add_event(struct head *head, size_t index)
{
	struct page_event *event = &head->page->events[index];
	const struct sp_profile *profile = event->profile;
	size_t rows = report_row_count(head->page->report, profile);
	if (rows > HEAD_ROWS_MAX)
		rows = HEAD_ROWS_MAX;
	uint32_t *functions = xcalloc(rows + 1, sizeof(*functions));
	head->row_functions[index] = functions;
	head->row_counts[index] = rows;
	/* The root is no function. */
	for (size_t i = 1; i < event->nodes.count; i++)
		event->nodes.items[i].function = add_node(head, &event->nodes.items[i]);
	for (size_t i = 0; i < rows; i++)
		functions[i] = head_add_row(head, sp_profile_row(profile, i));
}

void head_init(struct head *head, struct page *page)
{
	size_t events = page->event_count, threads = page->threads.count;
	*head = (struct head){
		.page = page,
		.functions.columns = FUNCTION_COLUMNS,
		.row_functions = xcalloc(events + 1, sizeof(*head->row_functions)),
		.row_counts = xcalloc(events + 1, sizeof(*head->row_counts)),
		.thread_names = xcalloc(threads + 1, sizeof(*head->thread_names)),
		.process_names = xcalloc(threads + 1, sizeof(*head->process_names)),
	};
	unique_add_text(&head->strings, "");
	unique_add_text(&head->strings, "other processes");
	for (size_t i = 0; i < events; i++)
		add_event(head, i);
	for (size_t i = 0; i < threads; i++) {
		const struct sp_timeline_thread *thread = page->threads.items[i].thread;
		head->thread_names[i] = unique_add_text(&head->strings, thread->comm);
		head->process_names[i] =
			unique_add_text(&head->strings, thread->process ?: thread->comm);
	}
}

void head_put_text(struct head_writing *writing, const char *key, const char *text)
{
	writing->text.count = 0;
	buffer_name(&writing->text, text);
	buffer_char(&writing->text, '\0');
	json_string(&writing->json, key, writing->text.text);
}

static void put_command(struct head_writing *writing, const char *const *words)
{
	struct buffer *text = &writing->text;
	if (!words || !*words)
		return;
	text->count = 0;
	for (const char *const *word = words; *word; word++) {
		if (word != words)
			buffer_char(text, ' ');
		buffer_name(text, *word);
	}
	buffer_char(text, '\0');
	json_string(&writing->json, "command", text->text);
}

static void put_fact(struct head_writing *writing, const char *label, const char *text)
{
	if (!text || !*text)
		return;
	json_begin(&writing->json, NULL, '[');
	json_string(&writing->json, NULL, label);
	head_put_text(writing, NULL, text);
	json_end(&writing->json, ']');
}

/* Writes the time of the first sample as the calendar has it. */
static void put_date(struct head_writing *writing, const struct report *report)
{
	const struct sp_file_info *info = report->info;
	const struct sp_timeline *timeline = report->profile_count ? report->timelines[0] : NULL;
	char text[64];
	if (!info->clock_wall_ns || report->recording_count > 1 || !timeline)
		return;
	time_t seconds = (time_t)((info->clock_wall_ns + timeline->begin_ns - info->clock_ns) / NS_PER_S);
	struct tm day;
	if (gmtime_r(&seconds, &day) && strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &day))
		put_fact(writing, "Recorded", text);
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100 * (double)part / (double)whole : 0;
}

/* Writes a sentence for each event with stacks that lack frames. */
static void put_partial(struct head_writing *writing, const struct page *page)
{
	char text[200];
	json_begin_lines(&writing->json, "partial", '[');
	for (size_t i = 0; i < page->event_count; i++) {
		const struct page_event *event = &page->events[i];
		if (!event->partial_weight)
			continue;
		double share = percent(event->partial_weight, event->profile->weight);
		snprintf(text, sizeof(text),
			 "%.2f%% of %s is in stacks that lack inner frames: %s.", share,
			 event->profile->event,
			 event->totals_differ ? "callers there may have less than their total"
			 : "frames of repeated functions, and of functions below 0.001%");
		head_put_text(writing, NULL, text);
	}
	json_end_lines(&writing->json, ']');
}

/* Writes a sentence for each other thing that the page lacks. */
static void put_merged(struct head_writing *writing, const struct head *head)
{
	const struct page *page = head->page;
	struct json *json = &writing->json;
	char text[200];
	json_begin_lines(json, "merged", '[');
	for (size_t i = 0; i < page->event_count; i++) {
		size_t rows = report_row_count(page->report, page->events[i].profile);
		if (rows <= HEAD_ROWS_MAX)
			continue;
		snprintf(text, sizeof(text), "The table of %s lacks the %zu lightest functions.",
			 page->events[i].profile->event, rows - HEAD_ROWS_MAX);
		head_put_text(writing, NULL, text);
	}
	for (size_t i = 0; i < page->threads.count; i++) {
		if (!page->threads.items[i].merged)
			continue;
		snprintf(text, sizeof(text), "%" PRIu32 " threads with few samples are shown as one.",
			 page->threads.items[i].merged);
		json_string(json, NULL, text);
	}
	json_end_lines(json, ']');
}

static void put_findings(struct head_writing *writing, const struct report *report)
{
	struct json *json = &writing->json;
	json_begin_lines(json, "findings", '[');
	for (size_t i = 0; i < report->finding_count; i++) {
		const struct sp_finding *finding = report->findings[i];
		json_begin(json, NULL, '{');
		json_string(json, "kind", finding->cause);
		head_put_text(writing, "text", finding->what);
		if (finding->remedy)
			head_put_text(writing, "remedy", finding->remedy);
		json_double(json, "share", finding->share);
		if (finding->event)
			head_put_text(writing, "event", finding->event);
		json_end(json, '}');
	}
	json_end_lines(json, ']');
}

/* Writes the most important findings, with the sentences and the order of text. */
static void put_banner(struct head_writing *writing, const struct report *report)
{
	struct json *json = &writing->json;
	struct shown_finding shown[FINDINGS_SHOWN_MAX];
	size_t all, count = findings_shown(report, shown, &all);
	json_begin_lines(json, "banner", '[');
	for (size_t i = 0; i < count; i++) {
		json_begin(json, NULL, '{');
		head_put_text(writing, "text", shown[i].text);
		if (shown[i].remedy)
			head_put_text(writing, "remedy", shown[i].remedy);
		json_end(json, '}');
	}
	json_end_lines(json, ']');
	json_unsigned(json, "bannerMore", all - count);
}

static void put_threads(struct head_writing *writing, const struct head *head)
{
	struct json *json = &writing->json;
	json_begin_lines(json, "threads", '[');
	for (size_t i = 0; i < head->page->threads.count; i++) {
		const struct page_thread *thread = &head->page->threads.items[i];
		json_begin(json, NULL, '{');
		json_unsigned(json, "recording", thread->thread->recording);
		json_signed(json, "pid", thread->thread->pid);
		json_signed(json, "tid", thread->thread->tid);
		json_unsigned(json, "name", head->thread_names[thread->number]);
		json_unsigned(json, "process", thread->merged ? OTHER_PROCESSES :
			      head->process_names[thread->number]);
		json_unsigned(json, "merged", thread->merged);
		json_end(json, '}');
	}
	json_end_lines(json, ']');
}

static void put_stack_ends(struct json *json, const uint64_t *stacks)
{
	const struct sp_stack_end_words *words;
	json_begin(json, "stacks", '{');
	for (enum sp_stack_end end = 0; (words = sp_stack_end_words(end)); end++)
		if (end != SP_STACK_NONE)
			json_unsigned(json, words->key, stacks[end]);
	json_unsigned(json, "none", stacks[SP_STACK_NONE]);
	json_end(json, '}');
}

/* Writes the bins with losses, and the number of lost samples in each. */
static void put_losses(struct json *json, const struct page_event *event)
{
	const struct sp_timeline *timeline = event->timeline;
	json_begin(json, "lostAt", '[');
	for (size_t i = 0, next; timeline && i < timeline->loss_count; i = next) {
		uint32_t bin = page_event_bin(event, sp_timeline_loss(timeline, i)->time_ns);
		uint64_t lost = 0;
		for (next = i;
		     next < timeline->loss_count &&
		     page_event_bin(event, sp_timeline_loss(timeline, next)->time_ns) == bin;
		     next++)
			lost += sp_timeline_loss(timeline, next)->lost;
		json_begin(json, NULL, '[');
		json_unsigned(json, NULL, bin);
		json_unsigned(json, NULL, lost);
		json_end(json, ']');
	}
	json_end(json, ']');
}

/* Writes pairs of threads: waker, wakee, weight, wake-ups, longest wait, time until it ran. */
static void put_pairs(struct head_writing *writing, const struct sp_profile *pairs)
{
	struct json *json = &writing->json;
	json_begin_lines(json, "pairs", '[');
	for (size_t i = 0; i < pairs->row_count && i < HEAD_ROWS_MAX; i++) {
		const struct sp_row *row = sp_profile_row(pairs, i);
		const struct sp_times none = {0}, *times = row->self_times ?: &none;
		json_begin(json, NULL, '[');
		head_put_text(writing, NULL, row_text(row, SP_KEY_WAKER));
		head_put_text(writing, NULL, row_text(row, SP_KEY_WAKEE));
		json_unsigned(json, NULL, row->self.weight);
		json_unsigned(json, NULL, times->waits);
		json_unsigned(json, NULL, times->longest_wait_ns);
		json_unsigned(json, NULL, times->runnable_ns);
		json_end(json, ']');
	}
	json_end_lines(json, ']');
}

static void put_event(struct head_writing *writing, const struct head *head, size_t index)
{
	const struct page_event *event = &head->page->events[index];
	const struct sp_profile *profile = event->profile;
	struct json *json = &writing->json;
	size_t groups = 0;
	char time[CPU_TIME_SIZE];
	for (size_t i = 0; !event->two_sides && i < event->cells.count; i++)
		groups += page_begins_group(event, i);
	json_begin_lines(json, NULL, '{');
	head_put_text(writing, "name", profile->event);
	const char *unit = profile->weight_is_time ? "ns" : profile->weight_is_latency ? "cycles" : "";
	json_string(json, "unit", unit);
	if (profile->weight_is_time && profile->mode == SP_MODE_CPU) {
		report_cpu_time(head->page->report, profile, time);
		json_string(json, "time", time);
	}
	json_unsigned(json, "samples", profile->samples);
	json_unsigned(json, "weight", profile->weight);
	json_double(json, "effectiveSamples", profile->effective_samples);
	json_unsigned(json, "shownSamples", profile->shown_samples);
	json_unsigned(json, "shownWeight", profile->shown_weight);
	json_unsigned(json, "lost", profile->lost);
	json_unsigned(json, "lostOwn", profile->lost_own);
	json_unsigned(json, "lostUnknown", profile->lost_unknown);
	json_unsigned(json, "throttledNs", profile->throttled_ns);
	json_unsigned(json, "throttledCount", profile->throttled_count);
	json_unsigned(json, "missingWeight", profile->missing_weight);
	json_unsigned(json, "idleThreads", profile->idle_threads);
	json_bool(json, "branches", profile->of_branches);
	json_bool(json, "hasCallchains", profile->has_callchains);
	put_stack_ends(json, profile->stacks);
	char begin[40];
	snprintf(begin, sizeof(begin), "%" PRIu64 ".%09" PRIu64, event->begin_ns / NS_PER_S,
		 event->begin_ns % NS_PER_S);
	json_string(json, "begin", begin);
	uint64_t first_ns = event->timeline ? event->timeline->begin_ns : 0;
	json_unsigned(json, "leadNs", first_ns - event->begin_ns);
	json_unsigned(json, "durationNs", page_event_duration(event));
	json_unsigned(json, "binNs", event->bin_ns);
	json_unsigned(json, "bins", event->bins);
	json_unsigned(json, "nodes", event->nodes.count);
	json_unsigned(json, "rows", head->row_counts[index]);
	json_unsigned(json, "cells", event->two_sides ? 0 : event->cells.count);
	json_unsigned(json, "groups", groups);
	json_unsigned(json, "period", event->period);
	json_bool(json, "exact", event->exact);
	json_unsigned(json, "partialWeight", event->partial_weight);
	json_bool(json, "totalsDiffer", event->totals_differ);
	put_losses(json, event);
	if (head->page->report->pairs)
		put_pairs(writing, head->page->report->pairs[index]);
	json_begin(json, "lanes", '[');
	for (size_t i = 0; i < event->lanes.count; i++)
		json_unsigned(json, NULL, event->lanes.threads[i]);
	json_end(json, ']');
	json_end_lines(json, '}');
}

void head_write(const struct head *head, FILE *out)
{
	const struct report *report = head->page->report;
	struct head_writing writing = {.json.out = out, .text.form = TEXT_SHOWN};
	struct json *json = &writing.json;
	json_begin_lines(json, NULL, '{');
	json_unsigned(json, "version", 1);
	json_string(json, "sprof", PACKAGE_VERSION);
	head_put_text(&writing, "recording", report->path);
	json_unsigned(json, "recordings", report->recording_count);
	put_command(&writing, report->info->cmdline);
	json_bool(json, "filtered", report->filtered);
	json_bool(json, "relative", report->relative);
	json_string(json, "mode", sp_mode_name(report->mode));
	const struct sp_file_info *info = report->info;
	char text[256];
	json_begin_lines(&writing.json, "about", '[');
	put_fact(&writing, "Host", info->hostname);
	snprintf(text, sizeof(text), "Linux %s %s", info->osrelease ?: "", info->arch ?: "");
	put_fact(&writing, "System", info->osrelease ? text : NULL);
	put_fact(&writing, "Processor", info->cpudesc);
	snprintf(text, sizeof(text), "%" PRIu32 " of %" PRIu32 " online", info->cpus_online,
		 info->cpus_available);
	put_fact(&writing, "CPUs", info->cpus_available ? text : NULL);
	put_date(&writing, report);
	snprintf(text, sizeof(text), "%.3f s", (double)report->duration_ns / NS_PER_S);
	put_fact(&writing, "Duration", report->duration_ns ? text : NULL);
	put_fact(&writing, "Recorder", info->version);
	json_end_lines(&writing.json, ']');
	put_partial(&writing, head->page);
	put_merged(&writing, head);
	put_findings(&writing, report);
	put_banner(&writing, report);
	json_begin_lines(json, "strings", '[');
	for (size_t i = 0; i < head->strings.count; i++)
		head_put_text(&writing, NULL, head->strings.texts[i]);
	json_end_lines(json, ']');
	json_unsigned(json, "functionCount", head->functions.count);
	put_threads(&writing, head);
	json_begin_lines(json, "events", '[');
	for (size_t i = 0; i < head->page->event_count; i++)
		put_event(&writing, head, i);
	json_end_lines(json, ']');
	if (head->page->write_more)
		head->page->write_more(head, &writing);
	json_end_lines(json, '}');
	buffer_deinit(&writing.text);
}
