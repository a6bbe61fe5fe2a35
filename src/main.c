/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include "command.h"
#include "diag.h"
#include "pager.h"

/* Adding a command is its file in cmd/ and its line here, in the order of the help. */
static const struct command *const commands[] = {
	&command_record,
	&command_report,
	&command_stat,
	&command_list,
	&command_info,
	&command_script,
	NULL,
};

static void help(FILE *out)
{
	fputs("usage: sprof COMMAND [ARG]...\n\n", out);
	for (const struct command *const *command = commands; *command; command++)
		fprintf(out, "  %-8s %s\n", (*command)->name, (*command)->summary);
	fputs("\nExample: sprof record ./program; sprof report\n"
	      "'sprof help COMMAND' lists options, 'man sprof' lists tasks.\n", out);
}

/* What stdio still holds may not fit the disk: then no status is 0. */
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

int main(int argc, char **argv)
{
	char help_option[] = "--help";
	/* Messages and tables use the terminal's character set. */
	setlocale(LC_CTYPE, "");
	if (argc < 2) {
		help(stderr);
		return EXIT_USAGE;
	}
	bool asks_help = !strcmp(argv[1], "help") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h");
	if (asks_help && argc < 3) {
		help(stdout);
		return finish(0);
	}
	if (!strcmp(argv[1], "--version")) {
		puts("sprof " PACKAGE_VERSION);
		return finish(0);
	}
	if (asks_help) {
		argv[1] = argv[2];
		argv[2] = help_option;
		argc = 3;
	}
	for (const struct command *const *command = commands; *command; command++)
		if (!strcmp(argv[1], (*command)->name))
			return run(*command, argc - 1, argv + 1);
	diag_say("there is no command '%s'; 'sprof help' lists them", argv[1]);
	return EXIT_USAGE;
}
