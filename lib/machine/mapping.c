/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An AVL tree by start address. Its one primitive is join (Blelloch, Ferizovic and Sun, "Just Join
 * for Parallel Ordered Sets"): split and join give insertion and the replacement of ranges without
 * cases of their own, and copying a path is copying what join touches. Mappings of one tree do not
 * overlap.
 */
#include "machine/mapping.h"

#include <stddef.h>

struct mapping_builder {
	struct arena *arena;
	uint32_t owner;
	bool failed; /* memory is exhausted: nodes may be missing */
};

static uint32_t height(const struct mapping_node *node)
{
	return node ? node->height : 0;
}

/* Returns the node itself if this version created it, else a copy. */
static struct mapping_node *own(struct mapping_builder *builder, struct mapping_node *node)
{
	if (node->owner == builder->owner)
		return node;
	struct mapping_node *copy = arena_alloc(builder->arena, sizeof(*copy));
	if (!copy) {
		builder->failed = true;
		return node;
	}
	*copy = *node;
	copy->owner = builder->owner;
	return copy;
}

static struct mapping_node *node_new(struct mapping_builder *builder, const struct mapping *mapping)
{
	struct mapping_node *node = arena_alloc(builder->arena, sizeof(*node));
	if (!node) {
		builder->failed = true;
		return NULL;
	}
	node->mapping = *mapping;
	node->owner = builder->owner;
	node->height = 1;
	return node;
}

static struct mapping_node *bind(struct mapping_builder *builder, struct mapping_node *left,
				 struct mapping_node *middle, struct mapping_node *right)
{
	struct mapping_node *node = own(builder, middle);
	node->left = left;
	node->right = right;
	node->height = 1 + (height(left) > height(right) ? height(left) : height(right));
	return node;
}

static struct mapping_node *rotate_left(struct mapping_builder *builder, struct mapping_node *node)
{
	struct mapping_node *right = node->right;
	return bind(builder, bind(builder, node->left, node, right->left), right, right->right);
}

static struct mapping_node *rotate_right(struct mapping_builder *builder, struct mapping_node *node)
{
	struct mapping_node *left = node->left;
	return bind(builder, left->left, left, bind(builder, left->right, node, node->right));
}

/* join() for a `left` that is higher by more than one. */
static struct mapping_node *join_right(struct mapping_builder *builder, struct mapping_node *left,
				       struct mapping_node *middle, struct mapping_node *right)
{
	struct mapping_node *joined;
	bool turn = false;
	if (height(left->right) <= height(right) + 1) {
		joined = bind(builder, left->right, middle, right);
		turn = height(joined) > height(left->left) + 1;
	} else {
		joined = join_right(builder, left->right, middle, right);
	}
	if (turn)
		joined = rotate_right(builder, joined);
	joined = bind(builder, left->left, left, joined);
	if (height(joined->right) > height(joined->left) + 1)
		joined = rotate_left(builder, joined);
	return joined;
}

/* Mirror image of join_right(). */
static struct mapping_node *join_left(struct mapping_builder *builder, struct mapping_node *left,
				      struct mapping_node *middle, struct mapping_node *right)
{
	struct mapping_node *joined;
	bool turn = false;
	if (height(right->left) <= height(left) + 1) {
		joined = bind(builder, left, middle, right->left);
		turn = height(joined) > height(right->right) + 1;
	} else {
		joined = join_left(builder, left, middle, right->left);
	}
	if (turn)
		joined = rotate_left(builder, joined);
	joined = bind(builder, joined, right, right->right);
	if (height(joined->left) > height(joined->right) + 1)
		joined = rotate_right(builder, joined);
	return joined;
}

/* Joins trees: all of `left`, then `middle`, then all of `right`. */
static struct mapping_node *join(struct mapping_builder *builder, struct mapping_node *left,
				 struct mapping_node *middle, struct mapping_node *right)
{
	if (!middle) /* out of memory */
		return left;
	if (height(left) > height(right) + 1)
		return join_right(builder, left, middle, right);
	if (height(right) > height(left) + 1)
		return join_left(builder, left, middle, right);
	return bind(builder, left, middle, right);
}

/* Splits a tree into the mappings that start below `ip`, and those that start at or above it. */
static void split(struct mapping_builder *builder, struct mapping_node *node, uint64_t ip,
		  struct mapping_node **low_ret, struct mapping_node **high_ret)
{
	struct mapping_node *low, *high;
	if (!node) {
		*low_ret = *high_ret = NULL;
		return;
	}
	/* join() may change the node, so its children are read before. */
	struct mapping_node *left = node->left, *right = node->right;
	if (node->mapping.start < ip) {
		split(builder, right, ip, &low, &high);
		*low_ret = join(builder, left, node, low);
		*high_ret = high;
	} else {
		split(builder, left, ip, &low, &high);
		*low_ret = low;
		*high_ret = join(builder, high, node, right);
	}
}

/* Removes and returns the last node; *node must not be NULL. */
static struct mapping_node *take_last(struct mapping_builder *builder, struct mapping_node **node)
{
	struct mapping_node *top = *node, *rest = top->right;
	if (!rest) {
		*node = top->left;
		return own(builder, top);
	}
	struct mapping_node *left = top->left;
	struct mapping_node *last = take_last(builder, &rest);
	*node = join(builder, left, top, rest);
	return last;
}

static const struct mapping *last_mapping(const struct mapping_node *node)
{
	while (node && node->right)
		node = node->right;
	return node ? &node->mapping : NULL;
}

/* Returns the part of `mapping` from `ip` on, as a node. */
static struct mapping_node *tail_new(struct mapping_builder *builder, const struct mapping *mapping,
				     uint64_t ip)
{
	struct mapping tail = *mapping;
	tail.file_offset += ip - tail.start;
	tail.start = ip;
	return node_new(builder, &tail);
}

bool mapping_insert(struct arena *arena, struct mapping_node **root, uint32_t owner,
		    const struct mapping *mapping)
{
	struct mapping_builder builder = {.arena = arena, .owner = owner};
	struct mapping_node *below, *inside, *above, *tail = NULL;
	split(&builder, *root, mapping->start, &below, &above);
	split(&builder, above, mapping->end, &inside, &above);

	/* At most one of the two extends beyond the range, because they did not overlap. */
	const struct mapping *last = last_mapping(below);
	const struct mapping *hidden = last_mapping(inside);
	if (last && last->end > mapping->end)
		tail = tail_new(&builder, last, mapping->end);
	else if (hidden && hidden->end > mapping->end)
		tail = tail_new(&builder, hidden, mapping->end);
	if (last && last->end > mapping->start) {
		struct mapping_node *cut = take_last(&builder, &below);
		if (!builder.failed)
			cut->mapping.end = mapping->start;
		below = join(&builder, below, cut, NULL);
	}
	if (tail)
		above = join(&builder, NULL, tail, above);
	*root = join(&builder, below, node_new(&builder, mapping), above);
	return !builder.failed;
}

const struct mapping *mapping_find(const struct mapping_node *root, uint64_t ip)
{
	while (root) {
		if (ip < root->mapping.start)
			root = root->left;
		else if (ip >= root->mapping.end)
			root = root->right;
		else
			return &root->mapping;
	}
	return NULL;
}

const struct mapping *mapping_find_program(const struct mapping_node *root, uint64_t start,
					   uint64_t end)
{
	const struct mapping *found = NULL;
	if (!root)
		return NULL;
	if (root->mapping.start > start)
		found = mapping_find_program(root->left, start, end);
	if (!found && root->mapping.is_program && root->mapping.end > start &&
	    root->mapping.start < end)
		found = &root->mapping;
	return found || root->mapping.end >= end
		       ? found : mapping_find_program(root->right, start, end);
}

static bool same_meaning(const struct mapping *a, const struct mapping *b)
{
	return a->module == b->module && a->fixed == b->fixed && a->pid == b->pid &&
	       a->is_program == b->is_program &&
	       (a->fixed || a->start - a->file_offset == b->start - b->file_offset);
}

struct overlap {
	const struct mapping *mapping;
	uint64_t covered; /* number of bytes with unchanged meaning */
	bool differs;
};

static void overlap_walk(const struct mapping_node *node, struct overlap *overlap)
{
	const struct mapping *mapping = overlap->mapping;
	if (!node || overlap->differs)
		return;
	const struct mapping *old = &node->mapping;
	if (old->start > mapping->start)
		overlap_walk(node->left, overlap);
	if (old->start < mapping->end && old->end > mapping->start) {
		uint64_t start = old->start > mapping->start ? old->start : mapping->start;
		uint64_t end = old->end < mapping->end ? old->end : mapping->end;
		overlap->covered += end - start;
		overlap->differs |= !same_meaning(old, mapping);
	}
	if (old->end < mapping->end)
		overlap_walk(node->right, overlap);
}

enum mapping_overlap mapping_overlap(const struct mapping_node *root,
				     const struct mapping *mapping)
{
	struct overlap overlap = {.mapping = mapping};
	overlap_walk(root, &overlap);
	if (overlap.differs)
		return MAPPING_REPLACES;
	if (!overlap.covered)
		return MAPPING_FREE;
	return overlap.covered == mapping->end - mapping->start ? MAPPING_COVERED : MAPPING_SAME;
}
