/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/common/event_lists.h"

#include <stdlib.h>
#include "diag.h"

void event_lists_deinit(struct event_lists *lists)
{
	free(lists->items);
	*lists = (struct event_lists){0};
}

static struct sp_event_list *add(struct event_lists *lists)
{
	struct sp_event_list *list = list_push(lists);
	if (list)
		*list = (struct sp_event_list){0};
	else
		diag_say("out of memory");
	return list;
}

bool event_lists_parse(const struct option *option, const char *text)
{
	struct sp_event_list *list = add(option->value);
	if (list)
		list->events = text;
	return list;
}

bool event_lists_parse_pfm(const struct option *option, const char *text)
{
	struct sp_event_list *list = add(option->value);
	if (list) {
		list->events = text;
		list->pfm = true;
	}
	return list;
}

/*
 * Parses --filter, which applies to the -e before it. If there are two filters, both must match, as in
 * perf.
 */
bool event_lists_parse_filter(const struct option *option, const char *text)
{
	struct event_lists *lists = option->value;
	if (!lists->count) {
		diag_say("--filter must follow the -e of its events");
		return false;
	}
	struct sp_event_list *list = &lists->items[lists->count - 1];
	if (list->filter) {
		diag_say("--filter: -e %s has one already (join them by &&)", list->events);
		return false;
	}
	list->filter = text;
	return true;
}
