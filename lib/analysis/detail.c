/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "analysis/detail.h"

#include <string.h>

/* Of perf_branch_entry's flags; the decoder gives them as this host has them. */
#define BRANCH_MISPREDICTED 1u
#define BRANCH_PREDICTED 2u
#define BRANCH_IN_TX 4u
#define BRANCH_ABORT 8u
#define BRANCH_CYCLES(flags) ((flags) >> 4 & 0xffff)
#define BRANCH_TYPE(flags) ((flags) >> 20 & 0xf)
#define BRANCH_NEW_TYPE(flags) ((flags) >> 26 & 0xf)

/* Types of branches that have no room in four bits are behind PERF_BR_EXTEND_ABI. */
#define BRANCH_TYPE_EXTENDED 15
#define BRANCH_TYPES 16

#define TIME_QUANTUM_NS 100000000

uint32_t worker_find_branch(struct worker *worker, uint32_t view, uint64_t address)
{
	uint32_t answer = lookup_find(&worker->lookup, LOOKUP_EXACT, view, PERF_RECORD_MISC_USER,
				      address);
	if (answer == LOOKUP_FAILED || !(answer & LOOKUP_NOWHERE))
		return answer;
	return lookup_find(&worker->lookup, LOOKUP_EXACT, view, PERF_RECORD_MISC_KERNEL, address);
}

static bool find_frame(struct worker *worker, uint32_t view, uint64_t address, uint64_t *word)
{
	uint32_t answer = worker_find_branch(worker, view, address);
	*word = answer >> LOOKUP_SHIFT;
	return answer != LOOKUP_FAILED;
}

static uint64_t branch_word(const struct sp_branch *branch, enum sp_key key)
{
	uint64_t flags = branch->flags;
	switch (key) {
	case SP_KEY_ADDR_FROM:
		return branch->from;
	case SP_KEY_ADDR_TO:
		return branch->to;
	case SP_KEY_MISPREDICT:
		return flags & (BRANCH_MISPREDICTED | BRANCH_PREDICTED) ?
			       !(flags & BRANCH_PREDICTED) : DETAIL_NONE;
	case SP_KEY_CYCLES:
		return BRANCH_CYCLES(flags) ?: DETAIL_NONE;
	case SP_KEY_IN_TX:
		return (flags & BRANCH_IN_TX) != 0;
	case SP_KEY_ABORT:
		return (flags & BRANCH_ABORT) != 0;
	case SP_KEY_BRANCH_TYPE:
		if (BRANCH_TYPE(flags) == BRANCH_TYPE_EXTENDED)
			return BRANCH_TYPES + BRANCH_NEW_TYPE(flags);
		return BRANCH_TYPE(flags) ?: DETAIL_NONE;
	default:
		return DETAIL_NONE;
	}
}

static bool take_branch(struct worker *worker, const struct sp_branch *branch, enum sp_key key,
			uint32_t view, uint64_t *word)
{
	*word = DETAIL_NONE;
	if (!branch)
		return true;
	switch (key) {
	case SP_KEY_SYMBOL_FROM:
	case SP_KEY_DSO_FROM:
	case SP_KEY_SRCLINE_FROM:
		return find_frame(worker, view, branch->from, word);
	case SP_KEY_SYMBOL_TO:
	case SP_KEY_DSO_TO:
	case SP_KEY_SRCLINE_TO:
		return find_frame(worker, view, branch->to, word);
	default:
		*word = branch_word(branch, key);
		return true;
	}
}

/* By the header's list of packages. */
static uint64_t socket_of(const struct work *work, const struct sp_sample *sample)
{
	const struct sp_cpu_topology *topology = &sp_reader_info(work->reader)->topology;
	if (!(sample->present & PERF_SAMPLE_CPU) || sample->cpu >= topology->place_count ||
	    topology->places[sample->cpu].package < 0)
		return DETAIL_NONE;
	return (uint64_t)topology->places[sample->cpu].package;
}

static uint64_t time_of(const struct work *work, const struct sp_sample *sample)
{
	uint64_t quantum = work->options->time_quantum_ns ?: TIME_QUANTUM_NS;
	if (!(sample->present & PERF_SAMPLE_TIME))
		return DETAIL_NONE;
	return sample->time_ns / quantum * quantum;
}

static uint64_t if_present(const struct sp_sample *sample, uint64_t bit, uint64_t value)
{
	return sample->present & bit ? value : DETAIL_NONE;
}

static uint64_t sample_word(const struct work *work, const struct sp_sample *sample,
			    enum sp_key key)
{
	switch (key) {
	case SP_KEY_SOCKET:
		return socket_of(work, sample);
	case SP_KEY_TIME:
		return time_of(work, sample);
	case SP_KEY_ADDR:
		return if_present(sample, PERF_SAMPLE_IP, sample->ip);
	default:
		return DETAIL_NONE;
	}
}

bool worker_details(struct worker *worker, const struct sp_record *record,
		    const struct sp_branch *branch, uint32_t view, uint64_t *words)
{
	const struct work *work = worker->work;
	for (size_t i = 0; i < work->detail_count; i++) {
		enum sp_key key = work->detail_keys[i];
		if (!sp_key_is_of_branches(key))
			words[i] = sample_word(work, &record->sample, key);
		else if (!take_branch(worker, branch, key, view, &words[i]))
			return false;
	}
	return true;
}

/* What a frame is by this key; a word itself of all others. */
static uint64_t row_word(const struct labels *labels, enum sp_key key, uint64_t word)
{
	if (word == DETAIL_NONE)
		return word;
	uint32_t function;
	switch (key) {
	case SP_KEY_SYMBOL_FROM:
	case SP_KEY_SYMBOL_TO:
		function = labels->sides.items[word].symbol;
		break;
	case SP_KEY_DSO_FROM:
	case SP_KEY_DSO_TO:
		function = labels->sides.items[word].dso;
		break;
	case SP_KEY_SRCLINE_FROM:
	case SP_KEY_SRCLINE_TO:
		function = labels->sides.items[word].line;
		break;
	default:
		return word;
	}
	return function == UINT32_MAX ? DETAIL_NONE : function;
}

uint32_t worker_row_detail(struct worker *worker, uint32_t detail)
{
	const struct work *work = worker->work;
	uint64_t words[SP_KEY_COUNT];
	if (!work->detail_count)
		return 0;
	const uint64_t *from = details_words(&worker->details, detail);
	for (size_t i = 0; i < work->detail_count; i++)
		words[i] = row_word(work->labels, work->detail_keys[i], from[i]);
	return details_add(&worker->row_details, words);
}
