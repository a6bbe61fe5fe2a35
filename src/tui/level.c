/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/level.h"

#include <stdlib.h>
#include <string.h>
#include "text.h"

void level_tree_deinit(struct level_tree *tree)
{
	report_result_free(tree->result);
	option_strings_deinit(&tree->comms);
	free(tree->comm);
	free(tree->function);
	*tree = (struct level_tree){0};
}

void level_free(struct level *level)
{
	if (!level)
		return;
	row_view_deinit(&level->rows);
	for (size_t i = 0; i < LEVEL_TREES; i++)
		level_tree_deinit(&level->trees[i]);
	report_result_free(level->result);
	option_strings_deinit(&level->own.comms);
	option_strings_deinit(&level->own.dsos);
	option_numbers_deinit(&level->own.tids);
	free(level);
}

bool level_add_comm(struct option_strings *comms, const char *name)
{
	const char *star = strchr(name, '*'), *count = star ? strstr(star, " (") : NULL;
	return option_strings_push(comms, name, count ? (size_t)(count - name) : strlen(name));
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

struct level *level_new(const struct level *before, const struct level *first,
			const struct level_change *change)
{
	struct level *level = calloc(1, sizeof(*level));
	bool done = true;
	if (!level)
		return NULL;
	struct report_arguments *arguments = &level->arguments;
	*arguments = before->arguments;
	level->profile = before->profile;
	if (change->comm) {
		done = level_add_comm(&level->own.comms, change->comm);
		arguments->selection.comms = level->own.comms;
	}
	if (change->dso) {
		done = option_strings_push(&level->own.dsos, change->dso, strlen(change->dso));
		arguments->selection.dsos = level->own.dsos;
	}
	if (change->tid) {
		int32_t *tid = list_push(&level->own.tids);
		done = tid;
		if (tid)
			*tid = change->tid;
		arguments->selection.tids = level->own.tids;
		use_keys(arguments, &first->arguments);
	}
	if (change->threads) {
		arguments->keys[0] = SP_KEY_COMM;
		arguments->keys[1] = SP_KEY_TID;
		arguments->key_count = 2;
		arguments->column_count = 0;
		arguments->keys_given = true;
		arguments->more_keys = false;
	}
	if (change->percentage)
		arguments->relative = !arguments->relative;
	if (done)
		return level;
	level_free(level);
	return NULL;
}

struct report *level_report(const struct level *level)
{
	return report_result_report(level->result);
}

const struct sp_profile *level_profile(const struct level *level)
{
	return level_report(level)->profiles[level->profile];
}

/* Writes a word for a shell, without characters that are unsafe on a terminal. */
static void write_word(const char *word, FILE *out)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_./:@%+=,-";
	bool quoted = !*word || word[strspn(word, plain)];
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

void level_write_command(const struct level *level, FILE *out)
{
	const struct report_arguments *arguments = &level->arguments;
	const struct selection *selection = &arguments->selection;
	const struct report *report = level_report(level);
	bool by_total = report_by_total(report), event = needs_event(report);
	struct replaced replaced[12] = {
		{0, "tui", false},	   {0, "stdio", false},	    {0, "children", false},
		{0, "no-children", false}, {0, "percentage", true},
	};
	struct replaced *next = replaced + 5;
	/* The first level's options stand as they are. */
	bool threads = arguments->key_count == 2 && arguments->keys[1] == SP_KEY_TID;
	*next++ = (struct replaced){'c', "comms", true};
	*next++ = (struct replaced){'d', "dsos", true};
	*next++ = (struct replaced){0, "tid", true};
	if (event)
		*next++ = (struct replaced){'e', "events", true};
	if (threads)
		*next++ = (struct replaced){'s', "sort", true};
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
	for (size_t i = 0; i < selection->tids.count; i++)
		fprintf(out, "%s%d", i ? "," : " --tid ", selection->tids.items[i]);
	if (event) {
		fputs(" -e", out);
		write_word(level_profile(level)->event, out);
	}
	if (threads)
		fputs(" -s comm,tid", out);
	write_selected(level, by_total, out);
	for (size_t i = 0; i < selection->operand_count; i++)
		write_word(selection->operands[i], out);
	if (*level->search) {
		fputs(" | grep -iF", out);
		write_word(level->search, out);
	}
}
