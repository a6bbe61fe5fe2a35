/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacks SCENARIO SECONDS: burns CPU time at the end of call chains that are known.
 * stacks --list: "NAME whole|honest" of each scenario; --truth SCENARIO: its chains.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "stacks.h"

static const struct scenario *const groups[] = {
	deep_scenarios,	   frame_scenarios, control_scenarios,
	jit_scenarios,	   bare_scenarios,  assembler_scenarios,
#ifndef STACKS_STATIC
	library_scenarios,
#endif
};

static uint64_t end_ns;

OWN bool is_over(void)
{
	return clock_ns(CLOCK_MONOTONIC) >= end_ns;
}

static const struct scenario *find(const char *name)
{
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		for (const struct scenario *at = groups[i]; at->name; at++)
			if (!strcmp(at->name, name))
				return at;
	fprintf(stderr, "stacks: there is no scenario '%s'\n", name);
	exit(2);
}

static int list(void)
{
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		for (const struct scenario *at = groups[i]; at->name; at++)
			printf("%s %s\n", at->name, at->honest ? "honest" : "whole");
	return 0;
}

static int truth(const struct scenario *scenario)
{
	if (scenario->print_truth)
		scenario->print_truth();
	else
		puts(scenario->truth);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--list"))
		return list();
	if (argc != 3) {
		fprintf(stderr, "usage: stacks SCENARIO SECONDS | --truth SCENARIO | --list\n");
		return 2;
	}
	if (!strcmp(argv[1], "--truth"))
		return truth(find(argv[2]));
	end_ns = clock_ns(CLOCK_MONOTONIC) + (uint64_t)(atof(argv[2]) * 1e9);
	find(argv[1])->run();
	STAY();
	return 0;
}
