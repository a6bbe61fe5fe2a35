/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* State of an event set, shared by set.c, set_read.c and set_reopen.c. */
#ifndef EVENT_SET_INTERNAL_H
#define EVENT_SET_INTERNAL_H

#include "base/vec.h"
#include "event/set.h"

struct opened {
	int fd;
	uint32_t event; /* index in event_set_events(); the metadata event is the last */
	uint64_t id;    /* id given by the kernel */
	uint64_t listed; /* id of the first event opened at this place, which the file header lists */
	struct event_total before; /* counts of earlier events at this place, which are closed */
	uint32_t cpu_index;
};

/* Last request for an event. */
enum switched {
	SWITCHED_NOT, /* no request: as it was opened */
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
	VEC(int) holders; /* descriptors; index: cpu_index * EVENT_ROLE_COUNT + role */
	struct opened_list opened;
	enum switched *switched; /* last request for each event, by index in event_set_events() */
	/* Last result of event_set_events(). */
	struct sp_event *events;
	uint64_t *ids;
};

/* Returns the planned event with that index in event_set_events(). */
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
	uint32_t index; /* index in event_set_events() */
	int leader_fd;  /* descriptor of the group's leader; -1: the event is no member */
};

/* Opens an event and adds it to the list. Returns 0, or the errno. */
int event_set_open_event(const struct event_set *set, struct opened_list *list,
			 const struct event_place *place, const struct event_opening *opening);
void event_set_close_all(const struct event_set *set, struct opened_list *list);

/* -- set_read.c ----------------------------------------------------------- */

/*
 * Reads the counts of one place. A pinned event that was never scheduled is in error state and returns
 * nothing.
 */
struct sp_error *event_set_read_opened(const struct event_set *set, const struct opened *opened,
				       struct event_total *ret) SP_MUST_CHECK;

#endif
