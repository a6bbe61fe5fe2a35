/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cmd/common/child.h"
#include "cmd/record/program.h"
#include "command.h"
#include "diag.h"
#include "help_tasks.h"
#include "nearest.h"
#include "pager.h"
#include "perf_commands.h"

/* Commands in the order of the help. A new command needs a file in cmd/ and a line here. */
static const struct command *const commands[] = {
	&command_record,
	&command_report,
	&command_stat,
	&command_list,
	&command_info,
	&command_script,
	&command_archive,
	NULL,
};

static void help(FILE *out)
{
	fputs("usage: sprof COMMAND [ARG]...\n"
	      "or:    sprof [--] PROGRAM [ARG]... record a program, then report\n\n", out);
	for (const struct command *const *command = commands; *command; command++)
		fprintf(out, "  %-8s %s\n", (*command)->name, (*command)->summary);
	fputs("\nExample: sprof ./program\n"
	      "'sprof help COMMAND' lists options, 'sprof help TASK' commands. Tasks:\n", out);
	help_tasks_list(out);
}

/*
 * Flushes standard output if `status` is 0. Returns the exit status: 1 after a write error, such as a
 * full disk.
 */
static int finish(int status)
{
	struct pager none = {.out = stdout};
	return status ? status : pager_close(&none);
}

static int run(const struct command *command, int argc, char **argv)
{
	struct sp_ctx *ctx;
	struct sp_error *error = sp_ctx_new(&ctx);
	if (error) {
		diag_error(error);
		return EXIT_RECORDER;
	}
	int status = command->run(ctx, argc, argv);
	sp_ctx_free(ctx);
	return finish(status);
}

/*
 * Appends a word, quoted for a shell, to a command line. Returns NULL when out of memory, or if the
 * word contains a quote.
 */
static char *append_word(char *text, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_./:@%+=,-";
	const char *quote = *word && !word[strspn(word, plain)] ? "" : "'";
	char *longer = NULL;
	if (text && !strchr(word, '\'') && asprintf(&longer, "%s %s%s%s", text, quote, word, quote) < 0)
		longer = NULL;
	free(text);
	return longer;
}

static const struct command *find_command(const char *name)
{
	for (const struct command *const *command = commands; *command; command++)
		if (!strcmp(name, (*command)->name))
			return *command;
	return NULL;
}

static int reject_command(const char *word)
{
	struct nearest nearest = {.name = NULL};
	const char *remedy = perf_command_remedy(word);
	if (remedy) {
		diag_say("'%s' is a command of perf, not of sprof: %s", word, remedy);
		if (child_is_program(word))
			diag_more("To record the program %s: sprof -- %s", word, word);
		return EXIT_USAGE;
	}
	for (const struct command *const *command = commands; *command; command++)
		nearest_add(&nearest, word, strlen(word), (*command)->name);
	nearest_add(&nearest, word, strlen(word), "help");
	nearest_add(&nearest, word, strlen(word), "version");
	if (nearest.name)
		diag_say("unknown command '%s'; did you mean '%s'?", word, nearest.name);
	else
		diag_say("unknown command '%s'; see 'sprof help'", word);
	return EXIT_USAGE;
}

/* Prints an error for an option before the command's name, such as `sprof -F 99 ./prog`. */
static int reject_option(char **words)
{
	struct nearest nearest = {.name = NULL};
	char *text = strdup("sprof record");
	nearest_add(&nearest, *words, strlen(*words), "--help");
	nearest_add(&nearest, *words, strlen(*words), "--version");
	diag_say("unknown option '%s'%s%s%s", *words, nearest.name ? "; did you mean '" : "",
		 nearest.name ?: "", nearest.name ? "'?" : "");
	if (!nearest.name && words[1]) {
		for (char **word = words; *word; word++)
			text = append_word(text, *word);
		diag_more("Put options after a command: %s", text ?: "sprof record OPTION PROGRAM");
	} else if (!nearest.name) {
		diag_more("'sprof help' lists the commands.");
	}
	free(text);
	return EXIT_USAGE;
}

static bool is_one_of(const char *word, const char *a, const char *b, const char *c)
{
	return !strcmp(word, a) || !strcmp(word, b) || !strcmp(word, c);
}

int main(int argc, char **argv)
{
	char help_option[] = "--help";
	/* Messages and tables use the terminal's character set. */
	setlocale(LC_CTYPE, "");
	if (argc < 2) {
		help(stderr);
		return EXIT_USAGE;
	}
	bool asks_help = is_one_of(argv[1], "help", "--help", "-h");
	if (asks_help && argc < 3) {
		help(stdout);
		return finish(0);
	}
	if (is_one_of(argv[1], "version", "--version", "-V")) {
		puts("sprof " PACKAGE_VERSION);
#ifdef SP_STATIC
		puts("linked without shared libraries: asks no debuginfod server, and knows only\n"
		     "the users of /etc/passwd");
#endif
		return finish(0);
	}
	if (asks_help && argc > 3) {
		diag_say("'sprof help' takes one word, not '%s %s'", argv[2], argv[3]);
		return EXIT_USAGE;
	}
	if (asks_help && !find_command(argv[2]) && help_task_print(argv[2], stdout))
		return finish(0);
	if (asks_help) {
		argv[1] = argv[2];
		argv[2] = help_option;
		argc = 3;
	}
	/* After "--", any name is a program's. */
	bool is_program = !asks_help && argc > 2 && !strcmp(argv[1], "--") && argv[2][0] != '-';
	if (is_program)
		argv++;
	const struct command *command = is_program ? NULL : find_command(argv[1]);
	if (command)
		return run(command, argc - 1, argv + 1);
	if (argv[1][0] == '-')
		return reject_option(argv + 1);
	if (is_program ||
	    (!asks_help && !perf_command_remedy(argv[1]) && child_is_program(argv[1])))
		return finish(program_run(argv + 1));
	return reject_command(argv[1]);
}
