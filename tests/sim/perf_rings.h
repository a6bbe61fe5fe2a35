/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Composition of records, which end in their event's ring buffer. */
#ifndef SIM_PERF_RINGS_H
#define SIM_PERF_RINGS_H

#include <string.h>
#include "sim.h"

#define RECORD_MAX 65536

/* A record that is being composed. */
struct composed {
	struct sim_event *event;
	struct sim_truth truth;
	size_t size;
	uint8_t bytes[RECORD_MAX];
};

static inline void put(struct composed *record, const void *bytes, size_t size)
{
	memcpy(record->bytes + record->size, bytes, size);
	record->size += size;
}

static inline void put64(struct composed *record, uint64_t value)
{
	put(record, &value, sizeof(value));
}

static inline void put32s(struct composed *record, uint32_t low, uint32_t high)
{
	put(record, &low, sizeof(low));
	put(record, &high, sizeof(high));
}

/* A string with its end, padded to a multiple of 8. */
static inline void put_string(struct composed *record, const char *text)
{
	size_t size = strlen(text) + 1;
	memset(record->bytes + record->size, 0, (size + 7) / 8 * 8);
	memcpy(record->bytes + record->size, text, size);
	record->size += (size + 7) / 8 * 8;
}

/* Begins a record with its header. */
void sim_begin(struct composed *record, struct sim_event *event, uint32_t type, uint16_t misc, uint32_t pid,
	       uint32_t tid, unsigned int cpu);
/* Appends the fields that all records but samples end with. */
void put_sample_id(struct composed *record);
/* Puts the record into the ring buffer, or counts it as lost. */
void sim_end(struct composed *record);

#endif
