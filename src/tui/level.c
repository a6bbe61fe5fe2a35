/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/level.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "memory.h"
#include "out/time_line.h"
#include "text.h"

struct report *level_report(const struct level *level)
{
	return report_result_report(level->result);
}

void level_tree_deinit(struct level_tree *tree)
{
	report_result_free(tree->result);
	option_strings_deinit(&tree->comms);
	free(tree->pool);
	free(tree->function);
	*tree = (struct level_tree){0};
}

void level_free(struct level *level)
{
	if (!level)
		return;
	row_view_deinit(&level->rows);
	row_order_deinit(&level->order);
	for (size_t i = 0; i < LEVEL_TREES; i++)
		level_tree_deinit(&level->trees[i]);
	for (size_t i = 0; i < LEVEL_PICTURES; i++)
		level_tree_deinit(&level->pictures[i]);
	report_result_free(level->result);
	option_strings_deinit(&level->own.comms);
	option_strings_deinit(&level->own.dsos);
	option_strings_deinit(&level->own.symbols);
	option_strings_deinit(&level->own.functions);
	option_numbers_deinit(&level->own.tids);
	option_numbers_deinit(&level->own.pids);
	free(level);
}

void level_add_comm(struct option_strings *comms, const char *name)
{
	const char *star = strchr(name, '*'), *count = star ? strstr(star, " (") : NULL;
	option_strings_push(comms, name, count ? (size_t)(count - name) : strlen(name));
}

static void use_keys(struct report_arguments *to, const struct report_arguments *from)
{
	memcpy(to->keys, from->keys, sizeof(to->keys));
	to->key_count = from->key_count;
	memcpy(to->columns, from->columns, sizeof(to->columns));
	to->column_count = from->column_count;
	to->keys_given = from->keys_given;
	to->more_keys = from->more_keys;
}

/* Sets the keys, and the mode, of a list of rows. */
static void use_list(struct level *level, enum level_list list)
{
	static const struct {
		int mode; /* -1: that of the level before */
		enum sp_key keys[3];
		size_t count;
	} lists[] = {
		[LEVEL_THREADS] = {-1, {SP_KEY_COMM, SP_KEY_TID}, 2},
		[LEVEL_PROCESSES] = {-1, {SP_KEY_PROCESS, SP_KEY_PID}, 2},
		[LEVEL_WAITS] = {SP_MODE_OFF_CPU, {SP_KEY_STATE, SP_KEY_DSO, SP_KEY_FUNCTION}, 3},
		[LEVEL_WAKERS] = {SP_MODE_WAKERS, {SP_KEY_WAKER, SP_KEY_WAKEE}, 2},
	};
	struct report_arguments *arguments = &level->arguments;
	memcpy(arguments->keys, lists[list].keys, sizeof(lists[list].keys));
	arguments->key_count = lists[list].count;
	arguments->column_count = 0;
	arguments->keys_given = true;
	arguments->more_keys = false;
	level->list = list;
	if (lists[list].mode < 0)
		return;
	arguments->mode = lists[list].mode;
	level->has_mode = true;
	/* These modes merge the events into one profile. */
	level->profile = 0;
}

struct level *level_new(const struct level *before, const struct level *first,
			const struct level_change *change)
{
	struct level *level = xcalloc(1, sizeof(*level));
	struct report_arguments *arguments = &level->arguments;
	struct selection *selection = &arguments->selection;
	*arguments = before->arguments;
	level->profile = before->profile;
	level->list = before->list;
	level->has_time = before->has_time;
	level->has_mode = before->has_mode;
	level->has_limit = before->has_limit;
	level->counted = level;
	if (change->comm) {
		level_add_comm(&level->own.comms, change->comm);
		selection->comms = level->own.comms;
	} else if (change->dso) {
		option_strings_push(&level->own.dsos, change->dso, strlen(change->dso));
		selection->dsos = level->own.dsos;
		level->counted = before->counted;
	} else if (change->symbol) {
		option_strings_push(&level->own.symbols, change->symbol, strlen(change->symbol));
		selection->symbols = level->own.symbols;
		level->counted = before->counted;
	} else if (change->function) {
		char *expression = text_expression(change->function);
		*list_push(&level->own.functions) = xasprintf("^%s$", expression);
		free(expression);
		selection->focus = level->own.functions;
		level->counted = before->counted;
	} else if (change->tid) {
		*list_push(&level->own.tids) = change->tid;
		selection->tids = level->own.tids;
	} else if (change->pid) {
		*list_push(&level->own.pids) = change->pid;
		selection->pids = level->own.pids;
	} else if (change->list) {
		use_list(level, change->list);
	} else if (change->time) {
		selection->times.items[0] = *change->time;
		selection->times.count = 1;
		level->has_time = true;
	} else {
		arguments->relative = !arguments->relative;
		level->counted = before->counted;
	}
	/* A thread's or process's rows are functions again. */
	if ((change->tid || change->pid) && arguments->mode == first->arguments.mode) {
		use_keys(arguments, &first->arguments);
		level->list = LEVEL_FUNCTIONS;
	}
	return level;
}

