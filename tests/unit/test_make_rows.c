/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of resolved chains: two functions that one caller called, without a recording. */
#include "made_ctx.h"
#include "rows/make_rows.h"
#include "test.h"

enum { CALLER, LEFT, RIGHT, FRAMES };

struct made {
	struct pass_one_result read;
	struct analysis_options options;
	struct labels labels;
	struct analysis_keys keys;
	struct times times;
	struct work work;
	struct counted counted;
	struct event_sums sums;
	uint32_t order[2], frames[1];
	struct node_state states[2];
	struct resolved resolved;
	struct summed summed;
};

static void add_leaf(struct made *made, uint32_t node, uint32_t frame, uint64_t samples)
{
	*vec_push(&made->counted.leaves) = (struct leaf){
		.node = node, .answer = frame << ANSWER_SHIFT, .samples = samples,
		.weight = 10 * samples,
	};
}

/* The root (node 0), and one call below it. */
static void make(struct made *made)
{
	const uint64_t words[] = {0x1000};
	struct radix_path path = {0};
	struct group group = {0};
	made->work = (struct work){.ctx = made_ctx(),
				   .read = &made->read,
				   .options = &made->options,
				   .labels = &made->labels,
				   .keys = &made->keys,
				   .times = &made->times};
	made->keys.rows[SP_KEY_FUNCTION] = true;
	for (uint32_t i = 0; i < FRAMES; i++) {
		*vec_push(&made->labels.frames) = (struct frame_labels){.first = i, .count = 1};
		*vec_push(&made->labels.items) = (struct label){i, UINT32_MAX};
	}
	struct counted *counted = &made->counted;
	counted->work = &made->work;
	counted->events = &made->sums;
	ck_assert_uint_eq(groups_add(&counted->groups, &group), 0);
	uint32_t root = radix_root(&counted->chains.radix, 0);
	uint32_t node = radix_add(&counted->chains.radix, root, words, 1, 0, &path);
	vec_deinit(&path);
	made->order[0] = root;
	made->order[1] = node;
	made->frames[0] = CALLER;
	made->resolved = (struct resolved){counted, made->order, made->frames, made->states};
	add_leaf(made, node, LEFT, 3);
	add_leaf(made, node, RIGHT, 1);
}

static void discard(struct made *made)
{
	vec_deinit(&made->labels.frames);
	vec_deinit(&made->labels.items);
	made->counted.events = NULL;
	counted_deinit(&made->counted);
	summed_deinit(&made->summed);
}

static const struct tally *tally_of(struct made *made, uint32_t function)
{
	uint32_t row = tallies_row(&made->summed.tallies, 0, function);
	return &made->summed.tallies.items[row];
}

TEST(a_caller_has_its_callees_samples_in_total)
{
	struct made made = {0};
	make(&made);
	ok_or_fail(rows_make(&made.resolved, &made.summed));
	ck_assert_uint_eq(made.summed.tallies.count, FRAMES);
	ck_assert_uint_eq(tally_of(&made, CALLER)->self_weight, 0);
	ck_assert_uint_eq(tally_of(&made, CALLER)->total_weight, 40);
	ck_assert_uint_eq(tally_of(&made, LEFT)->self_weight, 30);
	ck_assert_uint_eq(tally_of(&made, RIGHT)->self_weight, 10);
	discard(&made);
}

TEST(samples_that_wait_for_a_function_count_only_if_it_is_shown)
{
	struct made made = {0};
	make(&made);
	made.labels.frames.items[LEFT].shown = true;
	for (size_t i = 0; i < 2; i++) {
		struct leaf *leaf = &made.counted.leaves.items[i];
		leaf->answer |= ANSWER_PENDING;
		*vec_push(&made.counted.leaves.pending) = (struct weight_sums){0};
		weight_sums_add(&made.counted.leaves.pending.items[i], leaf->weight);
	}
	ok_or_fail(rows_make(&made.resolved, &made.summed));
	ck_assert_uint_eq(tally_of(&made, CALLER)->total_weight, 30);
	ck_assert_uint_eq(made.sums.shown.weight, 30);
	ck_assert_uint_eq(made.counted.leaves.items[1].samples, 0);
	discard(&made);
}
