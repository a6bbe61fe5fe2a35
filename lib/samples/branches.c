/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counts each branch of a sample's branch stack at its target, as perf does. All branches of one sample
 * come from one moment, so they are not independent draws: the intervals are computed from the number
 * of samples.
 */
#include "samples/branches.h"

#include "samples/sample_counter.h"
#include "samples/sample_values.h"

/*
 * Returns the sums for `count` branches of a sample that has `size` branches. The squares make
 * intervals as wide as if the sample were one draw.
 */
static struct weight_sums sums_of(uint64_t count, uint64_t size)
{
	return (struct weight_sums){count, count, wide_product(count, size)};
}

/*
 * Counts one branch. *shown_ret: whether it passes the filters, if that is known without function
 * names. Returns false when out of memory.
 */
static bool count_branch(struct counted *counted, const struct sp_record *record,
			 const struct place_of_sample *place, const struct sp_branch *branch,
			 bool *shown_ret)
{
	const struct work *work = counted->work;
	uint32_t view = place->view;
	uint64_t words[SP_KEY_COUNT];
	*shown_ret = false;
	if (work->detail_count && !sample_values(counted, record, branch, view, words))
		return false;
	uint32_t root = sample_root(counted, place, record->event,
				    work->detail_count ? words : NULL);
	uint32_t answer = branch_lookup(counted, view, branch->to);
	if (root == RADIX_NONE || answer == ANSWER_FAILED)
		return false;
	uint32_t index = sample_leaf(counted, root, answer);
	if (index == UINT32_MAX)
		return false;
	if (!place->shown || !(answer & (ANSWER_SHOWN | ANSWER_PENDING)))
		return true;
	struct leaf *leaf = &counted->leaves.items[index];
	leaf->samples++;
	leaf->weight = weight_add(leaf->weight, 1);
	*shown_ret = !(answer & ANSWER_PENDING);
	if (*shown_ret)
		return true;
	const struct weight_sums one = sums_of(1, record->sample.branch_count);
	return leaf_add_pending(counted, index, &one);
}

struct sp_error *count_branches(struct counted *counted, const struct sp_record *record)
{
	const struct sp_sample *sample = &record->sample;
	struct event_sums *sums = &counted->events[record->event];
	struct place_of_sample place;
	uint64_t shown = 0;
	if (!sample->branch_count) {
		sums->branchless++;
		return NULL;
	}
	NEED(sample_place(counted, record, &place));
	for (size_t i = 0; i < sample->branch_count; i++) {
		bool is_shown;
		NEED(count_branch(counted, record, &place, &sample->branches[i], &is_shown));
		shown += is_shown;
	}
	const struct weight_sums all = sums_of(sample->branch_count, sample->branch_count);
	const struct weight_sums these = sums_of(shown, shown);
	weight_sums_merge(&sums->all, &all);
	weight_sums_merge(&sums->shown, &these);
	sums->branch_stacks++;
	return NULL;
}
