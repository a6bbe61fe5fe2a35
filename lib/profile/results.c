/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Items of results, by index: structs of results may grow, so users cannot step through arrays. */
#include <sprof/profile.h>

#include <assert.h>

const struct sp_row *sp_profile_row(const struct sp_profile *profile, size_t index)
{
	const struct sp_row *rows = profile->rows;
	assert(index < profile->row_count);
	return &rows[index];
}

const struct sp_unsampled *sp_profile_unsampled(const struct sp_profile *profile, size_t index)
{
	const struct sp_unsampled *unsampled = profile->unsampled;
	assert(index < profile->unsampled_count);
	return &unsampled[index];
}

uint64_t sp_profile_stack_count(const struct sp_profile *profile)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < sizeof(profile->stacks) / sizeof(*profile->stacks); i++)
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

const struct sp_ratio_kind *sp_group_ratio(const struct sp_group *group, size_t index)
{
	const struct sp_ratio_kind *ratios = group->ratios;
	assert(index < group->ratio_count);
	return &ratios[index];
}

const struct sp_joint_row *sp_group_row(const struct sp_group *group, size_t index)
{
	const struct sp_joint_row *rows = group->rows;
	assert(index < group->row_count);
	return &rows[index];
}

const struct sp_tree_node *sp_tree_child(const struct sp_tree_node *node, size_t index)
{
	const struct sp_tree_node *children = node->children;
	assert(index < node->child_count);
	return &children[index];
}
