/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of struct sp_losses for other parts of the library. */
#pragma once

#include <sprof/private/losses.h>
#include "record/decode.h"

/* Returns the event with that id, or SP_EVENT_NONE. */
uint16_t losses_event_of_id(const struct sp_losses *losses, uint64_t id);

/* Returns the event of one counter of a READ record, which may have several events. */
uint16_t losses_event_of_counter(const struct sp_losses *losses, const struct sp_record *record,
				 uint64_t id);

/* Returns the losses among sp_losses_count() that larger ring buffers would not prevent. */
uint64_t losses_outside_rings(const struct sp_losses *losses, size_t event);

/* Throttlings of an event, and their total time; those without a known end count no time. */
struct event_throttling {
	uint64_t count, ns;
};
struct event_throttling losses_throttling(const struct sp_losses *losses, size_t event);
