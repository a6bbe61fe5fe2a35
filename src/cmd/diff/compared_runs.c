/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the runs of a comparison, and finds what differs between them besides the program. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "cmd/common/recordings.h"
#include "cmd/diff/comparison.h"
#include "diag.h"
#include "input.h"
#include "memory.h"
#include "progress.h"
#include "recorded_options.h"
#include "text.h"

/* Part of the samples that may be lost without a note. */
#define LOST_LIMIT 0.01

/* -- Commands -------------------------------------------------------------- */

/* Returns the words joined by blanks, for the caller to free. */
static char *join_words(const char *const *words)
{
	size_t size = 1;
	for (size_t i = 0; words[i]; i++)
		size += strlen(words[i]) + 1;
	char *text = xcalloc(size, 1), *end = text;
	for (size_t i = 0; words[i]; i++)
		end = stpcpy(stpcpy(end, i ? " " : ""), words[i]);
	return text;
}

/* Options of `record` that are of one recording or comparison. */
static const char *const single_names[] = {"output", "repeat", "versus", "quiet"};

/*
 * Returns sprof's options of the recording, without those of one recording, quoted for a shell;
 * NULL if there are none, or if another program made it. `command` ends them.
 */
static char *quote_options(const char *const *words, const char *const *command)
{
	if (!words[0] || strcmp(text_base_name(words[0]), "sprof") || !words[1])
		return NULL;
	char *text = xstrdup("");
	for (const char *const *word = words + 2; word < command && strcmp(*word, "--");) {
		enum recorded_extent extent;
		size_t count = recorded_option(*word, &extent);
		bool single = !strncmp(*word, "-o", 2) || !strncmp(*word, "-q", 2) ||
			      (!strncmp(*word, "--", 2) &&
			       RECORDED_HAS_NAME(single_names, *word + 2));
		for (; count && word < command; count--, word++)
			if (!single)
				text = text_append_word(text, *word);
	}
	return text;
}

static char *quote_command(const char *const *words)
{
	char *text = xstrdup("");
	for (; *words; words++)
		text = text_append_word(text, *words);
	return text;
}

/* -- Reading ---------------------------------------------------------------- */

