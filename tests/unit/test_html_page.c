/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reduction of a report to the size of its HTML page. */
#include "html/reduce.h"

#include <stdlib.h>
#include <string.h>
#include "memory.h"
#include "test.h"

#define NODES 1001
#define THREADS 50
#define STEPS 40000
#define STEP_NS 250000
#define BEGIN_NS UINT64_C(77000000000)

/* A root with 10 children that have 99 children each, and samples that end at each of these. */
struct made {
	struct sp_tree_node tree[NODES];
	struct sp_timeline_node nodes[NODES];
	struct sp_timeline_thread threads[THREADS];
	struct sp_cell cells[STEPS];
	struct sp_timeline timeline;
	const struct sp_timeline *timelines[1];
	struct sp_profile profile;
	const struct sp_profile *profiles[1];
	struct report report;
	struct page page;
	struct head head;
};

static struct made *make(void)
{
	struct made *made = calloc(1, sizeof(*made));
	ck_assert_ptr_nonnull(made);
	for (uint32_t i = 0; i < NODES; i++) {
		uint32_t parent = !i || (i - 1) % 100 == 0 ? 0 : (i - 1) / 100 * 100 + 1;
		made->nodes[i] = (struct sp_timeline_node){&made->tree[i], parent};
		made->tree[i] = (struct sp_tree_node){
			.function = "f", .dso = "a", .symbol_known = true, .address = i};
	}
	for (uint32_t i = 0; i < THREADS; i++)
		made->threads[i] = (struct sp_timeline_thread){.tid = (int32_t)i, .comm = "t"};
	for (uint32_t i = 0; i < STEPS; i++)
		/* Later nodes and threads have fewer samples. */
		made->cells[i] = (struct sp_cell){
			.time_ns = BEGIN_NS + (uint64_t)i * STEP_NS, .weight = 3 * STEP_NS, .samples = 3,
			.thread = i % 97 % THREADS, .node = 1 + (i % 5 ? i % 100 : i / 5 % (NODES - 1))};
	made->timeline = (struct sp_timeline){
		.begin_ns = BEGIN_NS, .end_ns = BEGIN_NS + (uint64_t)(STEPS - 1) * STEP_NS, .width_ns = 1,
		.threads = made->threads, .thread_count = THREADS, .nodes = made->nodes, .node_count = NODES,
		.cells = made->cells, .cell_count = STEPS};
	made->timelines[0] = &made->timeline;
	made->profiles[0] = &made->profile;
	made->report = (struct report){
		.profiles = made->profiles, .profile_count = 1, .timelines = made->timelines};
	return made;
}

/* Makes the page with its limits. */
static struct page *reduced(struct made *made, const struct page_limits *limits)
{
	page_init(&made->page, &made->report);
	head_init(&made->head, &made->page);
	page_reduce(&made->head, limits);
	page_finish(&made->page);
	return &made->page;
}

static void made_free(struct made *made)
{
	head_deinit(&made->head);
	page_deinit(&made->page);
	free(made);
}

/* Checks the order of nodes and cells, and that no sample is lost or moved to another function. */
static void check_page(const struct made *made)
{
	const struct page *page = &made->page;
	const struct page_event *event = &page->events[0];
	uint64_t samples[NODES] = {0}, wanted[NODES] = {0}, sum = 0;
	for (size_t i = 0; i < STEPS; i++)
		wanted[made->tree[made->cells[i].node].address] += made->cells[i].samples;
	for (size_t i = 0; i < event->nodes.count; i++) {
		const struct page_node *node = &event->nodes.items[i];
		ck_assert(!i || node->parent < i);
		ck_assert_uint_eq(node->weight, node->samples * STEP_NS);
		ck_assert(node->node || !node->samples);
		if (node->node)
			samples[node->node->address] += node->samples;
		sum += node->samples;
	}
	ck_assert_uint_eq(sum, 3 * STEPS);
	ck_assert_mem_eq(samples, wanted, sizeof(samples));
	for (size_t i = 1; i < event->cells.count; i++) {
		const struct page_cell *a = &event->cells.items[i - 1], *b = a + 1;
		ck_assert(a->bin != b->bin ? a->bin < b->bin
			  : a->thread != b->thread ? a->thread < b->thread : a->node < b->node);
		ck_assert_uint_lt(b->bin, event->bins);
		ck_assert_uint_lt(b->thread, page->threads.count);
		ck_assert_uint_lt(b->node, event->nodes.count);
	}
	ck_assert_uint_eq(event->period, STEP_NS);
}

