/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parsers of -e, --pfm-events and --filter, for record and stat. */
#ifndef CMD_COMMON_EVENT_LISTS_H
#define CMD_COMMON_EVENT_LISTS_H

#include <sprof/capture.h>
#include "options.h"

/* Events of each -e, with the --filter that follows it. Zeroed: empty. Texts point into argv. */
struct event_lists {
	LIST(struct sp_event_list);
};

void event_lists_deinit(struct event_lists *lists);

/* Parsers for options with a struct event_lists as their value. */
option_parse_fn event_lists_parse, event_lists_parse_pfm, event_lists_parse_filter;

#endif
