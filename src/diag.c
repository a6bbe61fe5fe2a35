/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages contain names that programs chose, and appear on a terminal, at once or later from a log.
 * They are therefore written without control characters, which could be terminal escapes.
 */
#include "diag.h"

#include <linux/capability.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include "term.h"
#include "text.h"

/* Width of "sprof: ", and of the blanks in its place. */
#define INDENT "       "
#define INDENT_WIDTH 7

static void put_line(const char *begin, const char *text)
{
	const struct term term = term_of_stderr();
	fputs(begin, stderr);
	if (term.width) {
		term_wrap(&term, text, INDENT_WIDTH, INDENT_WIDTH, 0, stderr);
		return;
	}
	text_write(text, text_form_shown(), stderr);
	fputc('\n', stderr);
}

__attribute__((format(printf, 2, 0)))
static void put_format(const char *begin, const char *format, va_list args)
{
	char *text;
	if (vasprintf(&text, format, args) < 0) {
		put_line(begin, "out of memory");
		return;
	}
	put_line(begin, text);
	free(text);
}

void diag_print(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	put_format("sprof: ", format, args);
	va_end(args);
}

void diag_more(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	put_format(INDENT, format, args);
	va_end(args);
}

unsigned long long diag_proc_number(const char *path, const char *begin, int base)
{
	char line[256];
	unsigned long long number = 0;
	FILE *file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, begin, strlen(begin)))
			number = strtoull(line + strlen(begin), NULL, base);
	if (file)
		fclose(file);
	return number;
}

/* Returns whether a set of capabilities of this process permits to raise hard limits. */
static bool has_resource_right(const char *set)
{
	return diag_proc_number("/proc/self/status", set, 16) >> CAP_SYS_RESOURCE & 1;
}

/* Prints the limit that memory was short for, and the command that removes it. */
static void explain_memory(void)
{
	static const struct {
		__rlimit_resource_t resource;
		const char *what, *letter, *name, *used; /* letter of ulimit, name of prlimit */
	} limits[] = {
		{RLIMIT_AS, "address space", "v", "as", "VmPeak:"},
		{RLIMIT_DATA, "private memory", "d", "data", "VmData:"},
	};
	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
		struct rlimit limit;
		char remedy[128];
		if (getrlimit(limits[i].resource, &limit) || limit.rlim_cur == RLIM_INFINITY)
			continue;
		if (limit.rlim_max == RLIM_INFINITY)
			snprintf(remedy, sizeof(remedy), "ulimit -S%s unlimited", limits[i].letter);
		else if (has_resource_right("CapEff:"))
			snprintf(remedy, sizeof(remedy), "ulimit -%s unlimited", limits[i].letter);
		else if (has_resource_right("CapBnd:"))
			snprintf(remedy, sizeof(remedy), "sudo prlimit --pid $$ --%s=unlimited",
				 limits[i].name);
		else
			snprintf(remedy, sizeof(remedy), "start this shell or container without it "
				 "(CAP_SYS_RESOURCE is missing here)");
		diag_more("the %s is limited to %llu KiB (ulimit -%s), and %llu KiB were used",
			  limits[i].what, (unsigned long long)limit.rlim_cur / 1024,
			  limits[i].letter,
			  diag_proc_number("/proc/self/status", limits[i].used, 10));
		diag_more("to remove this limit: %s", remedy);
	}
	if (diag_proc_number("/proc/sys/vm/overcommit_memory", "", 10) == 2)
		diag_more("to use more than the machine's memory: "
			  "sudo sysctl vm.overcommit_memory=0");
}

void diag_no_memory(void)
{
	put_line("sprof: ", "out of memory");
	explain_memory();
}

void diag_error(struct sp_error *error)
{
	if (!error)
		return;
	put_line("sprof: ", sp_error_message(error));
	if (sp_error_remedy(error))
		put_line(INDENT, sp_error_remedy(error));
	else if (sp_error_code(error) == SP_ERROR_NO_MEMORY)
		explain_memory();
	sp_error_free(error);
}

void diag_log(void *arg, enum sp_log_level level, const char *line)
{
	(void)arg;
	(void)level;
	diag_print("%s", line);
}
