/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two side-band events on one CPU, as of two recorders, and a BPF program that is
 * loaded there: the kernel may say too large a size for the second's records (see
 * record/record_length.h). What is kept of either must be whole and true.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/clock.h"
#include "capture/tasks/tracker.h"
#include "record/decode.h"
#include "tap.h"

#define RING_SIZE ((size_t)64 << 10)

static uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

struct recorder {
	struct perf_event_attr attr;
	int fd;
	uint64_t id;
	struct ring ring;
	struct tracker tracker;
};

/* False, with errno, where it is refused. */
static bool recorder_init(struct recorder *recorder, int cpu)
{
	*recorder = (struct recorder){.attr = {
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY,
		.size = sizeof(struct perf_event_attr), .sample_type = RECORD_FIELDS_NEEDED,
		.sample_id_all = 1, .ksymbol = 1, .bpf_event = 1, .use_clockid = 1,
		.clockid = CLOCK_MONOTONIC, .watermark = 1,
	}};
	recorder->fd = (int)syscall(SYS_perf_event_open, &recorder->attr, -1, cpu, -1,
				    PERF_FLAG_FD_CLOEXEC);
	if (recorder->fd < 0 || ioctl(recorder->fd, PERF_EVENT_IOC_ID, &recorder->id) < 0)
		return false;
	tap_need(ring_map(&recorder->ring, recorder->fd, RING_SIZE));
	if (!record_fields_make(recorder->attr.sample_type, &recorder->tracker.fields))
		return false;
	return true;
}

static void recorder_deinit(struct recorder *recorder)
{
	tracker_deinit(&recorder->tracker);
	ring_deinit(&recorder->ring);
	close(recorder->fd);
}

static bool load_program(void)
{
	struct bpf_insn instructions[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	static const char licence[] = "GPL";
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_SOCKET_FILTER,
		.insns = (uintptr_t)instructions,
		.insn_cnt = sizeof(instructions) / sizeof(*instructions),
		.license = (uintptr_t)licence,
	};
	int fd = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

/* Drains, and looks at each record that was kept: of this event, and of this time. */
static void check_records(struct recorder *recorder, const char *which, uint64_t from_ns)
{
	struct sp_event event = {"dummy", recorder->attr, &recorder->id, 1};
	struct record_layout layout = {&event, 1, false, "the ring"};
	struct decoder *decoder;
	size_t programs = 0, wrong = 0, at = 0;
	uint64_t end_ns = now_ns();
	tap_need(decoder_new(&layout, &decoder));
	tap_need(tracker_drain(&recorder->tracker, &recorder->ring, 1));
	const struct record_buffer *kept = &recorder->tracker.kept;
	while (at < kept->count) {
		struct perf_event_header header;
		struct sp_record record;
		memcpy(&header, kept->items + at, sizeof(header));
		struct raw_record raw = {header.type, header.misc, header.size, kept->items + at, at};
		tap_need(decoder_decode(decoder, &raw, &record));
		struct record_buffer again = {0};
		tap_need(record_encode(&again, &record, &recorder->attr));
		wrong += record.id.id != recorder->id || record.id.time_ns < from_ns ||
			 record.id.time_ns > end_ns || again.count != header.size ||
			 memcmp(again.items, kept->items + at, again.count) != 0;
		programs += header.type == PERF_RECORD_BPF_EVENT;
		vec_deinit(&again);
		at += header.size;
	}
	decoder_free(decoder);
	tap_result(programs > 0, "the %s recorder sees the programs (%zu records)", which, programs);
	tap_result(wrong == 0, "all of its records are whole and true (%zu are not)", wrong);
	tap_result(recorder->tracker.last_ns <= end_ns, "none is of a time to come");
}

int main(void)
{
	struct recorder first, second;
	cpu_set_t cpus;
	int cpu = sched_getcpu();
	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) < 0)
		return tap_skip_all("cannot stay on one CPU", errno);
	if (!recorder_init(&first, cpu) || !recorder_init(&second, cpu))
		return tap_skip_all("perf_event_open is refused", errno);
	/* Before Linux 5.11 the programs count as locked memory. */
	const struct rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY};
	setrlimit(RLIMIT_MEMLOCK, &unlimited);
	uint64_t from_ns = now_ns();
	for (int i = 0; i < 10; i++)
		if (!load_program())
			return tap_skip_all("bpf(2) is refused", errno);
	check_records(&first, "first", from_ns);
	check_records(&second, "second", from_ns);
	recorder_deinit(&first);
	recorder_deinit(&second);
	return tap_end();
}
