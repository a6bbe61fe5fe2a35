/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The set's parts, between its files: set.c, set_read.c, set_reopen.c. */
#ifndef EVENT_SET_INTERNAL_H
#define EVENT_SET_INTERNAL_H

#include "base/vec.h"
#include "event/set.h"

struct opened {
	int fd;
	uint32_t event; /* index in event_set_events(): the side-band dummy is the last */
	uint64_t id;    /* the kernel's, */
	uint64_t listed; /* and that of the first that was opened in this place */
	struct event_total before; /* counts of closed predecessors */
	uint32_t cpu_index;
};

/* Last request to enable or disable an event. */
enum switched {
	SWITCHED_NOT, /* it is as it was opened */
	SWITCHED_ON,
	SWITCHED_OFF,
};

struct opened_list {
	VEC(struct opened);
};

struct event_set {
	const struct event_kernel *kernel;
	const struct event_plan *plan;
	uint32_t *cpus;
	size_t cpu_count;
	VEC(int) holders; /* cpu_index * EVENT_ROLE_COUNT + role */
	struct opened_list opened;
	enum switched *switched; /* for each event, by index in event_set_events() */
	/* Last result of event_set_events(). */
	struct sp_event *events;
	uint64_t *ids;
};

/* The planned event by index in event_set_events(). */
static inline const struct event_planned *event_set_planned(const struct event_set *set,
							    size_t event)
{
	return event < set->plan->sample_count ? &set->plan->samples[event] : &set->plan->sideband;
}

/* -- set.c ---------------------------------------------------------------- */

/* An event to open. */
struct event_opening {
	enum event_role role;
	const struct event_planned *event;
	uint32_t index; /* in event_set_events() */
	int leader_fd;  /* descriptor of its group's leader; -1: it is no member */
};

/* Opens an event and adds it to the list. Returns 0, or the errno. */
int event_set_open_event(const struct event_set *set, struct opened_list *list,
			 const struct event_place *place, const struct event_opening *opening);
void event_set_close_all(const struct event_set *set, struct opened_list *list);

/* -- set_read.c ----------------------------------------------------------- */

/* Read one place; nothing comes from an event in error state (pinned, and never scheduled). */
struct sp_error *event_set_read_opened(const struct event_set *set, const struct opened *opened,
				       struct event_total *ret) SP_MUST_CHECK;

#endif
