/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorded_options.h"

#include <string.h>
#include <sprof/private/command.h>

/* Options by their extents, and those with an argument, which may follow as a word of its own. */
static const char other_letters[] = "atuCG", part_letters[] = "pD",
		  argument_letters[] = "ptuCGDeFcmokrj";
static const char *const other_names[] = {"all-cpus", "tid", "uid", "cpu", "cgroup", "unit"};
static const char *const part_names[] = {"pid", "duration", "delay", "overwrite"};
static const char *const argument_names[] = {
	"tid", "uid", "cpu", "cgroup", "unit", "pid", "duration", "delay", "event", "freq",
	"count", "scope", "inherit", "filter", "pfm-events", "call-graph", "unwind", "max-stack",
	"control", "clockid", "output", "max-size", "keep", "mmap-pages", "realtime",
	"off-cpu-thresh", "branch-filter", "repeat", "versus", "affinity", "mmap-flush",
	"switch-max-files", "switch-output-event", "wakeup-events", "proc-map-timeout",
};

bool recorded_has_name(const char *const *names, size_t count, const char *name)
{
	size_t size = strcspn(name, "=");
	for (size_t i = 0; i < count && size >= 3; i++)
		if (!strncmp(names[i], name, size))
			return true;
	return false;
}

size_t recorded_option(const char *word, enum recorded_extent *extent_ret)
{
	const char *name = word + 2;
	*extent_ret = RECORDED_RUN;
	/* These names, of options with at most an attached argument, begin those of others. */
	if (*word != '-' || !strcmp(word, "--off-cpu") || !strcmp(word, "--switch-output"))
		return 1;
	if (word[1] == '-') {
		if (RECORDED_HAS_NAME(other_names, name))
			*extent_ret = RECORDED_OTHERS;
		else if (RECORDED_HAS_NAME(part_names, name))
			*extent_ret = RECORDED_PART;
		return !strchr(name, '=') && RECORDED_HAS_NAME(argument_names, name) ? 2 : 1;
	}
	for (const char *letter = word + 1; *letter; letter++) {
		if (strchr(other_letters, *letter))
			*extent_ret = RECORDED_OTHERS;
		else if (strchr(part_letters, *letter) && *extent_ret == RECORDED_RUN)
			*extent_ret = RECORDED_PART;
		if (strchr(argument_letters, *letter))
			return letter[1] ? 1 : 2;
	}
	return 1;
}

enum recorded_extent recorded_extent(const char *const *words, const char *const **command_ret)
{
	enum recorded_extent all = RECORDED_RUN, extent;
	size_t at = 0, program = sp_recorded_program(words);
	*command_ret = NULL;
	while (words[at] && strcmp(words[at], "record"))
		at++;
	at += words[at] != NULL;
	while (program ? at < program : words[at] && *words[at] == '-') {
		if (!strcmp(words[at], "--"))
			break;
		size_t count = recorded_option(words[at], &extent);
		for (; count && words[at]; count--)
			at++;
		if (extent > all)
			all = extent;
	}
	if (!program)
		program = at + (words[at] && !strcmp(words[at], "--"));
	if (words[program])
		*command_ret = words + program;
	return all;
}