/* Sets each function's samples in stacks with it. Nodes of one function in a stack count once. */
static void sum_totals(const struct page_event *event, uint64_t totals[NODES])
{
	for (size_t i = 1; i < event->nodes.count; i++) {
		bool seen[NODES] = {0};
		for (size_t at = i; at; at = event->nodes.items[at].parent) {
			const struct sp_tree_node *node = event->nodes.items[at].node;
			if (node && !seen[node->address])
				totals[node->address] += event->nodes.items[i].samples;
			if (node)
				seen[node->address] = true;
		}
	}
}

TEST(a_small_report_is_complete)
{
	struct made *made = make();
	const struct page *page = reduced(made, &page_limits);
	check_page(made);
	ck_assert_uint_eq(page->events[0].nodes.count, NODES);
	ck_assert_uint_eq(page->events[0].cells.count, STEPS);
	ck_assert_uint_eq(page->events[0].partial_weight, 0);
	ck_assert(!page->events[0].totals_differ);
	ck_assert_uint_eq(page->threads.count, THREADS);
	ck_assert_uint_le(page->events[0].bins, 2000);
	ck_assert_uint_gt(page->events[0].bins, 1000);
	made_free(made);
}

/* Makes stacks of 10 frames with samples at their ends: a node calls the next, or ends a stack. */
#define STACK 10
static void make_recursion(struct made *made, uint32_t functions)
{
	/* Each stack begins with another function. */
	for (uint32_t i = 1; i < NODES; i++) {
		made->nodes[i].parent = (i - 1) % STACK ? i - 1 : 0;
		uint32_t inner = 1 + i * 7 % 31 % functions;
		made->tree[i].address = (i - 1) % STACK ? inner : 100 + i / STACK;
	}
	for (uint32_t i = 0; i < STEPS; i++)
		made->cells[i].node = (made->cells[i].node + STACK - 1) / STACK * STACK;
}

TEST(repeated_frames_go_first_and_leave_totals_exact)
{
	const struct page_limits all = {.cells = 1000000, .nodes = NODES, .threads = THREADS};
	const struct page_limits fewer = {.cells = 1000000, .nodes = 700, .threads = THREADS};
	uint64_t wanted[NODES] = {0}, got[NODES] = {0};
	struct made *made = make();
	make_recursion(made, 3);
	sum_totals(&reduced(made, &all)->events[0], wanted);
	made_free(made);
	made = make();
	make_recursion(made, 3);
	const struct page *page = reduced(made, &fewer);
	check_page(made);
	ck_assert_uint_le(page->events[0].nodes.count, 700);
	ck_assert(!page->events[0].totals_differ);
	ck_assert_uint_gt(page->events[0].partial_weight, 0);
	sum_totals(&page->events[0], got);
	ck_assert_mem_eq(got, wanted, sizeof(got));
	made_free(made);
}

TEST(with_few_nodes_samples_keep_their_functions)
{
	struct made *made = make();
	make_recursion(made, 31);
	const struct page_limits limits = {.cells = 1000000, .nodes = 100, .threads = 10};
	const struct page *page = reduced(made, &limits);
	check_page(made);
	ck_assert_uint_le(page->events[0].nodes.count, 100);
	ck_assert(page->events[0].totals_differ);
	made_free(made);
}

TEST(functions_below_a_hundred_thousandth_are_one_for_each_library)
{
	struct made *made = make();
	make_recursion(made, 31);
	/* Two functions of library b have one sample each, and one of library c. */
	for (uint32_t i = 1; i <= 3; i++) {
		made->tree[NODES - i] = (struct sp_tree_node){
			.function = "g", .dso = i < 3 ? "b" : "c", .symbol_known = true,
			.address = 900 + i};
		made->nodes[NODES - i].parent = 5;
	}
	for (uint32_t i = 0; i < STEPS; i++) {
		made->cells[i].node %= NODES - 3;
		made->cells[i].samples *= 10;
		made->cells[i].weight *= 10;
	}
	for (uint32_t i = 1; i <= 3; i++) {
		made->cells[i].node = NODES - i;
		made->cells[i].samples = 1;
		made->cells[i].weight = STEP_NS;
	}
	const struct page_limits limits = {.cells = 1000000, .nodes = 300, .threads = 10};
	const struct page_event *event = &reduced(made, &limits)->events[0];
	uint64_t samples[2] = {0};
	for (size_t i = 1; i < event->nodes.count; i++) {
		const struct page_node *node = &event->nodes.items[i];
		uint64_t name = unique_number(&made->head.functions, node->function, FUNCTION_NAME);
		uint64_t dso = unique_number(&made->head.functions, node->function, FUNCTION_DSO);
		if (!strcmp(made->head.strings.texts[name], "(light functions)"))
			samples[*made->head.strings.texts[dso] == 'c'] += node->samples;
		ck_assert(!node->node || node->node->address < 900);
	}
	ck_assert_uint_eq(samples[0], 2);
	ck_assert_uint_eq(samples[1], 1);
	made_free(made);
}

