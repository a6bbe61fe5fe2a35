/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Help of a command, printed from its option table. */
#ifndef OPTIONS_HELP_H
#define OPTIONS_HELP_H

#include <stdio.h>
#include "options.h"

/*
 * Prints the usage, an example and the options in their groups. Without `all`, leaves out rare options
 * if the table has more than 25 options.
 */
void options_help(const struct option_usage *usage, bool all, FILE *out);

#endif