static char *copy_text(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

/* Sets what the header states. */
static void describe_run(struct diff_run *run, const struct sp_reader *reader,
			 const struct sp_event *event)
{
	const struct sp_file_info *info = sp_reader_info(reader);
	const char *const *command = NULL;
	if (info->cmdline && recorded_extent(info->cmdline, &command) != RECORDED_RUN)
		command = NULL;
	run->path = copy_text(info->path);
	run->cpu = copy_text(info->cpudesc);
	run->event = copy_text(event->name);
	run->command = command ? join_words(command) : NULL;
	run->again = command ? quote_command(command) : NULL;
	run->options = command ? quote_options(info->cmdline, command) : NULL;
	run->is_part = info->cmdline && !command;
	if (info->has_clock && info->first_sample_ns)
		run->started_ns = info->clock_wall_ns + info->first_sample_ns - info->clock_ns;
	if (event->attr.freq)
		run->frequency = event->attr.sample_freq;
	else
		run->period = event->attr.sample_period;
}

/*
 * Returns the number of the profile to compare: that of the first name of -e that the recording
 * has; without -e, the first with samples.
 */
static size_t choose_profile(const struct comparison *comparison,
			     const struct sp_analysis *analysis)
{
	const struct option_strings *names = &comparison->arguments->selection.events;
	size_t count = sp_analysis_profile_count(analysis);
	bool named = names->count && comparison->arguments->mode == SP_MODE_CPU;
	for (size_t j = 0; named && j < names->count; j++)
		for (size_t i = 0; i < count; i++)
			if (sp_event_matches(sp_analysis_event(analysis, i), names->items[j]))
				return i;
	for (size_t i = 0; !named && i < count; i++)
		if (sp_analysis_profile(analysis, i)->samples)
			return i;
	return named ? count : 0;
}

/* Adds a note with the events that are not compared, if there are any. */
static void note_other_events(struct comparison *comparison, const struct sp_analysis *analysis,
			      size_t chosen)
{
	char *text;
	size_t size;
	FILE *list = text_stream_open(&text, &size);
	for (size_t i = 0, count = 0; i < sp_analysis_profile_count(analysis); i++)
		if (i != chosen && sp_analysis_profile(analysis, i)->samples &&
		    !event_is_of_switches(sp_analysis_event(analysis, i)->name))
			fprintf(list, "%s%s", count++ ? ", " : "",
				sp_analysis_event(analysis, i)->name);
	text_stream_close(list, &text);
	const char *name = sp_analysis_event(analysis, chosen)->name;
	if (event_is_of_switches(name))
		comparison_note(comparison, "samples of %s end in the scheduler; --mode off-cpu "
				"compares the functions that wait", name);
	else if (size)
		comparison_note(comparison,
				"%s is compared; the recordings have other events, too, which -e "
				"compares: %s",
				name, text);
	free(text);
}

/*
 * Returns the exact CPU time of a run of `record --repeat`, which runs.json in its folder has on
 * the line of that file; 0: unknown.
 */
static uint64_t counted_time(const char *path)
{
	static const char key[] = "\"task_clock_ns\": ";
	const char *name = text_base_name(path);
	char *runs = xasprintf("%.*sruns.json", (int)(name - path), path);
	char *entry = xasprintf("\"file\": \"%s\"", name), *line = NULL;
	size_t capacity = 0;
	uint64_t time_ns = 0;
	FILE *file = fopen(runs, "re");
	while (file && getline(&line, &capacity, file) > 0) {
		const char *value = strstr(line, entry) ? strstr(line, key) : NULL;
		if (value)
			time_ns = strtoull(value + strlen(key), NULL, 10);
	}
	if (file)
		fclose(file);
	free(line);
	free(entry);
	free(runs);
	return time_ns;
}

static struct sp_error *analyse(const struct comparison *comparison, struct sp_ctx *ctx,
				struct sp_reader *reader, struct sp_names *names,
				const struct sp_time_span *times, size_t time_count,
				struct sp_analysis **ret)
{
	const struct diff_arguments *arguments = comparison->arguments;
	const struct sp_recording recording = {.times = times, .time_count = time_count};
	bool lines = false;
	for (size_t i = 0; i < arguments->key_count; i++)
		lines |= arguments->keys[i] != SP_KEY_SYMBOL && arguments->keys[i] != SP_KEY_DSO;
	const struct sp_analysis_rows rows = {
		.size = sizeof(rows),
		.keys = arguments->keys,
		.key_count = arguments->key_count,
		.pools = true,
	};
	const struct sp_analysis_tree tree = {.size = sizeof(tree), .order = SP_TREE_CALLER};
	const struct sp_analysis_stacks stacks = {
		.size = sizeof(stacks),
		.inlines = lines ? SP_ON : SP_OFF,
		.fold_python = true,
	};
	const struct sp_analysis_samples samples = {
		.size = sizeof(samples),
		.mode = (enum sp_mode)arguments->mode,
	};
	const struct sp_filter filter = input_options_filter(&arguments->selection, &recording);
	const struct sp_files files = input_options_files(&arguments->selection);
	const struct sp_analysis_options options = {
		.size = sizeof(options),
		.rows = &rows,
		.tree = &tree,
		.stacks = &stacks,
		.samples = &samples,
		.filter = &filter,
		.files = &files,
		.threads = (unsigned int)arguments->selection.jobs,
		.names = names,
	};
	return sp_analysis_run(ctx, reader, &options, ret);
}

/* Returns whether the other side has the same recording: another part of it. */
static bool is_on_both_sides(const struct diff_arguments *arguments, enum sp_diff_side side,
			     const char *path)
{
	const struct option_strings *others = &arguments->paths[!side];
	for (size_t i = 0; i < others->count; i++)
		if (!strcmp(others->items[i], path))
			return true;
	return false;
}

/* Returns whether the profile's weight is the CPU time of whole runs. */
static bool counts_fit(const struct diff_arguments *arguments, const struct sp_profile *profile)
{
	const struct selection *s = &arguments->selection;
	return arguments->mode == SP_MODE_CPU && profile->weight_is_time && !s->comms.count &&
	       !arguments->time_texts[SP_DIFF_BASE] && !s->dsos.count && !s->symbols.count;
}

/* Adds one recording. Returns false after printing the error. */
static bool read_run(struct comparison *comparison, struct sp_ctx *ctx, struct sp_names *names,
		     enum sp_diff_side side, const char *path)
{
	struct diff_run *run = &comparison->runs[comparison->run_count];
	struct sp_analysis *analysis = NULL;
	struct sp_time_span times[TIME_RANGES];
	const struct time_ranges *ranges = &comparison->arguments->times[side];
	struct sp_reader *reader = input_open(ctx, path);
	if (!reader)
		return false;
	if (!time_ranges_resolve(ranges, reader, times)) {
		sp_reader_free(reader);
		return false;
	}
	struct sp_error *error =
		analyse(comparison, ctx, reader, names, times, ranges->count, &analysis);
	size_t chosen = error ? 0 : choose_profile(comparison, analysis);
	bool found = !error && chosen < sp_analysis_profile_count(analysis);
	if (found) {
		const struct sp_profile *profile = sp_analysis_profile(analysis, chosen);
		*run = (struct diff_run){
			.side = side,
			.samples = profile->samples,
			.lost = (double)profile->lost_own /
				fmax(1, (double)(profile->samples + profile->lost_own)),
			.lost_unknown = profile->lost_unknown,
		};
		describe_run(run, reader, sp_analysis_event(analysis, chosen));
		run->is_part |= ranges->count > 0;
		run->is_cut = sp_reader_damage_count(reader) || sp_reader_unfinished(reader);
		if (!comparison->run_count && comparison->arguments->mode == SP_MODE_CPU)
			note_other_events(comparison, analysis, chosen);
		comparison->run_count++;
		comparison->is_time =
			profile->weight_is_time || event_is_of_switches(run->event);
		error = sp_diff_add(comparison->diff, side, profile);
		if (!error && !is_on_both_sides(comparison->arguments, side, path))
			error = sp_diff_add_command(comparison->diff,
						    sp_reader_info(reader)->cmdline);
		if (!error && counts_fit(comparison->arguments, profile)) {
			run->counted_ns = counted_time(path);
			sp_diff_set_count(comparison->diff, (double)run->counted_ns);
		}
	} else if (!error) {
		diag_print(comparison->arguments->selection.events.count
				   ? "%s has no event of -e; 'sprof info -i FILE' lists its events"
				   : "%s has no events",
			   path);
	}
	bool done = found && !error;
	if (error)
		diag_error(error);
	input_print_damage(reader);
	sp_analysis_free(analysis);
	sp_reader_free(reader);
	return done;
}

bool diff_runs_read(struct comparison *comparison, struct sp_ctx *ctx)
{
	const struct diff_arguments *arguments = comparison->arguments;
	struct sp_names *names = NULL;
	struct progress progress;
	comparison->term = term_of_output(arguments->output, TERM_COLOUR_AUTO);
	comparison->runs = xcalloc(arguments->paths[0].count + arguments->paths[1].count,
				   sizeof(*comparison->runs));
	struct sp_error *error = sp_diff_new(&comparison->diff);
	if (!error)
		error = sp_names_new(&names);
	bool done = !error;
	diag_error(error);
	progress_begin(&progress, ctx,
		       !arguments->selection.quiet && !arguments->selection.verbose);
	for (size_t side = 0; side < 2; side++)
		for (size_t i = 0; done && i < arguments->paths[side].count; i++)
			done = read_run(comparison, ctx, names, (enum sp_diff_side)side,
					arguments->paths[side].items[i]);
	progress_end(&progress);
	sp_names_free(names);
	return done;
}

/* -- Checks ----------------------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
	const struct diff_run *x = *(struct diff_run *const *)a, *y = *(struct diff_run *const *)b;
	return (x->started_ns > y->started_ns) - (x->started_ns < y->started_ns);
}

/* Returns whether all runs of one side were recorded before those of the other. */
static bool is_blockwise(const struct comparison *comparison)
{
	size_t changes = 0;
	struct diff_run **order = xcalloc(comparison->run_count + 1, sizeof(struct diff_run *));
	bool known = comparison_runs(comparison, SP_DIFF_BASE) > 1 &&
		     comparison_runs(comparison, SP_DIFF_NEW) > 1;
	for (size_t i = 0; known && i < comparison->run_count; i++) {
		order[i] = &comparison->runs[i];
		known = order[i]->started_ns;
	}
	if (known)
		qsort(order, comparison->run_count, sizeof(*order), by_start);
	for (size_t i = 1; known && i < comparison->run_count; i++)
		changes += order[i]->side != order[i - 1]->side;
	free(order);
	return known && changes == 1;
}

/* Unknown texts do not differ. */
static bool are_known_and_differ(const char *a, const char *b)
{
	return a && b && strcmp(a, b);
}

/* Chooses between time and share, and says why it is share. */
static void choose_measure(struct comparison *comparison)
{
	const struct diff_run *part = NULL;
	for (size_t i = 0; i < comparison->run_count && !part; i++)
		part = comparison->runs[i].is_part ? &comparison->runs[i] : NULL;
	comparison->by_share = comparison->arguments->by == DIFF_BY_SHARE ||
			       (comparison->arguments->by == DIFF_BY_DEFAULT && part);
	if (comparison->by_share && part)
		comparison_note(
			comparison,
			"%s is not one whole run of a command, so shares are compared: a share "
			"changes, too, if only other functions became slower",
			comparison->arguments->time_texts[part->side] ?: part->path);
}

bool diff_runs_check(struct comparison *comparison)
{
	const struct diff_run *first = &comparison->runs[0], *lost = NULL, *rate = NULL,
			      *cpu = NULL, *either = NULL, *cut = NULL;
	for (size_t i = 0; i < comparison->run_count; i++) {
		const struct diff_run *run = &comparison->runs[i];
		if (are_known_and_differ(run->event, first->event)) {
			diag_print("%s has samples of %s, %s of %s; choose an event of both by -e, "
				   "or record %s with -e %s", first->path, first->event, run->path,
				   run->event, run->path, first->event);
			return false;
		}
		if (!run->samples) {
			char *command = input_command("sprof report", run->path);
			diag_print("%s has no samples; '%s' prints the reason", run->path,
				   command);
			free(command);
			return false;
		}
		if (run->frequency != first->frequency || run->period != first->period)
			rate = run;
		if (are_known_and_differ(run->cpu, first->cpu))
			cpu = run;
		if (run->lost > LOST_LIMIT && (!lost || run->lost > lost->lost))
			lost = run;
		if (run->is_cut && !cut)
			cut = run;
		if (run->lost_unknown && (!either || run->lost_unknown > either->lost_unknown))
			either = run;
	}
	choose_measure(comparison);
	comparison->is_counted = !comparison->by_share;
	for (size_t i = 0; i < comparison->run_count; i++)
		comparison->is_counted &= comparison->runs[i].counted_ns > 0;
	if (cpu && !comparison->by_share) {
		diag_print("%s was recorded on '%s', %s on '%s': their times do not compare; "
			   "--by share compares shares",
			   first->path, first->cpu, cpu->path, cpu->cpu);
		return false;
	}
	if (cpu)
		comparison_note(comparison, "%s was recorded on '%s', %s on '%s'", first->path,
				first->cpu, cpu->path, cpu->cpu);
	if (lost)
		comparison_note(comparison,
				"%s lost %.0f%% of its samples; its times are scaled up, as if the "
				"others stood for them; record with -m 32M",
				lost->path, 100 * lost->lost);
	if (either)
		comparison_note(comparison,
				"%s was interrupted before it noted the target's losses: up to "
				"%llu samples are missing; the intervals of rows allow for them",
				either->path, (unsigned long long)either->lost_unknown);
	if (cut)
		comparison_note(comparison,
				"%s is damaged or was not finished: its times may lack a part",
				cut->path);
	if (rate)
		comparison_note(comparison,
				"%s and %s have different sampling rates; sampling slows the "
				"program differently",
				first->path, rate->path);
	if (is_blockwise(comparison))
		comparison_note(
			comparison,
			"all runs of one side were recorded before those of the other: up to 3 of "
			"10 such "
			"comparisons of a program with itself find a change; record them in turns");
	return true;
}
