/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef EVENT_DESCRIBE_H
#define EVENT_DESCRIBE_H

/* What a generic event counts, half a sentence; static. NULL: there is nothing to say. */
const char *event_description(const char *name);

#endif
