/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Items of results, by index: structs of results may grow, so users cannot step through arrays. */
#include <sprof/profile.h>

#include "base/vec.h"

DEFINE_GETTER(sp_profile_row, sp_row, sp_profile, rows, row_count)
DEFINE_GETTER(sp_profile_unsampled, sp_unsampled, sp_profile, unsampled, unsampled_count)

uint64_t sp_profile_stack_count(const struct sp_profile *profile)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < count_of(profile->stacks); i++)
		sum += profile->stacks[i];
	return sum;
}

const struct sp_value *sp_row_value(const struct sp_row *row, enum sp_key key)
{
	const struct sp_value *values = row->values;
	for (size_t i = 0; i < row->value_count; i++)
		if (values[i].key == key)
			return &values[i];
	return NULL;
}

DEFINE_GETTER(sp_group_ratio, sp_ratio_kind, sp_group, ratios, ratio_count)
DEFINE_GETTER(sp_group_row, sp_joint_row, sp_group, rows, row_count)
DEFINE_GETTER(sp_tree_child, sp_tree_node, sp_tree_node, children, child_count)
