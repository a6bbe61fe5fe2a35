/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile/radix.h"

#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/hash.h"

void radix_deinit(struct radix *radix)
{
	vec_deinit(radix);
	vec_deinit(&radix->words);
	free(radix->slots);
	*radix = (struct radix){0};
}

static size_t slot_of(const struct radix *radix, uint32_t parent, uint64_t first)
{
	size_t mask = radix->slot_count - 1, slot = hash_pair(first, parent) & mask;
	while (radix->slots[slot]) {
		const struct radix_node *node = &radix->items[radix->slots[slot] - 1];
		if (node->first == first && node->parent == parent)
			break;
		slot = (slot + 1) & mask;
	}
	return slot;
}

static bool grow(struct radix *radix)
{
	size_t count = radix->slot_count ? radix->slot_count * 2 : 1024;
	uint32_t *slots = table_alloc(count, sizeof(*slots));
	if (!slots)
		return false;
	free(radix->slots);
	radix->slots = slots;
	radix->slot_count = count;
	for (size_t i = 0; i < radix->count; i++) {
		const struct radix_node *node = &radix->items[i];
		radix->slots[slot_of(radix, node->parent, node->first)] = (uint32_t)i + 1;
	}
	return true;
}

/* Reserves room for two more nodes in the list and the hash table. */
static bool reserve(struct radix *radix)
{
	if (radix->count >= RADIX_NONE - 2)
		return false;
	if ((radix->count + 2) * 3 > radix->slot_count * 2 && !grow(radix))
		return false;
	return vec_reserve(radix, radix->count + 2);
}

/* Appends a node without adding it to the hash table. The caller has reserved room. */
static uint32_t push(struct radix *radix, uint32_t parent, uint64_t first, uint32_t run,
		     uint32_t length)
{
	*vec_push(radix) = (struct radix_node){first, parent, run, length};
	return (uint32_t)radix->count - 1;
}

uint32_t radix_root(struct radix *radix, uint64_t name)
{
	if (!reserve(radix))
		return RADIX_NONE;
	size_t slot = slot_of(radix, RADIX_NONE, name);
	if (!radix->slots[slot])
		radix->slots[slot] = push(radix, RADIX_NONE, name, 0, 0) + 1;
	return radix->slots[slot] - 1;
}

/*
 * Splits a node after the first `length` words of its run. The first part is a new node. The rest keeps
 * the node's index, so that its children's references stay valid.
 */
static uint32_t split(struct radix *radix, uint32_t index, uint32_t length)
{
	struct radix_node *node = &radix->items[index];
	size_t slot = slot_of(radix, node->parent, node->first);
	uint32_t head = push(radix, node->parent, node->first, node->run, length);
	radix->slots[slot] = head + 1;
	node->parent = head;
	node->run += length;
	node->length -= length;
	node->first = radix->words.items[node->run];
	radix->slots[slot_of(radix, head, node->first)] = index + 1;
	return head;
}

/* Appends a node with the words that are not in the tree yet. */
static uint32_t append(struct radix *radix, uint32_t parent, const uint64_t *words, size_t count)
{
	size_t run = radix->words.count;
	if (count > UINT32_MAX - run || !vec_reserve(&radix->words, run + count))
		return RADIX_NONE;
	memcpy(radix->words.items + run, words, count * sizeof(*words));
	radix->words.count += count;
	uint32_t node = push(radix, parent, *words, run, count);
	radix->slots[slot_of(radix, parent, *words)] = node + 1;
	return node;
}

static size_t match(const uint64_t *a, const uint64_t *b, size_t count)
{
	size_t same = 0;
	while (same + 4 <= count && !((a[same] ^ b[same]) | (a[same + 1] ^ b[same + 1]) |
				      (a[same + 2] ^ b[same + 2]) | (a[same + 3] ^ b[same + 3])))
		same += 4;
	while (same < count && a[same] == b[same])
		same++;
	return same;
}

static bool add_step(struct radix_path *path, uint32_t node, size_t end)
{
	struct radix_step *step = vec_push(path);
	if (step)
		*step = (struct radix_step){node, (uint32_t)end};
	return step != NULL;
}

uint32_t radix_add(struct radix *radix, uint32_t root, const uint64_t *words, size_t count,
		   size_t common, struct radix_path *path)
{
	while (path->count && vec_last(path)->end > common)
		path->count--;
	size_t done = path->count ? vec_last(path)->end : 0;
	uint32_t at = path->count ? vec_last(path)->node : root;
	while (done < count) {
		if (!reserve(radix))
			return RADIX_NONE;
		uint32_t next = radix->slots[slot_of(radix, at, words[done])];
		if (!next) {
			at = append(radix, at, words + done, count - done);
			done = count;
		} else {
			const struct radix_node *node = &radix->items[next - 1];
			size_t most = count - done < node->length ? count - done : node->length;
			size_t same = match(words + done, radix->words.items + node->run, most);
			at = same < node->length ? split(radix, next - 1, same) : next - 1;
			done += same;
		}
		if (at == RADIX_NONE || !add_step(path, at, done))
			return RADIX_NONE;
	}
	return at;
}

uint32_t *radix_order(const struct radix *radix)
{
	CLEANUP_FREE uint32_t *child = malloc((radix->count + 1) * sizeof(*child));
	CLEANUP_FREE uint32_t *next = malloc((radix->count + 1) * sizeof(*next));
	CLEANUP_FREE uint32_t *order = malloc((radix->count + 1) * sizeof(*order));
	size_t placed = 0;
	if (!child || !next || !order)
		return NULL;
	memset(child, 0xff, radix->count * sizeof(*child));
	for (size_t i = radix->count; i-- > 0;) {
		uint32_t parent = radix->items[i].parent;
		if (parent == RADIX_NONE)
			continue;
		next[i] = child[parent];
		child[parent] = i;
	}
	for (uint32_t root = 0; root < radix->count; root++) {
		if (radix->items[root].parent != RADIX_NONE)
			continue;
		next[root] = RADIX_NONE;
		for (uint32_t at = root; at != RADIX_NONE;) {
			order[placed++] = at;
			if (child[at] != RADIX_NONE) {
				at = child[at];
				continue;
			}
			while (at != RADIX_NONE && next[at] == RADIX_NONE)
				at = radix->items[at].parent;
			at = at == RADIX_NONE ? RADIX_NONE : next[at];
		}
	}
	return take_ptr(order);
}
