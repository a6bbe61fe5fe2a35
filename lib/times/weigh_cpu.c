/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Mode cpu: a profile for each event. Weights are periods, latencies of memory, or branches. */
#include <sprof/private/words.h>
#include "profile/detail.h"
#include "times/times.h"

static bool weigh(const struct times *times, const struct sp_record *record,
		  struct sample_time *ret)
{
	ret->weight = record->sample.period;
	if (!(record->sample.present & PERF_SAMPLE_PERIOD)) {
		const struct sp_event *event = sp_reader_event(times->from.reader, record->event);
		ret->weight = event->attr.freq ? 1 : event->attr.sample_period;
	}
	return true;
}

/* The latency of a memory sample in cycles; 1 if it is unknown, as in perf. */
static bool weigh_memory(const struct times *times, const struct sp_record *record,
			 struct sample_time *ret)
{
	const struct sp_sample *sample = &record->sample;
	(void)times;
	ret->weight = 0;
	if (sample->present & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		ret->weight = sp_weight_parts(sample->present, sample->weight).latency;
	ret->weight = ret->weight ?: 1;
	return true;
}

static size_t split_leaf(const struct timed_leaf *leaf, struct leaf_part ret[TIME_STATES])
{
	*ret = (struct leaf_part){leaf->samples, leaf->weight, .state = DETAIL_NONE};
	return leaf->samples > 0;
}

const struct weigher weigher_cpu = {
	.unit = WEIGHER_COUNTERS,
	.weigh = weigh,
	.split_leaf = split_leaf,
};

const struct weigher weigher_memory = {
	.weigh = weigh_memory,
	.split_leaf = split_leaf,
};

const struct weigher weigher_branches = {
	.unit = WEIGHER_BRANCHES,
	.split_leaf = split_leaf,
};
