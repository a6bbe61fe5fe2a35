/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/diff/comparison.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "memory.h"

void comparison_deinit(struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->run_count; i++) {
		free(comparison->runs[i].path);
		free(comparison->runs[i].cpu);
		free(comparison->runs[i].event);
		free(comparison->runs[i].command);
		free(comparison->runs[i].again);
		free(comparison->runs[i].options);
	}
	for (size_t i = 0; i < comparison->note_count; i++)
		free(comparison->notes[i]);
	free(comparison->runs);
	sp_diff_free(comparison->diff);
}

bool comparison_is_tested(const struct comparison *comparison)
{
	return comparison_runs(comparison, SP_DIFF_BASE) >= SP_DIFF_LEAST_RUNS &&
	       comparison_runs(comparison, SP_DIFF_NEW) >= SP_DIFF_LEAST_RUNS;
}

void comparison_note(struct comparison *comparison, const char *format, ...)
{
	size_t most = sizeof(comparison->notes) / sizeof(*comparison->notes);
	va_list args;
	if (comparison->note_count == most)
		return;
	va_start(args, format);
	comparison->notes[comparison->note_count++] = xvasprintf(format, args);
	va_end(args);
}

size_t comparison_runs(const struct comparison *comparison, enum sp_diff_side side)
{
	size_t count = 0;
	for (size_t i = 0; i < comparison->run_count; i++)
		count += comparison->runs[i].side == side;
	return count;
}

/* Returns the number of rows with a verdict. */
static size_t count_verdicts(const struct comparison *comparison, enum sp_diff_verdict verdict)
{
	size_t count = 0;
	for (size_t i = 0; i < sp_diff_row_count(comparison->diff); i++)
		count += sp_diff_row(comparison->diff, i)->change.verdict == verdict;
	return count;
}

const char *comparison_verdict(const struct comparison *comparison)
{
	enum sp_diff_verdict total = sp_diff_total(comparison->diff)->verdict;
	size_t slower = count_verdicts(comparison, SP_DIFF_SLOWER) +
			count_verdicts(comparison, SP_DIFF_APPEARED);
	size_t faster = count_verdicts(comparison, SP_DIFF_FASTER) +
			count_verdicts(comparison, SP_DIFF_GONE);
	if (total == SP_DIFF_SLOWER || total == SP_DIFF_FASTER)
		return sp_diff_verdict_name(total);
	if (slower && faster)
		return "changed";
	if (slower || faster)
		return slower ? "slower" : "faster";
	if (!comparison_is_tested(comparison))
		return "untested";
	if (total == SP_DIFF_SAME)
		return "same";
	return "inconclusive";
}

const struct sp_diff_node **comparison_path(const struct comparison *comparison, size_t node,
					    size_t *depth)
{
	*depth = 0;
	for (size_t at = node; at; at = sp_diff_node(comparison->diff, at)->parent)
		++*depth;
	const struct sp_diff_node **path = xcalloc(*depth + 1, sizeof(*path));
	for (size_t at = node, i = *depth; at; at = path[i]->parent)
		path[--i] = sp_diff_node(comparison->diff, at);
	return path;
}
