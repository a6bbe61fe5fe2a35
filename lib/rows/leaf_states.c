/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rows/leaf_states.h"

#include <sprof/reader.h>
#include <stdlib.h>
#include "times/wait_reason.h"

uint8_t *leaf_states_frames(const struct names *names)
{
	uint8_t *reasons = calloc(names->frames.count + 1, sizeof(*reasons));
	for (size_t i = 0; reasons && i < names->frames.count; i++) {
		const struct frame *frame = &names->frames.items[i];
		if (frame->cpumode != PERF_RECORD_MISC_KERNEL)
			reasons[i] = FRAME_USER;
		else if (symbol_is_named(frame->symbol))
			reasons[i] = wait_reason_of_function(frame->symbol->name);
	}
	return reasons;
}

/* Returns the reason by the kernel functions of a chain, the innermost known one, if `reason` is unknown. */
static uint8_t reason_of_chain(const struct resolved *resolved, uint32_t at, uint8_t reason)
{
	const struct counted *counted = resolved->counted;
	const uint8_t *frames = counted->work->frame_reasons;
	while (at != RADIX_NONE && reason == WAIT_UNKNOWN) {
		const struct radix_node *node = &counted->chains.radix.items[at];
		for (uint32_t i = node->run + node->length; i-- > node->run && reason == WAIT_UNKNOWN;)
			if (resolved->frames[i] < WORD_GAP)
				reason = frames[resolved->frames[i]];
		at = node->parent;
	}
	return reason == FRAME_USER ? WAIT_UNKNOWN : reason;
}

static uint64_t state_of_wait(const struct resolved *resolved, const struct leaf *leaf)
{
	const struct counted *counted = resolved->counted;
	const struct group *group = &counted->groups.items[resolved->states[leaf->node].group];
	uint8_t reason = counted->work->frame_reasons[leaf->answer >> ANSWER_SHIFT];
	uint32_t chain = leaf->node;
	if (counted->work->mode->latency)
		return STATE_ALL_WAIT;
	if (group->stratum && !counted->work->options->stacks.kernel_waits) {
		chain = group->stratum - 1;
		group = &counted->groups.items[resolved->states[chain].group];
		reason = reason == FRAME_USER ? WAIT_UNKNOWN : reason;
	}
	reason = reason_of_chain(resolved, chain, reason);
	if (reason == WAIT_UNKNOWN && group->stratum)
		reason = wait_reason_of_syscall(sp_reader_info(counted->work->reader)->arch,
						group->stratum - 1);
	return STATE_WAIT + reason;
}

/* Sets the part for all wake-ups of a leaf. */
static size_t wakers_part(const struct resolved *resolved, const struct leaf *leaf,
			  const struct state_sums *times, struct leaf_part *ret)
{
	const struct counted *counted = resolved->counted;
	const struct group *group = &counted->groups.items[resolved->states[leaf->node].group];
	*ret = (struct leaf_part){.samples = leaf->samples, .weight = leaf->weight, .times = *times,
				  .state = DETAIL_NONE, .time = TIME_BLOCKED,
				  .text = counted->wakers.items[group->stratum]};
	return leaf->samples > 0;
}

size_t leaf_parts(const struct resolved *resolved, uint32_t index, struct leaf_part ret[TIME_STATES])
{
	const struct counted *counted = resolved->counted;
	const struct leaf *leaf = &counted->leaves.items[index];
	const struct state_sums *times = &counted->leaf_times.items[index];
	size_t count = 0;
	bool on_cpu = times->ns[TIME_ON_CPU], blocked = times->ns[TIME_BLOCKED];
	if (counted->work->mode->kind == SP_MODE_WAKERS)
		return wakers_part(resolved, leaf, times, ret);
	for (enum time_state state = 0; state < TIME_STATES && leaf->weight; state++) {
		if (!times->ns[state])
			continue;
		/* Samples were taken on a CPU, or of a wait. They also stand for the time before running. */
		bool sampled = on_cpu ? state == TIME_ON_CPU : blocked ? state == TIME_BLOCKED : !count;
		struct leaf_part part = {.samples = sampled ? leaf->samples : 0, .weight = times->ns[state],
					 .state = state, .time = state};
		if (state == TIME_BLOCKED) {
			part.times = *times;
			part.times.ns[TIME_ON_CPU] = part.times.ns[TIME_RUNNABLE] = 0;
			part.times.ns[TIME_UNKNOWN] = 0;
			part.state = state_of_wait(resolved, leaf);
		}
		part.times.ns[state] = times->ns[state];
		part.text = leaf_state_text(part.state);
		ret[count++] = part;
	}
	return count;
}

const char *leaf_state_text(uint64_t state)
{
	static const char *const texts[] = {"[on CPU]", "[waiting for CPU]", "[blocked]", "[unknown state]",
					    "[all threads blocked]"};
	return state < STATE_WAIT ? texts[state] : wait_reason_state((uint8_t)(state - STATE_WAIT));
}

const char *leaf_state_waits_for(uint64_t state)
{
	if (state >= STATE_WAIT)
		return wait_reason_name((uint8_t)(state - STATE_WAIT));
	return state == TIME_RUNNABLE ? "CPU" : state == TIME_ON_CPU ? "-" : NULL;
}
