/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints samples with counter values (PERF_SAMPLE_READ). As in perf script, each event gets a line
 * if its count has changed since the previous sample, with the change as its period.
 */
#include "cmd/script/script.h"
#include <stdlib.h>
#include "memory.h"

/* Value of a counter at its last sample. */
struct script_counter {
	uint64_t id, value;
	uint32_t tid;                 /* thread that the counter belongs to; 0: one counter for all threads */
	bool used;
	const struct sp_event *event; /* the recording's event; NULL: unknown */
};

void script_counters_deinit(struct script_counters *counters)
{
	free(counters->slots);
}

static const struct sp_event *find_event(const struct sp_reader *reader, uint64_t id)
{
	for (size_t i = 0; i < sp_reader_event_count(reader); i++) {
		const struct sp_event *event = sp_reader_event(reader, i);
		for (size_t j = 0; j < event->id_count; j++)
			if (event->ids[j] == id)
				return event;
	}
	return NULL;
}

/*
 * Returns the slot of the counter in the hash table, or the free slot where it belongs. The table is
 * never full.
 */
static struct script_counter *slot_of(struct script_counter *slots, size_t capacity, uint64_t id,
				      uint32_t tid)
{
	uint64_t hash = (id * 31 + tid) * UINT64_C(0x9e3779b97f4a7c15);
	size_t at = (size_t)(hash >> 32) & (capacity - 1);
	while (slots[at].used && (slots[at].id != id || slots[at].tid != tid))
		at = (at + 1) & (capacity - 1);
	return &slots[at];
}

static void grow(struct script_counters *counters)
{
	size_t capacity = counters->capacity ? counters->capacity * 2 : 64;
	struct script_counter *slots = xcalloc(capacity, sizeof(*slots));
	for (size_t i = 0; i < counters->capacity; i++) {
		const struct script_counter *old = &counters->slots[i];
		if (old->used)
			*slot_of(slots, capacity, old->id, old->tid) = *old;
	}
	free(counters->slots);
	counters->slots = slots;
	counters->capacity = capacity;
}

/* Returns the state of a counter, which is added if new. */
static struct script_counter *counter_of(struct printer *printer, uint64_t id, uint32_t tid)
{
	struct script_counters *counters = &printer->counters;
	if (counters->count * 2 >= counters->capacity)
		grow(counters);
	struct script_counter *slot = slot_of(counters->slots, counters->capacity, id, tid);
	if (!slot->used) {
		*slot = (struct script_counter){
			.id = id, .tid = tid, .used = true,
			.event = find_event(printer->view->reader, id),
		};
		counters->count++;
	}
	return slot;
}

bool script_has_counters(const struct script_arguments *arguments, const struct sp_reader *reader)
{
	if (arguments->format != SCRIPT_TEXT)
		return false;
	for (size_t i = 0; i < sp_reader_event_count(reader); i++)
		if (sp_reader_event(reader, i)->attr.sample_type & PERF_SAMPLE_READ)
			return true;
	return false;
}

const struct sp_event *script_counter_increase(struct printer *printer, const struct sp_event *event,
					       const struct sp_sample *sample, size_t index,
					       uint64_t *period_ret)
{
	const struct sp_counter *now = &sample->counters.values[index];
	bool has_id = sample->counters.read_format & PERF_FORMAT_ID;
	uint32_t tid = event->attr.inherit ? sample->tid : 0;
	struct script_counter *counter = counter_of(printer, has_id ? now->id : sample->id, tid);
	const struct sp_event *whose = counter->event || has_id ? counter->event : event;
	*period_ret = now->value > counter->value ? now->value - counter->value : 0;
	counter->value = now->value;
	return *period_ret ? whose : NULL;
}
