/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code of the function at the cursor: the text of `sprof annotate`. As there, a first analysis
 * finds the function among all, and a second one its instructions.
 */
#include "memory.h"
#include "tui/browse_state.h"

#include <stdlib.h>
#include <string.h>

/* A wanted function, and its code. */
struct wanted_code {
	const struct browse_source *source;
	struct annotate_request request;
	struct browse_place place;
	const char *event;
	struct sp_analysis *functions;
	struct annotate_code code;
};

/* Returns the number of the event's profile, or else of that with the most samples. */
static size_t choose_profile(const struct sp_analysis *analysis, const char *event)
{
	size_t best = 0;
	uint64_t most = 0;
	for (size_t i = 0; i < sp_analysis_profile_count(analysis); i++) {
		const struct sp_profile *profile = sp_analysis_profile(analysis, i);
		if (!strcmp(profile->event, event) && profile->row_count)
			return i;
		if (!profile->row_count || profile->shown_samples < most)
			continue;
		most = profile->shown_samples;
		best = i;
	}
	return best;
}

/* Finds the functions of a name, or those that it is inlined into. */
static struct sp_error *find_functions(const struct wanted_code *wanted, const char *name,
				       bool inlined, struct sp_analysis **ret)
{
	static const enum sp_key keys[] = {SP_KEY_DSO, SP_KEY_SYMBOL, SP_KEY_FUNCTION};
	const struct browse_source *source = wanted->source;
	const struct sp_analysis_rows rows = {
		.size = sizeof(rows), .keys = keys, .key_count = inlined ? 3 : 2};
	return annotate_analyse(&wanted->request, source->ctx, source->recordings, name, &rows,
				ANNOTATE_UNFOLDED, ret);
}

/* Returns the hottest row, of a dso if that has one; NULL: there is none. */
static const struct sp_row *hottest_row(const struct sp_profile *profile, const char *dso)
{
	for (size_t i = 0; dso && i < profile->row_count; i++)
		if (!strcmp(sp_profile_row(profile, i)->dso, dso))
			return sp_profile_row(profile, i);
	return profile->row_count ? sp_profile_row(profile, 0) : NULL;
}

static struct sp_error *make_code(void *data)
{
	struct wanted_code *wanted = data;
	const struct browse_source *source = wanted->source;
	const struct sp_row *row = NULL;
	struct sp_analysis *containing = NULL;
	const char *name = wanted->place.function;
	struct sp_error *error = NULL;
	if (wanted->place.inlined) {
		error = find_functions(wanted, name, true, &containing);
		size_t index = error ? 0 : choose_profile(containing, wanted->event);
		row = error ? NULL
			    : hottest_row(sp_analysis_profile(containing, index),
					  wanted->place.dso);
		name = row ? row->symbol : name;
	}
	if (!error)
		error = find_functions(wanted, name, false, &wanted->functions);
	sp_analysis_free(containing);
	if (error)
		return error;
	size_t index = choose_profile(wanted->functions, wanted->event);
	row = hottest_row(sp_analysis_profile(wanted->functions, index), wanted->place.dso);
	if (row)
		error = annotate_code_make(&wanted->request, source->ctx, source->recordings, row,
					   index, &wanted->code);
	return error;
}

static int compare_lines(const void *a, const void *b)
{
	const struct browse_line *x = a, *y = b;
	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

/* Writes the text, and finds its hot lines. */
static void write_code(struct browse *browse, FILE *out)
{
	struct annotated *annotated = &browse->code.annotated;
	const struct sp_annotation *annotation = annotated->annotation;
	size_t count = sp_annotation_count(annotation), line = 0;
	long at = 0;
	annotated->term = screen_term(browse->screen);
	annotated->offsets = xcalloc(count + 1, sizeof(*annotated->offsets));
	annotate_write_text(annotated, out);
	/* The text is complete after that. */
	fflush(out);
	for (size_t i = 0; i < count; i++) {
		const struct sp_row *row = sp_annotation_code(annotation, i)->row;
		for (; at < annotated->offsets[i]; at++)
			line += browse->text.text[at] == '\n';
		if (row)
			*list_push(&browse->text.hot) =
				(struct browse_line){line, row->self.weight};
	}
	if (browse->text.hot.count)
		qsort(browse->text.hot.items, browse->text.hot.count,
		      sizeof(*browse->text.hot.items), compare_lines);
	free(annotated->offsets);
	annotated->offsets = NULL;
}

void browse_open_code(struct browse *browse)
{
	const struct level *level = browse_current(browse);
	struct wanted_code wanted = {
		.source = browse->source,
		.request = {.selection = &level->arguments.selection,
			    .names = browse->source->names,
			    .source = true},
		.place = browse_place(browse),
		.event = level_profile(level)->event,
	};
	if (!wanted.place.function) {
		browse_note(browse, "there is no function at the cursor");
		return;
	}
	browse_drop_counts(browse);
	bool done = browse_run_job(browse, &level->arguments, make_code, &wanted);
	if (done && !wanted.code.annotation)
		browse_note(browse, "%s has no samples of its own; Enter shows its callees",
			    wanted.place.function);
	if (!wanted.code.annotation) {
		annotate_code_deinit(&wanted.code);
		sp_analysis_free(wanted.functions);
		return;
	}
	annotate_code_deinit(&browse->code);
	sp_analysis_free(browse->functions);
	browse->code = wanted.code;
	/* It pointed into the job's copy. */
	if (browse->code.annotated.sources)
		browse->code.annotated.sources = &browse->code.sources;
	browse->functions = wanted.functions;
	/* NULL would mean that the table has no row of it. */
	browse->code.annotated.reported = browse->code.annotated.function;
	browse_show_text(browse, "code; Tab shows the next hottest instruction", write_code);
}
