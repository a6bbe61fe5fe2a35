/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of sprof record that say which files there will be, and what is said of them. */
#ifndef CMD_RECORD_FILES_H
#define CMD_RECORD_FILES_H

#include <sprof/capture.h>
#include "cmd/record/arguments.h"
#include "options.h"

/* A struct record_options *. */
option_parse_fn record_parse_switch_output, record_parse_switch_event, record_parse_keep,
	record_parse_overwrite;

/* A uint64_t *. */
option_parse_fn record_parse_max_size;

/* Says of files that got their names; how many. */
size_t record_say_files(struct sp_capture *capture, bool quiet);

/* With -v: how large files will be at most. */
void record_say_bounds(const struct sp_capture *capture, const struct record_options *options);

#endif