TEST(cells_keep_their_limit)
{
	static const size_t most[] = {20000, 5000, 1000, 400};
	for (size_t i = 0; i < sizeof(most) / sizeof(*most); i++) {
		struct made *made = make();
		for (uint32_t j = 1; j < NODES; j++)
			made->tree[j].address %= 20;
		const struct page_limits limits = {.cells = most[i], .nodes = 100, .threads = 10};
		const struct page *page = reduced(made, &limits);
		check_page(made);
		ck_assert_uint_le(page->events[0].cells.count, most[i]);
		if (page->threads.count < THREADS) {
			ck_assert_uint_eq(page->threads.count, 11);
			ck_assert_uint_eq(page->threads.items[10].merged, THREADS - 10);
		}
		made_free(made);
	}
}

TEST(heavy_threads_keep_their_names_if_others_are_merged)
{
	static const struct sp_file_info info;
	struct made *made = make();
	char names[THREADS][16], wanted[64], *text;
	size_t size;
	for (uint32_t i = 0; i < THREADS; i++) {
		snprintf(names[i], sizeof(names[i]), "t%u", i);
		made->threads[i].comm = names[i];
	}
	/* The last threads have the most samples. */
	for (uint32_t i = 0; i < STEPS; i++)
		made->cells[i].thread = THREADS - 1 - made->cells[i].thread;
	made->report.info = &info;
	made->report.path = made->profile.event = "e";
	const struct page_limits limits = {.cells = 400, .nodes = 100, .threads = 10};
	const struct page *page = reduced(made, &limits);
	FILE *stream = text_stream_open(&text, &size);
	head_write(&made->head, stream);
	text_stream_close(stream, &text);
	ck_assert_uint_eq(page->threads.count, 11);
	for (size_t i = 0; i < 10; i++) {
		const struct sp_timeline_thread *thread = page->threads.items[i].thread;
		snprintf(wanted, sizeof(wanted), "\"tid\": %d, \"name\": %u,", thread->tid,
			 unique_add_text(&made->head.strings, thread->comm));
		ck_assert_ptr_nonnull(strstr(text, wanted));
	}
	free(text);
	made_free(made);
}

TEST(nodes_that_the_report_left_out_follow_their_parents)
{
	struct made *made = make();
	/* The last node of the list stands for children of the first part. */
	made->nodes[NODES - 1] = (struct sp_timeline_node){NULL, 1};
	for (size_t i = 0; i < STEPS; i++)
		if (made->cells[i].node == NODES - 1)
			made->cells[i].node = NODES - 2;
	made->cells[0].node = NODES - 1;
	const struct page_event *event = &reduced(made, &page_limits)->events[0];
	ck_assert_uint_eq(event->nodes.count, NODES);
	ck_assert_ptr_null(event->nodes.items[101].node);
	ck_assert_uint_eq(event->nodes.items[101].parent, 1);
	ck_assert_uint_eq(event->nodes.items[101].samples, 3);
	ck_assert_ptr_eq(event->nodes.items[102].node, &made->tree[101]);
	ck_assert_uint_eq(event->partial_weight, 3 * STEP_NS);
	made_free(made);
}

TEST(lanes_have_the_shares_of_states)
{
	static const struct sp_thread_times times[] = {
		{.running_ns = 100}, {.running_ns = 50, .blocked_ns = 50}, {.runnable_ns = 101},
		{.unknown_ns = 10}};
	static const uint8_t wanted[] = {
		127, 64, 0, 0,  0, 0, 127, 0,  0, 64, 0, 0,  0, 0, 0, 13};
	struct lanes lanes = {0};
	lanes_add(&lanes, 7, times, 4, 100);
	ck_assert_uint_eq(lanes.count, 1);
	ck_assert_uint_eq(lanes.threads[0], 7);
	ck_assert_uint_eq(lanes.shares.count, sizeof(wanted));
	ck_assert_mem_eq(lanes.shares.items, wanted, sizeof(wanted));
	lanes_deinit(&lanes);
}
