/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counts in a file, as `perf stat record` has them. Records besides the header's events are, each
 * behind its perf_event_header:
 *
 *	THREAD_MAP   u64 nr; then each: u64 tid; char comm[16]
 *	CPU_MAP      u16 type = 0; u16 nr; u16 cpu[nr] (0xffff: any); padding
 *	STAT_CONFIG  u64 nr; then each: u64 tag, value (0: aggregate, 1: interval in ms, 2: scale)
 *	STAT         u64 id; u32 cpu, thread; u64 value, enabled, running
 *	STAT_ROUND   u64 type (0: an interval, 1: the last); u64 ns
 *
 * Values are those since the start, `thread` is an index of THREAD_MAP, and a STAT_ROUND stands
 * behind the STAT records that it closes.
 */
#ifndef COUNT_STAT_FILE_H
#define COUNT_STAT_FILE_H

#include "base/hash.h"
#include "count/stat.h"

enum stat_config_tag { STAT_CONFIG_AGGREGATE, STAT_CONFIG_INTERVAL, STAT_CONFIG_SCALE };

enum stat_round { STAT_ROUND_INTERVAL, STAT_ROUND_FINAL };

/*
 * perf's numbers of what counts are summed by, as far as all its versions agree; what they number
 * differently is written as single CPUs, which readers may sum as they like.
 */
enum stat_file_aggregate {
	STAT_FILE_NONE,
	STAT_FILE_GLOBAL,
	STAT_FILE_SOCKET,
	STAT_FILE_DIE,
};

/* A file that sp_stat_load() reads. */
struct loaded {
	struct sp_reader *reader;
	struct event_spec spec;  /* default values; shared by all counters */
	struct sp_stat_place *threads;
	size_t thread_count;
	uint64_t aggregate, interval_ms;
	bool has_counts, recedes;
	struct u64map ids;       /* index of the event */
	struct u64map *units;    /* for each event: index by CPU and thread */
	size_t unit_maps;
	struct u64map places;    /* index by place_key() */
};

#endif
