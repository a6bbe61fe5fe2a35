/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rows/merged_event.h"

void merged_event_deinit(struct merged_event *event)
{
	tallies_deinit(&event->tallies);
	groups_deinit(&event->groups);
	details_deinit(&event->details);
	vec_deinit(&event->replicates);
	paths_deinit(&event->paths);
	cells_deinit(&event->cells);
	vec_deinit(&event->losses);
	vec_deinit(&event->texts);
	u64map_deinit(&event->text_of);
	programs_deinit(&event->unsampled);
	vec_deinit(&event->whole);
}

uint32_t merged_event_text(struct merged_event *event, const char *interned)
{
	const char **text =
		interned ? u64map_item(&event->text_of, (uintptr_t)interned, &event->texts) : NULL;
	if (!text) {
		event->paths.failed = true;
		return 0;
	}
	*text = interned;
	return text - event->texts.items;
}

bool merged_event_replicate(struct merged_event *event, uint32_t row, uint8_t replicate,
			 const struct tally *tally)
{
	if (!vec_reserve(&event->replicates, (size_t)row + 1))
		return false;
	while (event->replicates.count <= row)
		*vec_push(&event->replicates) = (struct replicate_sums){0};
	struct replicate_sums *sums = &event->replicates.items[row];
	sums->self[replicate] = weight_add(sums->self[replicate], tally->self_weight);
	sums->total[replicate] = weight_add(sums->total[replicate], tally->total_weight);
	return true;
}
