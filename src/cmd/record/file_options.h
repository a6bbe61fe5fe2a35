/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parsers for options of `sprof record` about output files, and messages about these files. */
#ifndef CMD_RECORD_FILE_OPTIONS_H
#define CMD_RECORD_FILE_OPTIONS_H

#include <sprof/capture.h>
#include "cmd/record/record_arguments.h"
#include "options.h"

/* option->value: struct record_options *. */
option_parse_fn record_parse_switch_output, record_parse_switch_event, record_parse_overwrite;

/* option->value: uint64_t *. */
option_parse_fn record_parse_max_size;

/* Prints a complete output file. */
void record_print_file(const struct sp_capture_file *file);

/* Prints the largest size of a dump of --overwrite; without it, nothing. */
void record_print_dump_size(struct sp_capture *capture);

/* Prints the size limit of the output files, for -v. */
void record_print_size_limit(const struct sp_capture *capture, const struct record_options *options);

#endif
