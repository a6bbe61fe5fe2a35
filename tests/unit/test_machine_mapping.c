/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "machine/mapping.h"
#include <stdlib.h>
#include <string.h>
#include "test.h"

enum { SPACE = 300, VERSIONS = 40 };

/* Expected contents of a version: module and offset for each ip. */
struct flat {
	struct { uint32_t module; uint64_t offset; } at[SPACE];
};

static void check_version(const struct mapping_node *root, const struct flat *flat)
{
	for (uint64_t ip = 0; ip < SPACE; ip++) {
		const struct mapping *mapping = mapping_find(root, ip);
		ck_assert_uint_eq(mapping ? mapping->module : 0, flat->at[ip].module);
		if (mapping)
			ck_assert_uint_eq(ip - mapping->start + mapping->file_offset,
					  flat->at[ip].offset);
	}
}

/* Heights are true and balanced, starts ascend; returns the height. */
static uint32_t check_tree(const struct mapping_node *node, uint64_t low, uint64_t high)
{
	if (!node)
		return 0;
	ck_assert_uint_ge(node->mapping.start, low);
	ck_assert_uint_le(node->mapping.end, high);
	ck_assert_uint_lt(node->mapping.start, node->mapping.end);
	uint32_t left = check_tree(node->left, low, node->mapping.start);
	uint32_t right = check_tree(node->right, node->mapping.end, high);
	ck_assert_uint_le(left, right + 1);
	ck_assert_uint_le(right, left + 1);
	ck_assert_uint_eq(node->height, 1 + (left > right ? left : right));
	return node->height;
}

static struct mapping random_mapping(uint32_t module)
{
	uint64_t start = (uint64_t)rand() % (SPACE - 1);
	uint64_t size = 1 + (uint64_t)rand() % (rand() % 4 ? 12 : 120);
	uint64_t end = start + size < SPACE ? start + size : SPACE;
	return (struct mapping){.start = start, .end = end, .module = module,
				.file_offset = (uint64_t)rand() % 3 * 1000 + start};
}

static enum mapping_overlap expected_overlap(const struct flat *flat, const struct mapping *mapping)
{
	uint64_t same = 0;
	for (uint64_t ip = mapping->start; ip < mapping->end; ip++) {
		if (!flat->at[ip].module)
			continue;
		if (flat->at[ip].module != mapping->module ||
		    flat->at[ip].offset != ip - mapping->start + mapping->file_offset)
			return MAPPING_REPLACES;
		same++;
	}
	if (!same)
		return MAPPING_FREE;
	return same == mapping->end - mapping->start ? MAPPING_COVERED : MAPPING_SAME;
}

TEST(versions_hold_what_a_plain_array_holds)
{
	static struct flat flats[VERSIONS];
	for (unsigned int seed = 0; seed < 60; seed++) {
		struct arena arena = {0};
		struct mapping_node *roots[VERSIONS] = {0};
		memset(flats, 0, sizeof(flats));
		srand(seed);
		for (uint32_t version = 0; version < VERSIONS; version++) {
			uint32_t from = version ? (uint32_t)rand() % version : 0;
			roots[version] = roots[from];
			flats[version] = flats[from];
			for (int i = rand() % 10; i >= 0; i--) {
				struct mapping mapping = random_mapping(1 + (uint32_t)rand() % 4);
				ck_assert_int_eq(mapping_overlap(roots[version], &mapping),
						 expected_overlap(&flats[version], &mapping));
				ck_assert(mapping_insert(&arena, &roots[version], version + 1,
							 &mapping));
				for (uint64_t ip = mapping.start; ip < mapping.end; ip++) {
					flats[version].at[ip].module = mapping.module;
					flats[version].at[ip].offset =
						ip - mapping.start + mapping.file_offset;
				}
				check_tree(roots[version], 0, UINT64_MAX);
			}
		}
		for (int version = 0; version < VERSIONS; version++)
			check_version(roots[version], &flats[version]);
		arena_deinit(&arena);
	}
}

TEST(a_tree_of_sorted_mappings_stays_low)
{
	struct arena arena = {0};
	struct mapping_node *root = NULL;
	for (uint64_t i = 0; i < 100000; i++) {
		struct mapping mapping = {.start = i * 16, .end = i * 16 + 8, .module = 1};
		ck_assert(mapping_insert(&arena, &root, 1, &mapping));
	}
	ck_assert_uint_le(check_tree(root, 0, UINT64_MAX), 24); /* 1.44 log2(100000) */
	ck_assert_ptr_nonnull(mapping_find(root, 16 * 777 + 7));
	ck_assert_ptr_null(mapping_find(root, 16 * 777 + 8));
	arena_deinit(&arena);
}
