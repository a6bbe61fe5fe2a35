/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "times/strata.h"

#include <stdlib.h>
#include "profile/interval.h"
#include "times/slices.h"

void sample_weights_deinit(struct sample_weights *weights)
{
	vec_deinit(weights);
	u64map_deinit(&weights->index_of);
}

bool sample_weights_add(struct sample_weights *weights, const struct sample_weight *from)
{
	struct sample_weight *to = u64map_item(&weights->index_of, from->key, weights);
	if (!to)
		return false;
	to->key = from->key;
	to->weight = weight_add(to->weight, from->weight);
	to->waits += from->waits;
	to->variance += from->variance;
	return true;
}

void stratum_scale(struct stratum *stratum, uint64_t weight, uint64_t ret[TIME_STATES])
{
	uint64_t end = weight_add(stratum->done, weight);
	if (!stratum->weight)
		return;
	double all = stratum->weight, from = (double)stratum->done / all, to = (double)end / all;
	for (int i = 0; i < TIME_STATES; i++)
		ret[i] = weight_add(ret[i], weight_part(stratum->ns[i], to) -
						    weight_part(stratum->ns[i], from));
	stratum->done = end;
}

void strata_deinit(struct strata *strata)
{
	vec_deinit(strata);
	u64map_deinit(&strata->index_of);
	free(strata->rests);
	free(strata->user_part);
}

bool strata_make(struct strata *strata, const struct sample_weights *weights, size_t slices)
{
	strata->slice_count = slices;
	strata->rests = calloc(slices + 1, sizeof(*strata->rests));
	strata->user_part = malloc((slices + 1) * sizeof(*strata->user_part));
	if (!strata->rests || !strata->user_part)
		return false;
	for (size_t i = 0; i < slices; i++)
		strata->user_part[i] = 1;
	for (uint32_t i = 0; i < weights->count; i++) {
		struct stratum *stratum = vec_push(strata);
		if (!stratum ||
		    !u64map_put(&strata->index_of, weights->items[i].key, i, NULL))
			return false;
		*stratum = (struct stratum){
			.weight = weights->items[i].weight,
			.is_preempted = stratum_is_preempted(stratum_of_key(weights->items[i].key)),
			.waits_factor = 1,
		};
	}
	return true;
}

struct stratum *strata_find(const struct strata *strata, struct stratum_id id)
{
	const uint32_t *index = u64map_find(&strata->index_of, stratum_key(id));
	return index ? &strata->items[*index] : NULL;
}

void strata_add(struct strata *strata, struct stratum_id id, enum time_state state, uint64_t ns)
{
	struct stratum *stratum = strata_find(strata, id);
	uint64_t *to =
		stratum && stratum->weight ? stratum->ns : strata->rests[id.slice].no_stack.ns;
	to[state] = weight_add(to[state], ns);
}

void strata_add_on_cpu(struct strata *strata, struct stratum_id id, uint64_t ns)
{
	uint64_t *kernel_ns = &strata->rests[id.slice].kernel_ns;
	uint64_t sampled = weight_part(ns, strata->user_part[id.slice]);
	strata_add(strata, id, TIME_ON_CPU, sampled);
	*kernel_ns = weight_add(*kernel_ns, ns - sampled);
}

void strata_add_unknown(struct strata *strata, const struct sample_weights *weights, bool on_cpu)
{
	for (size_t i = 0; i < weights->count; i++) {
		struct stratum *stratum = &strata->items[i];
		struct stratum_id id = stratum_of_key(weights->items[i].key);
		if (id.slice != SLICE_NONE)
			continue;
		if (stratum_is_of_waits(id))
			stratum->ns[TIME_BLOCKED] = stratum->weight;
		else if (stratum->is_preempted)
			stratum->ns[TIME_RUNNABLE] = stratum->weight;
		else if (on_cpu)
			stratum->ns[TIME_ON_CPU] = stratum->weight;
	}
}

void strata_sum(struct strata *strata)
{
	uint64_t *ns = strata->whole.ns;
	for (size_t i = 0; i < strata->slice_count; i++) {
		const struct time_rest *rest = &strata->rests[i];
		for (int state = 0; state < TIME_STATES; state++)
			ns[state] = weight_add(ns[state], rest->no_stack.ns[state]);
		ns[TIME_ON_CPU] = weight_add(ns[TIME_ON_CPU], rest->kernel_ns);
		ns[TIME_ON_CPU] = weight_add(ns[TIME_ON_CPU], rest->unrecorded_ns);
		ns[TIME_BLOCKED] = weight_add(ns[TIME_BLOCKED], rest->all_blocked_ns);
	}
	vec_each (stratum, strata) {
		for (int state = 0; state < TIME_STATES; state++)
			ns[state] = weight_add(ns[state], stratum->ns[state]);
		if (stratum->is_preempted)
			strata->whole.preempted_ns =
				weight_add(strata->whole.preempted_ns, stratum->ns[TIME_RUNNABLE]);
	}
}
