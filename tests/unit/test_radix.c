/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/radix.h"
#include <stdlib.h>
#include <string.h>
#include "test.h"

/* The words from the root down to a node, by going up. */
static size_t words_of(const struct radix *radix, uint32_t node, uint64_t *words, uint32_t *root_ret)
{
	size_t count = 0, at;
	for (uint32_t i = node; radix->items[i].parent != RADIX_NONE; i = radix->items[i].parent)
		count += radix->items[i].length;
	at = count;
	for (; radix->items[node].parent != RADIX_NONE; node = radix->items[node].parent) {
		at -= radix->items[node].length;
		memcpy(words + at, radix->words.items + radix->items[node].run,
		       radix->items[node].length * sizeof(*words));
	}
	*root_ret = node;
	return count;
}

/* Every node has a run that no sibling begins alike, and lies behind its parent in the order. */
static void check_shape(const struct radix *radix)
{
	uint32_t *order = radix_order(radix);
	size_t *place = calloc(radix->count + 1, sizeof(*place));
	ck_assert(order && place);
	for (size_t i = 0; i < radix->count; i++)
		place[order[i]] = i + 1;
	for (uint32_t i = 0; i < radix->count; i++) {
		const struct radix_node *node = &radix->items[i];
		ck_assert_uint_ne(place[i], 0);
		if (node->parent == RADIX_NONE)
			continue;
		ck_assert_uint_gt(node->length, 0);
		ck_assert_uint_eq(node->first, radix->words.items[node->run]);
		ck_assert_uint_lt(place[node->parent], place[i]);
		for (uint32_t j = 0; radix->count < 500 && j < i; j++)
			ck_assert(radix->items[j].parent != node->parent ||
				  radix->items[j].first != node->first);
	}
	free(order);
	free(place);
}

enum { SEQUENCES = 300, LENGTH = 24 };

struct sequence {
	uint64_t words[LENGTH];
	size_t count;
	uint32_t root, node;
};

/* Like one before, with another end; few words, so that much is in common. */
static void make_sequence(struct sequence *all, size_t index, uint32_t root)
{
	struct sequence *made = &all[index];
	*made = index ? all[(size_t)rand() % index] : (struct sequence){0};
	size_t kept = made->count ? (size_t)rand() % (made->count + 1) : 0;
	made->count = (size_t)rand() % LENGTH;
	for (size_t i = kept; i < made->count; i++)
		made->words[i] = (uint64_t)rand() % 3;
	made->root = root;
}

TEST(sequences_end_at_nodes_that_spell_them)
{
	static struct sequence all[SEQUENCES];
	for (unsigned int seed = 0; seed < 40; seed++) {
		struct radix radix = {0};
		struct radix_path paths[3] = {0};
		const struct sequence *last[3] = {0};
		srand(seed);
		for (size_t i = 0; i < SEQUENCES; i++) {
			size_t tree = (size_t)rand() % 3, common = 0;
			struct sequence *made = &all[i];
			make_sequence(all, i, radix_root(&radix, 70 + tree));
			/* With and without what is known of the one before. */
			if (!last[tree] || rand() % 4 == 0)
				paths[tree].count = 0;
			else
				while (common < made->count && common < last[tree]->count &&
				       made->words[common] == last[tree]->words[common])
					common++;
			made->node = radix_add(&radix, made->root, made->words, made->count,
					       paths[tree].count ? common : 0, &paths[tree]);
			ck_assert_uint_ne(made->node, RADIX_NONE);
			last[tree] = made;
		}
		for (size_t i = 0; i < SEQUENCES; i++) {
			uint64_t words[LENGTH];
			uint32_t root;
			ck_assert_uint_eq(words_of(&radix, all[i].node, words, &root), all[i].count);
			ck_assert_uint_eq(root, all[i].root);
			ck_assert(memcmp(words, all[i].words, all[i].count * sizeof(*words)) == 0);
			for (size_t j = 0; j < i; j++) {
				bool same = all[j].root == root && all[j].count == all[i].count &&
					    !memcmp(words, all[j].words,
						    all[i].count * sizeof(*words));
				ck_assert(same == (all[j].node == all[i].node));
			}
		}
		check_shape(&radix);
		for (int i = 0; i < 3; i++)
			vec_deinit(&paths[i]);
		radix_deinit(&radix);
	}
}

TEST(a_unique_sequence_costs_one_node)
{
	struct radix radix = {0};
	uint64_t words[200];
	for (uint64_t i = 0; i < 10000; i++) {
		struct radix_path path = {0};
		for (size_t j = 0; j < 200; j++)
			words[j] = i * 1000 + j;
		ck_assert_uint_ne(radix_add(&radix, radix_root(&radix, 1), words, 200, 0, &path),
				  RADIX_NONE);
		vec_deinit(&path);
	}
	ck_assert_uint_eq(radix.count, 10001);
	check_shape(&radix);
	radix_deinit(&radix);
}

TEST(an_empty_sequence_is_its_root)
{
	struct radix radix = {0};
	struct radix_path path = {0};
	uint32_t root = radix_root(&radix, 5);
	ck_assert_uint_eq(radix_add(&radix, root, NULL, 0, 0, &path), root);
	ck_assert_uint_eq(radix_root(&radix, 5), root);
	ck_assert_uint_ne(radix_root(&radix, 6), root);
	vec_deinit(&path);
	radix_deinit(&radix);
}
