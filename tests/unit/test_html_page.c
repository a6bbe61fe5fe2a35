/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reduction of a report to the size of its HTML page. */
#include "html/page.h"

#include <stdlib.h>
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
};

static struct made *make(void)
{
	struct made *made = calloc(1, sizeof(*made));
	ck_assert_ptr_nonnull(made);
	for (uint32_t i = 0; i < NODES; i++) {
		uint32_t parent = !i || (i - 1) % 100 == 0 ? 0 : (i - 1) / 100 * 100 + 1;
		made->nodes[i] = (struct sp_timeline_node){&made->tree[i], parent};
	}
	for (uint32_t i = 0; i < THREADS; i++)
		made->threads[i].tid = (int32_t)i;
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

/* Checks the order of nodes and cells, and that no sample is lost or moved to another part of the tree. */
static void check_page(const struct page *page, const struct made *made)
{
	const struct page_event *event = &page->events[0];
	uint64_t samples[11] = {0}, wanted[11] = {0}, sum = 0;
	uint32_t part = 0;
	for (size_t i = 0; i < STEPS; i++)
		wanted[(made->cells[i].node - 1) / 100 + 1] += made->cells[i].samples;
	for (size_t i = 0; i < event->nodes.count; i++) {
		const struct page_node *node = &event->nodes.items[i];
		ck_assert(!i || node->parent < i);
		if (i && !node->parent && node->node)
			part = (uint32_t)(node->node - made->tree - 1) / 100 + 1;
		samples[part] += node->samples;
		ck_assert_uint_eq(node->weight, node->samples * STEP_NS);
		sum += node->samples;
	}
	ck_assert_uint_eq(sum, 3 * STEPS);
	for (size_t i = 1; i < 11; i++)
		ck_assert_uint_eq(samples[i], wanted[i]);
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

TEST(a_small_report_is_complete)
{
	struct made *made = make();
	struct page page;
	ck_assert(page_init(&page, &made->report, &page_limits));
	check_page(&page, made);
	ck_assert_uint_eq(page.events[0].nodes.count, NODES);
	ck_assert_uint_eq(page.events[0].cells.count, STEPS);
	ck_assert_uint_eq(page.events[0].light_weight, 0);
	ck_assert_uint_eq(page.threads.count, THREADS);
	ck_assert_uint_le(page.events[0].bins, 2000);
	ck_assert_uint_gt(page.events[0].bins, 1000);
	page_deinit(&page);
	free(made);
}

TEST(light_nodes_become_one_for_each_parent)
{
	struct made *made = make();
	struct page page;
	const struct page_limits limits = {.cells = 1000000, .nodes = 300, .threads = 10};
	ck_assert(page_init(&page, &made->report, &limits));
	check_page(&page, made);
	ck_assert_uint_le(page.events[0].nodes.count, 300);
	ck_assert_uint_gt(page.events[0].light_weight, 0);
	size_t light = 0;
	for (size_t i = 0; i < page.events[0].nodes.count; i++)
		light += !page.events[0].nodes.items[i].node;
	ck_assert_uint_ge(light, 9);
	ck_assert_uint_le(light, 10);
	page_deinit(&page);
	free(made);
}

TEST(cells_keep_their_limit)
{
	static const size_t most[] = {20000, 5000, 1000, 400};
	for (size_t i = 0; i < sizeof(most) / sizeof(*most); i++) {
		struct made *made = make();
		struct page page;
		const struct page_limits limits = {.cells = most[i], .nodes = 100, .threads = 10};
		ck_assert(page_init(&page, &made->report, &limits));
		check_page(&page, made);
		ck_assert_uint_le(page.events[0].cells.count, most[i]);
		if (page.threads.count < THREADS) {
			ck_assert_uint_eq(page.threads.count, 11);
			ck_assert_uint_eq(page.threads.items[10].merged, THREADS - 10);
		}
		page_deinit(&page);
		free(made);
	}
}

TEST(nodes_that_the_report_left_out_follow_their_parents)
{
	struct made *made = make();
	struct page page;
	/* The last node of the list stands for children of the first part. */
	made->nodes[NODES - 1] = (struct sp_timeline_node){NULL, 1};
	for (size_t i = 0; i < STEPS; i++)
		if (made->cells[i].node == NODES - 1)
			made->cells[i].node = NODES - 2;
	made->cells[0].node = NODES - 1;
	ck_assert(page_init(&page, &made->report, &page_limits));
	const struct page_event *event = &page.events[0];
	ck_assert_uint_eq(event->nodes.count, NODES);
	ck_assert_ptr_null(event->nodes.items[101].node);
	ck_assert_uint_eq(event->nodes.items[101].parent, 1);
	ck_assert_uint_eq(event->nodes.items[101].samples, 3);
	ck_assert_ptr_eq(event->nodes.items[102].node, &made->tree[101]);
	ck_assert_uint_eq(event->light_weight, 3 * STEP_NS);
	page_deinit(&page);
	free(made);
}

TEST(lanes_have_the_shares_of_states)
{
	static const struct sp_thread_times times[] = {
		{.running_ns = 100}, {.running_ns = 50, .blocked_ns = 50}, {.runnable_ns = 101},
		{.unknown_ns = 10}};
	static const uint8_t wanted[] = {
		127, 64, 0, 0,  0, 0, 127, 0,  0, 64, 0, 0,  0, 0, 0, 13};
	struct lanes lanes = {0};
	ck_assert(lanes_add(&lanes, 7, times, 4, 100));
	ck_assert_uint_eq(lanes.count, 1);
	ck_assert_uint_eq(lanes.threads[0], 7);
	ck_assert_uint_eq(lanes.shares.count, sizeof(wanted));
	ck_assert_mem_eq(lanes.shares.items, wanted, sizeof(wanted));
	lanes_deinit(&lanes);
}
