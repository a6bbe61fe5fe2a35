/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options_help.h"

#include <string.h>

/* Column where options' descriptions begin. They are wrapped at LINE_END. */
#define HELP_COLUMN 30
#define LINE_END 80

/* Tables of up to this many options are printed completely, rare options included. */
#define SHORT_MAX 25

static bool is_end(const struct option *option)
{
	return !option->help;
}

static bool is_group(const struct option *option)
{
	return !option->letter && !option->name;
}

/*
 * Writes the description, wrapped to lines that begin at HELP_COLUMN. `column`: end of the option's
 * names.
 */
static void put_description(FILE *out, size_t column, const char *help)
{
	bool fits = column + 2 <= HELP_COLUMN;
	size_t at = fits ? column : LINE_END;
	size_t blanks = fits ? HELP_COLUMN - column : 1;
	for (;;) {
		help += strspn(help, " \n");
		size_t size = strcspn(help, " \n");
		if (!size)
			break;
		if (at + blanks + size > LINE_END) {
			fputc('\n', out);
			at = 0;
			blanks = HELP_COLUMN;
		}
		fprintf(out, "%*s%.*s", (int)blanks, "", (int)size, help);
		at += blanks + size;
		blanks = 1;
		help += size;
	}
	fputc('\n', out);
}

static void put_option(FILE *out, const struct option *option)
{
	char title[160], letter[5] = "    ";
	size_t used = 0;
	if (option->letter)
		snprintf(letter, sizeof(letter), "-%c%s", option->letter, option->name ? ", " : "");
	used = (size_t)snprintf(title, sizeof(title), "  %s", letter);
	if (option->name)
		used += (size_t)snprintf(title + used, sizeof(title) - used, "--%s%s",
					 option->both ? "[no-]" : "", option->name);
	if (option->argument)
		used += (size_t)snprintf(title + used, sizeof(title) - used,
					 option->attached ? "[=%s]" :
					 option->optional ? " [%s]" : " %s", option->argument);
	fputs(title, out);
	put_description(out, used, option->help);
}

/* Returns whether --help omits rare options. *count_ret: number of options that --help shows. */
static bool is_shortened(const struct option_usage *usage, size_t *count_ret)
{
	size_t rare = 0;
	*count_ret = 1;
	for (const struct option *option = usage->options; !is_end(option); option++) {
		*count_ret += !is_group(option);
		rare += option->rare;
	}
	return rare && *count_ret > SHORT_MAX;
}

/* Prints the options in groups. A group without a shown option gets no heading. */
static void put_options(FILE *out, const struct option *options, bool all)
{
	const struct option *group = NULL;
	if (!is_group(options))
		fputc('\n', out);
	for (const struct option *option = options; !is_end(option); option++) {
		if (is_group(option)) {
			group = option;
			continue;
		}
		if (option->rare && !all)
			continue;
		if (group)
			fprintf(out, "\n%s\n", group->help);
		group = NULL;
		put_option(out, option);
	}
}

static void put_usage(FILE *out, const struct option_usage *usage, bool all)
{
	fprintf(out, "usage: %s\n", usage->synopses[0]);
	for (size_t i = 1; all && usage->synopses[i]; i++)
		fprintf(out, "or:    %s\n", usage->synopses[i]);
	fprintf(out, "\n%s\n", usage->about);
	if (usage->example)
		fprintf(out, "Example: %s\n", usage->example);
}

void options_help(const struct option_usage *usage, bool all, FILE *out)
{
	const struct option help = {.letter = 'h', .name = "help", .help = "print this help"};
	size_t count;
	bool shortened = is_shortened(usage, &count) && !all;
	put_usage(out, usage, !shortened);
	put_options(out, usage->options, !shortened);
	put_option(out, &help);
	if (usage->footer && !shortened)
		fprintf(out, "\n%s\n", usage->footer);
	if (shortened)
		fprintf(out, "\n--help-all lists all %zu options.\n", count);
}