/* Sets the time of half of a level's time. */
static void use_half(const struct level *level, struct report_arguments *arguments, bool second)
{
	const struct timeline *timeline = level_report(level)->timeline;
	struct time_ranges *times = &arguments->selection.times;
	struct time_range *range = &times->items[0];
	arguments->relative = true;
	if (!times->count && timeline)
		*range = (struct time_range){.has_end = true,
					     .begin.ns = timeline->first_ns,
					     .end.ns = timeline->last_ns};
	else if (!times->count)
		*range = (struct time_range){
			.percent = true, .from = second ? 0.5 : 0, .to = second ? 1 : 0.5};
	times->count = 1;
	if (range->percent)
		return;
	uint64_t middle_ns = range->begin.ns + (range->end.ns - range->begin.ns) / 2;
	if (second)
		range->begin.ns = middle_ns + 1;
	else
		range->end.ns = middle_ns;
}

void level_set_picture(struct level *level, enum level_picture picture, const char *function)
{
	struct level_tree *tree = &level->pictures[picture];
	bool callers = picture == LEVEL_CALLERS || picture == LEVEL_FUNCTION_CALLERS;
	level_tree_deinit(tree);
	tree->arguments = level->arguments;
	tree->arguments.tree = callers ? SP_TREE_CALLEE : SP_TREE_CALLER;
	tree->arguments.timeline = picture == LEVEL_TIMELINE;
	tree->arguments.limit = 0;
	if (picture >= LEVEL_FIRST_HALF) {
		tree->arguments.tree = SP_TREE_NONE;
		use_half(level, &tree->arguments, picture == LEVEL_SECOND_HALF);
		return;
	}
	tree->arguments.tree_only = true;
	if (picture != LEVEL_FUNCTION_CALLEES && picture != LEVEL_FUNCTION_CALLERS)
		return;
	tree->function = xstrdup(function);
	tree->arguments.callers = callers ? tree->function : NULL;
	tree->arguments.callees = callers ? NULL : tree->function;
}

const struct sp_profile *level_profile(const struct level *level)
{
	return level_report(level)->profiles[level->profile];
}

const struct sp_profile *level_same_profile(const struct level *level,
					    struct report_result *result)
{
	const struct report *report = report_result_report(result);
	size_t index = report_find_event(report, level_profile(level)->event);
	return index < report->profile_count ? report->profiles[index] : NULL;
}

/* Writes a word for a shell, without characters that are unsafe on a terminal. */
static void write_word(const char *word, FILE *out)
{
	bool quoted = !text_is_bare(word);
	fputs(quoted ? " '" : " ", out);
	for (const char *at = word; *at;) {
		char piece[TEXT_PIECE];
		size_t size;
		if (*at == '\'') {
			fputs("'\\''", out);
			at++;
			continue;
		}
		const char *text = text_piece(&at, text_form_shown(), piece, &size);
		fwrite(text, 1, size, out);
		if (!size)
			break;
	}
	fputs(quoted ? "'" : "", out);
}

/* An option of the command line that a level may replace. */
struct replaced {
	char letter;
	const char *name; /* long name */
	bool argument;
};

/* Returns how many words from `words` on are this option; 0: they are another one. */
static size_t option_words(char *const *words, size_t count, const struct replaced *option)
{
	const char *word = words[0];
	size_t size = strcspn(word, "=");
	if (option->letter && word[0] == '-' && word[1] == option->letter)
		return word[2] || !option->argument || count == 1 ? 1 : 2;
	if (strncmp(word, "--", 2) != 0 || size < 4 ||
	    strncmp(word + 2, option->name, size - 2) != 0)
		return 0;
	return word[size] || !option->argument || count == 1 ? 1 : 2;
}

/* Writes the options of the command line, except the replaced ones, and those that only the browser
 * has. */
static void write_options(const struct level *level, const struct replaced *replaced, FILE *out)
{
	const struct report_arguments *arguments = &level->arguments;
	size_t count = arguments->option_word_count;
	for (size_t i = 0; i < count;) {
		char *const *words = arguments->option_words + i;
		size_t skipped = 0;
		for (const struct replaced *option = replaced; option->name && !skipped; option++)
			skipped = option_words(words, count - i, option);
		if (!skipped)
			write_word(words[0], out);
		i += skipped ? skipped : 1;
	}
}

static void write_strings(const char *option, const struct option_strings *strings, FILE *out)
{
	for (size_t i = 0; i < strings->count; i++) {
		fprintf(out, " %s", option);
		write_word(strings->items[i], out);
	}
}

