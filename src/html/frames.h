/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Drops inner frames of a page's stacks. Each sample keeps its own function, and its library. */
#ifndef HTML_FRAMES_H
#define HTML_FRAMES_H

#include "html/head.h"

/* Functions with less than this part of an event's weight are one for each library. */
#define LIGHT_FUNCTION_PART 100000

/*
 * Drops frames inside the subtrees of less than `least` weight, and merges what is then equal:
 * frames of functions that are light, or that a caller in the stack is, too; else (`totals` is
 * false) all that are not a sample's own. Returns false when out of memory.
 */
bool frames_drop(struct head *head, struct page_event *event, uint64_t least, bool totals);

#endif
