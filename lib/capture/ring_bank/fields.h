/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Offsets of the few fields that the recorder itself reads, in records of the
 * kernel and of events that agree in sample_type. All are aligned u64s, which
 * never wrap in a ring.
 */
#ifndef CAPTURE_RING_BANK_FIELDS_H
#define CAPTURE_RING_BANK_FIELDS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

struct record_fields {
	/* From the beginning of a SAMPLE: {pid, tid}, time, {cpu, 0}, period (0: it has none). */
	uint32_t sample_id, sample_tid, sample_time, sample_cpu, sample_period;
	uint32_t sample_end; /* size of the fields up to here: the next is READ, CALLCHAIN, RAW, ... */
	/* From the end of every other record backwards. */
	uint32_t trailer_tid, trailer_time, trailer_id;
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
		.trailer_id = 8, .trailer_time = 24 + ids, .trailer_tid = 32 + ids,
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

#endif
