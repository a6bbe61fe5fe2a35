/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The few fields of records that the recorder itself reads: their offsets, and their values.
 *
 * Offsets are the same in the records of all events with that sample_type. The fields are aligned u64s,
 * which never wrap in a ring.
 *
 * A record's values are read once and then handed on, so that nothing else needs to know how the record
 * lies in the ring. The caller owns them. They stay valid when the record is released.
 */
#pragma once

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include "ring/ring.h"

struct record_fields {
	/* From the beginning of a SAMPLE: {pid, tid}, time, {cpu, 0}, period (0: it has none). */
	uint32_t sample_id, sample_tid, sample_time, sample_cpu, sample_period;
	uint32_t sample_end; /* size of the fields up to here: the next is READ, CALLCHAIN, RAW, ... */
	/* From the end of every other record backwards. */
	uint32_t trailer_tid, trailer_time, trailer_cpu, trailer_id;
	/* PERF_SAMPLE_ID: the id once more, in both; 0: it is not there. */
	uint32_t sample_id_again, trailer_id_again;
};

/* Bits that sample_type must have; the period may be missing. */
#define RECORD_FIELDS_NEEDED                                                          \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)

/* False if sample_type lacks one of them, or orders them in another way. */
static inline bool record_fields_make(uint64_t sample_type, struct record_fields *ret)
{
	const uint64_t between = PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID;
	if (RECORD_FIELDS_NEEDED & ~(sample_type | PERF_SAMPLE_PERIOD))
		return false;
	uint32_t cpu = 40 + 8 * (uint32_t)__builtin_popcountll(sample_type & between);
	uint32_t ids = 8 * (uint32_t)__builtin_popcountll(sample_type & (PERF_SAMPLE_ID |
									   PERF_SAMPLE_STREAM_ID));
	bool again = sample_type & PERF_SAMPLE_ID, period = sample_type & PERF_SAMPLE_PERIOD;
	*ret = (struct record_fields){
		.sample_id_again = !again ? 0 : sample_type & PERF_SAMPLE_ADDR ? 48 : 40,
		.trailer_id_again = !again ? 0 : sample_type & PERF_SAMPLE_STREAM_ID ? 32 : 24,
		.sample_id = 8, .sample_tid = 24, .sample_time = 32,
		.sample_cpu = cpu, .sample_period = period ? cpu + 8 : 0,
		.sample_end = cpu + (period ? 16 : 8),
		.trailer_id = 8, .trailer_cpu = 16, .trailer_time = 24 + ids, .trailer_tid = 32 + ids,
	};
	return true;
}

/* The two u32 of an aligned u64, in the order they lie in memory. */
static inline uint32_t first_u32(uint64_t word)
{
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? (uint32_t)word : (uint32_t)(word >> 32);
}

static inline uint32_t second_u32(uint64_t word)
{
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? (uint32_t)(word >> 32) : (uint32_t)word;
}

/* A record in a ring, and its values. */
struct record_values {
	uint64_t position; /* in the ring */
	struct perf_event_header header;
	/* All are 0 if the record is too short for them. */
	uint32_t pid, tid, cpu;
	uint64_t time_ns;  /* the recording's clock */
	uint64_t id;       /* the event's, in the ring */
	uint64_t period;   /* SAMPLE: 1 if the fields have no period, as all stand for the same count */
	uint64_t lost;     /* LOST, LOST_SAMPLES: the number of these */
	bool new_period;   /* SAMPLE, set by the filter: the ring has another period */
	bool kernel_only;  /* SAMPLE, set by the filter: its user registers and stack are not wanted */
};

/* Reads the fields that all records have, at these positions in the ring. */
static inline void record_values_read_common(const struct ring *ring, uint64_t tid, uint64_t time,
					     uint64_t cpu, uint64_t id, struct record_values *ret)
{
	uint64_t tid_word = ring_u64(ring, tid);
	ret->pid = first_u32(tid_word);
	ret->tid = second_u32(tid_word);
	ret->time_ns = ring_u64(ring, time);
	ret->cpu = first_u32(ring_u64(ring, cpu));
	ret->id = ring_u64(ring, id);
}

/* A SAMPLE has the fields at its beginning. */
static inline void record_values_read_sample(const struct ring *ring, const struct record_fields *fields,
					     struct record_values *ret)
{
	uint64_t begin = ret->position;
	record_values_read_common(ring, begin + fields->sample_tid, begin + fields->sample_time,
				  begin + fields->sample_cpu, begin + fields->sample_id, ret);
	ret->period = fields->sample_period ? ring_u64(ring, begin + fields->sample_period) : 1;
	ret->lost = 0;
	ret->new_period = ret->kernel_only = false;
}

/* All other records have them at their end. */
static inline void record_values_read_other(const struct ring *ring, const struct record_fields *fields,
					    struct record_values *ret)
{
	uint64_t end = ret->position + ret->header.size;
	record_values_read_common(ring, end - fields->trailer_tid, end - fields->trailer_time,
				  end - fields->trailer_cpu, end - fields->trailer_id, ret);
	ret->period = 0;
	ret->lost = 0;
	ret->new_period = ret->kernel_only = false;
	if (ret->header.type == PERF_RECORD_LOST)
		ret->lost = ring_u64(ring, ret->position + 16); /* after an id */
	else if (ret->header.type == PERF_RECORD_LOST_SAMPLES)
		ret->lost = ring_u64(ring, ret->position + 8);
}

/* Reads the record at `position`, which is before `end`. False: there is no whole record. */
static inline bool record_values_read(const struct ring *ring, uint64_t position, uint64_t end,
				      const struct record_fields *fields, struct record_values *ret)
{
	if (!ring_record(ring, position, end, &ret->header))
		return false;
	ret->position = position;
	bool is_sample = ret->header.type == PERF_RECORD_SAMPLE;
	if (ret->header.size < (is_sample ? fields->sample_end : sizeof(ret->header) + fields->trailer_tid))
		*ret = (struct record_values){.position = position, .header = ret->header};
	else if (is_sample)
		record_values_read_sample(ring, fields, ret);
	else
		record_values_read_other(ring, fields, ret);
	return true;
}
