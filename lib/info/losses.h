/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What sp_losses is made of, for those who want to know of each loss. */
#ifndef INFO_LOSSES_H
#define INFO_LOSSES_H

#include <sprof/losses.h>
#include "record/decode.h"

/* The event that a record is of: by its sample_id, else by the id in its fields, else 0. */
uint16_t losses_event(const struct sp_losses *losses, const struct sp_record *record, uint64_t id);

/* SP_EVENT_NONE where no event has that id. */
uint16_t losses_event_of_id(const struct sp_losses *losses, uint64_t id);

/* Of one of the counters that a READ has, which may be of several events. */
uint16_t losses_event_of_counter(const struct sp_losses *losses, const struct sp_record *record,
				 uint64_t id);

/* Of sp_losses_count(): those for which larger rings would not have been of use. */
uint64_t losses_outside_rings(const struct sp_losses *losses, size_t event);

/* How often an event was throttled, and for how long in all, as far as its end was told. */
struct event_throttling {
	uint64_t count, ns;
};
struct event_throttling losses_throttling(const struct sp_losses *losses, size_t event);

#endif
