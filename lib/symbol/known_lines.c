/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "symbol/known_lines.h"

void known_lines_deinit(struct known_lines *known)
{
	u64map_deinit(&known->by_offset);
	vec_deinit(&known->frames);
	*known = (struct known_lines){0};
}

size_t known_lines_select_new(const struct known_lines *known, const struct source_query *query,
			      uint64_t *ret)
{
	size_t count = 0;
	for (size_t i = 0; i < query->count; i++)
		if (!u64map_find(&known->by_offset, query->offsets[i]))
			ret[count++] = query->offsets[i];
	return count;
}

bool known_lines_add(struct known_lines *known, const uint64_t *offsets, size_t count,
		     const struct source_frames *frames)
{
	known->distinct = frames->distinct;
	for (size_t i = 0; i < count; i++) {
		const struct source_frame **slot = vec_push(&known->frames);
		if (!slot)
			return false;
		*slot = frames->items[i];
		if (!u64map_put(&known->by_offset, offsets[i], (uint32_t)known->frames.count - 1, NULL))
			return false;
	}
	return true;
}

void known_lines_get(const struct known_lines *known, const struct source_query *query,
		     struct source_frames *ret)
{
	for (size_t i = 0; i < query->count; i++) {
		const uint32_t *index = u64map_find(&known->by_offset, query->offsets[i]);
		ret->items[i] = index ? known->frames.items[*index] : NULL;
	}
	ret->distinct = known->distinct;
}
