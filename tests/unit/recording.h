/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A small recording for tests of what is written: two events, one process. */
#ifndef UNIT_RECORDING_H
#define UNIT_RECORDING_H

#include <stdio.h>
#include "record/encode.h"
#include "writer/writer.h"
#include "test.h"

#define RECORDING_PID 4321
#define RECORDING_START 0x400000

static const uint64_t recording_clock_ids[] = {11, 12}, recording_dummy_ids[] = {21, 22};
static const char *const recording_cmdline[] = {"sprof", "record", "--", "prog", NULL};
static const struct writer_pmu recording_pmus[] = {{1, "software"}, {2, "tracepoint"}};

#define RECORDING_ATTR                                                        \
	.type = PERF_TYPE_SOFTWARE, .size = sizeof(struct perf_event_attr),   \
	.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | \
		       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD, \
	.sample_id_all = 1, .use_clockid = 1, .clockid = 1

static const struct sp_event recording_events[] = {
	{"the-clock", {RECORDING_ATTR, .freq = 1, .sample_freq = 997},
	 recording_clock_ids, 2},
	{"side-band", {RECORDING_ATTR, .config = PERF_COUNT_SW_DUMMY, .mmap = 1, .mmap2 = 1,
		       .comm = 1, .task = 1}, recording_dummy_ids, 2},
};

static const struct writer_info recording_info = {
	.hostname = "testhost", .osrelease = "6.1.0", .version = "0.1", .arch = "x86_64",
	.cpudesc = "A CPU", .cpuid = "Maker,1,2,3", .cpus_available = 4, .cpus_online = 3,
	.total_memory_kb = 123456, .cmdline = recording_cmdline, .pmus = recording_pmus,
	.pmu_count = 2, .clock_id = 1, .clock_resolution_ns = 1,
	.clock_wall_ns = 1700000000000000000, .clock_ns = 5000,
};

/* No assertion where there are many of them: check writes a line for each into a file. */
static inline void ok_quietly(struct sp_error *error)
{
	if (error)
		ck_abort_msg("%s", sp_error_message(error));
}

static inline struct writer *recording_open(const char *path)
{
	struct writer *writer;
	ok_or_fail(writer_open(path, recording_events, 2, &recording_info, &writer));
	ok_or_fail(writer_publish(writer));
	return writer;
}

/* One process with a mapping; the kernel's too, as perf wants to know where it lies. */
static inline void recording_put_process(struct record_buffer *buffer)
{
	const struct perf_event_attr *attr = &recording_events[1].attr;
	struct sp_record record = {
		.type = PERF_RECORD_MMAP, .misc = PERF_RECORD_MISC_KERNEL, .id = {.id = 21},
		.mmap = {.pid = UINT32_MAX, .start = 0xffffffff81000000, .size = 0x2000000,
			 .file_offset = 0xffffffff81000000, .filename = "[kernel.kallsyms]_text"},
	};
	ok_or_fail(record_encode(buffer, &record, attr));
	record = (struct sp_record){.type = PERF_RECORD_COMM, .id = {.id = 21},
				    .comm = {RECORDING_PID, RECORDING_PID, "prog"}};
	ok_or_fail(record_encode(buffer, &record, attr));
	record = (struct sp_record){
		.type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER, .id = {.id = 21},
		.mmap = {.pid = RECORDING_PID, .tid = RECORDING_PID, .start = RECORDING_START,
			 .size = 0x10000, .filename = "/nonexistent/prog", .prot = 5, .flags = 2,
			 .build_id_size = 20, .build_id = "ABCDEFGHIJKLMNOPQRST"},
	};
	ok_or_fail(record_encode(buffer, &record, attr));
}

#define RECORDING_SAMPLE_SIZE 56

static inline void recording_put_sample(struct record_buffer *buffer, uint64_t ip, uint64_t time_ns)
{
	struct sp_record record = {
		.type = PERF_RECORD_SAMPLE, .misc = PERF_RECORD_MISC_USER,
		.sample = {.ip = ip, .pid = RECORDING_PID, .tid = RECORDING_PID,
			   .time_ns = time_ns, .id = 11, .cpu = 1, .period = 1000000},
	};
	ok_quietly(record_encode(buffer, &record, &recording_events[0].attr));
}

/* Writes what is in the buffer and empties it. */
static inline struct sp_error *recording_write(struct writer *writer, struct record_buffer *buffer)
{
	struct iovec span = {buffer->items, buffer->count};
	buffer->count = 0;
	return writer_write(writer, &span, 1);
}

#endif