/* Returns whether several events have rows, so that the shown one has to be named. */
static bool needs_event(const struct report *report)
{
	size_t count = 0;
	for (size_t i = 0; i < report->profile_count; i++)
		count += report->profiles[i]->row_count > 0;
	return count > 1;
}

/* Writes the options for the call tree of the selected row, if that is open. */
static void write_selected(const struct level *level, bool by_total, FILE *out)
{
	const struct row_view_line *line = row_view_selected(&level->rows);
	const char *name = line ? row_view_function(line->cells->row) : NULL;
	if (!name || (!line->node && !line->open))
		return;
	fputs(by_total ? " -g caller --callees" : " -g callee -S", out);
	write_word(name, out);
}

static void write_numbers(const char *option, const struct option_numbers *numbers, FILE *out)
{
	for (size_t i = 0; i < numbers->count; i++)
		fprintf(out, "%s%d", i ? "," : option, numbers->items[i]);
}

/* Writes the time that a level set: one range, in the form that --time takes. */
static void write_time(const struct time_range *time, FILE *out)
{
	static const uint64_t second = 1000000000;
	const char *sign = time->begin.kind == MOMENT_OFFSET ? "+" : "";
	fprintf(out, " --time %s%" PRIu64 ".%09" PRIu64 ",%s%" PRIu64 ".%09" PRIu64, sign,
		time->begin.ns / second, time->begin.ns % second, sign, time->end.ns / second,
		time->end.ns % second);
}

/* Writes the options for a picture's call tree. */
static void write_tree(enum level_picture picture, const char *function, FILE *out)
{
	bool callers = picture == LEVEL_CALLERS || picture == LEVEL_FUNCTION_CALLERS;
	fputs(callers ? " -g callee" : " -g caller", out);
	if (picture < LEVEL_FUNCTION_CALLEES)
		return;
	fputs(callers ? " --callers" : " --callees", out);
	write_word(function, out);
}

void level_write_command(const struct level *level, enum level_picture picture,
			 const char *function, FILE *out)
{
	const struct report_arguments *arguments = &level->arguments;
	const struct selection *selection = &arguments->selection;
	const struct report *report = level_report(level);
	bool by_total = report_by_total(report), event = needs_event(report);
	/* The first level's options stand as they are, unless a level replaces them. */
	struct replaced replaced[20] = {
		{0, "tui", false},	   {0, "stdio", false},	    {0, "children", false},
		{0, "no-children", false}, {0, "percentage", true}, {'c', "comms", true},
		{'d', "dsos", true},	   {'S', "symbols", true},  {0, "focus", true},
		{0, "pid", true},	   {0, "tid", true},
	};
	struct replaced *next = replaced + 11;
	if (event)
		*next++ = (struct replaced){'e', "events", true};
	if (level->list)
		*next++ = (struct replaced){'s', "sort", true};
	if (level->has_time)
		*next++ = (struct replaced){0, "time", true};
	if (level->has_mode) {
		*next++ = (struct replaced){0, "mode", true};
		*next++ = (struct replaced){0, "latency", false};
	}
	if (level->has_limit)
		*next++ = (struct replaced){0, "percent-limit", true};
	fputs("sprof report", out);
	write_options(level, replaced, out);
	if (report->children && by_total)
		fputs(" --children", out);
	else if (report->children && arguments->mode != SP_MODE_CPU)
		fputs(" --no-children", out);
	if (arguments->relative)
		fputs(" --percentage relative", out);
	write_strings("-c", &selection->comms, out);
	write_strings("-d", &selection->dsos, out);
	write_strings("-S", &selection->symbols, out);
	write_strings("--focus", &selection->focus, out);
	write_numbers(" --pid ", &selection->pids, out);
	write_numbers(" --tid ", &selection->tids, out);
	if (level->has_time)
		write_time(&selection->times.items[0], out);
	if (level->has_mode)
		fprintf(out, " --mode %s", sp_mode_name((enum sp_mode)arguments->mode));
	if (event) {
		fputs(" -e", out);
		write_word(level_profile(level)->event, out);
	}
	for (size_t i = 0; level->list && i < arguments->key_count; i++)
		fprintf(out, "%s%s", i ? "," : " -s ", sp_key_name(arguments->keys[i]));
	if (level->has_limit)
		fprintf(out, " --percent-limit %g", 100 * arguments->limit);
	if (picture == LEVEL_PICTURES)
		write_selected(level, by_total, out);
	else
		write_tree(picture, function, out);
	for (size_t i = 0; i < selection->operand_count; i++)
		write_word(selection->operands[i], out);
	if (*level->search && picture == LEVEL_PICTURES) {
		fputs(" | grep -iFe", out);
		write_word(level->search, out);
	}
}
