/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef EVENT_DESCRIBE_H
#define EVENT_DESCRIBE_H

/* Returns a short description of a generic event, a static string; NULL if there is none. */
const char *event_description(const char *name);

#endif
