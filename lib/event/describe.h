/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef EVENT_DESCRIBE_H
#define EVENT_DESCRIBE_H

/* A generic event's description, half a sentence; static. NULL: none. */
const char *event_description(const char *name);

#endif
