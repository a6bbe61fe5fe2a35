/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Members of struct sp_meter. */
#pragma once

#include <sprof/meter.h>
#include "event/kernel_calls.h"
#include "event/parse.h"
#include "record/decode.h"
#include "ring/ring.h"

struct metered {
	const char *name;
	struct perf_event_attr attr;
	struct sp_attr_tail tail;
	int fd;
	struct perf_event_mmap_page *page; /* for reading in user space; NULL: not mapped */
	uint64_t id;
};

struct sp_meter {
	struct event_specs specs;
	struct metered *events;
	size_t count;
	bool apart;                /* read each event alone */
	bool syscalls;             /* do not read in user space */
	size_t map_size;           /* size of the pages */
	struct sp_count *before;   /* counts at sp_meter_begin() */
	struct sp_count *scratch;
	uint64_t *buffer;          /* for a group's read */
	size_t joined;             /* number of other meters' events that joined the group */
	/* Samples: */
	struct ring ring;          /* the leader's, or zeroed */
	uint64_t position;         /* position of the next record */
	struct decoder *decoder;
	struct sp_event *layout;   /* the decoder's description of the events */
	void *bounce;              /* a record that wraps */
	struct sp_record record;
};

/* Returns the size of `buffer`: number of values, two times, and for each event value, id, lost. */
static inline size_t meter_buffer_size(const struct sp_meter *meter)
{
	return (3 + 3 * (meter->count + meter->joined)) * sizeof(*meter->buffer);
}

/* Returns the event at `index`, which is below the count; for SP_METER_GROUP, the leader. */
const struct metered *meter_at(const struct sp_meter *meter, size_t index);

/* Fails if the event's signals would keep a task from advancing. */
struct sp_error *metered_check_signal(const struct metered *event) SP_MUST_CHECK;
