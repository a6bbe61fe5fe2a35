/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folded stacks with two counts, as difffolded.pl writes them: "root;...;leaf BASE NEW", ordered by
 * frame names. Counts are the mean weight in a run (ns of clocks), or millionths of its whole
 * weight if shares are compared.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cmd/diff/comparison.h"
#include "memory.h"
#include "out/folded.h"

struct folded_pair {
	char *stack;
	double base, now;
};

static int by_stack(const void *a, const void *b)
{
	return strcmp(((const struct folded_pair *)a)->stack,
		      ((const struct folded_pair *)b)->stack);
}

/* Returns the stack's line for the caller to free. */
static char *make_stack(const struct comparison *comparison, size_t index)
{
	size_t depth, size = 1;
	const struct sp_diff_node **path = comparison_path(comparison, index, &depth);
	for (size_t i = 0; i < depth; i++)
		size += FOLDED_GROWTH * (strlen(path[i]->function) + strlen(path[i]->dso ?: "")) +
			8;
	char *stack = xmalloc(size), *end = stack;
	for (size_t i = 0; i < depth; i++) {
		const struct sp_diff_node *node = path[i];
		bool is_kernel =
			node->level == SP_LEVEL_KERNEL || node->level == SP_LEVEL_GUEST_KERNEL;
		bool is_module = node->dso && *node->function == '[';
		bool bare = is_module && *node->dso != '[';
		end = stpcpy(end, i ? ";" : "");
		end = stpcpy(end, bare ? "[" : "");
		end = folded_put_name(end, is_module ? node->dso : node->function);
		end = stpcpy(end, bare ? "]" : "");
		end = stpcpy(end, is_kernel ? "_[k]" : "");
	}
	free(path);
	return stack;
}

void diff_write_folded(const struct comparison *comparison, FILE *out)
{
	size_t count = sp_diff_node_count(comparison->diff), used = 0;
	double unit = comparison->by_share ? 1e6 : 1;
	struct folded_pair *pairs = xcalloc(count + 1, sizeof(*pairs));
	for (size_t i = 1; i < count; i++) {
		const struct sp_diff_node *node = sp_diff_node(comparison->diff, i);
		if (!(node->base_self > 0) && !(node->now_self > 0))
			continue;
		pairs[used++] = (struct folded_pair){make_stack(comparison, i), node->base_self,
						     node->now_self};
	}
	qsort(pairs, used, sizeof(*pairs), by_stack);
	for (size_t i = 0; i < used;) {
		const char *stack = pairs[i].stack;
		double base = 0, now = 0;
		for (; i < used && !strcmp(pairs[i].stack, stack); i++) {
			base += pairs[i].base;
			now += pairs[i].now;
		}
		fprintf(out, "%s %.0f %.0f\n", stack, base * unit, now * unit);
	}
	for (size_t i = 0; i < used; i++)
		free(pairs[i].stack);
	free(pairs);
}
