/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Event strings, as `-e` takes them and perf spells them:
 *
 *	list     = event { ',' event }
 *	event    = name [ ':' modifiers ] | 'r' HEX [ ':' modifiers ]
 *	modifiers: u k h (count user, kernel, hypervisor only), I (not when idle),
 *	           G H (guest, host only), p pp ppp P (precise instruction addresses),
 *	           D (pinned), e (exclusive)
 *
 * Names: generalized hardware events, software events, hardware-cache events.
 */
#ifndef EVENT_PARSE_H
#define EVENT_PARSE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"

/* One event that was asked for. */
struct event_spec {
	const char *name; /* as typed, modifiers included ("cycles:u"); of the specs' arena */
	/* type, config, exclude_*, precise_ip, pinned, exclusive; all else 0. */
	struct perf_event_attr attr;
	bool modes_given; /* u, k or h was typed */
	bool guest_given; /* G or H was typed */
	bool precise_max; /* P: as precise as there is, precise_ip is 3 */
	bool is_default;  /* not typed: what record takes when there is no -e */
};

/* Zeroed: empty. */
struct event_specs {
	VEC(struct event_spec);
	struct arena arena;
};

void event_specs_deinit(struct event_specs *specs);

/*
 * Appends the events of `text`. Fails with SP_ERROR_INVALID (SP_ERROR_UNSUPPORTED for what
 * perf takes and we do not, yet): the message names the character ("cycles:x: unknown
 * modifier 'x' at character 8"), the remedy says what would be valid; *specs is then unchanged.
 */
struct sp_error *event_specs_parse(struct event_specs *specs, const char *text) SP_MUST_CHECK;

/* Appends what is sampled when nothing was asked for: cycles, as precisely as there is. */
struct sp_error *event_specs_add_default(struct event_specs *specs) SP_MUST_CHECK;

#endif
