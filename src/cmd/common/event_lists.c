/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/common/event_lists.h"

#include <stdlib.h>
#include "diag.h"

void event_lists_deinit(struct event_lists *lists)
{
	free(lists->items);
	*lists = (struct event_lists){0};
}

bool event_lists_parse(const struct option *option, const char *text)
{
	struct event_lists *lists = option->value;
	*list_push(lists) = (struct sp_event_list){.events = text};
	return true;
}

bool event_lists_parse_pfm(const struct option *option, const char *text)
{
	struct event_lists *lists = option->value;
	*list_push(lists) = (struct sp_event_list){.events = text, .pfm = true};
	return true;
}

/* Parses --filter, which applies to the -e before it. */
bool event_lists_parse_filter(const struct option *option, const char *text)
{
	struct event_lists *lists = option->value;
	if (!lists->count) {
		diag_print("--filter must follow the -e of its events");
		return false;
	}
	struct sp_event_list *list = &lists->items[lists->count - 1];
	if (list->filter) {
		diag_print("--filter: -e %s has one already (join them by &&)", list->events);
		return false;
	}
	list->filter = text;
	return true;
}
