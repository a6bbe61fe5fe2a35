/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recording FILE: writes a perf.data file of the records that standard input
 * names, one a line, so that a test says what it is about and knows the truth:
 *
 *	event NAME [FIELD]...               cpu-clock, task-clock, page-faults, cycles, …, also as
 *	                                    cpu_core/cycles/ or cpu_atom/cycles/; or, with period
 *	                                    1, context-switches, offcpu-time and
 *	                                    sched:sched_waking; which
 *	                                    has chain, branches, addr, weight, weights, data_src,
 *	                                    transaction, phys_addr, cgroup, data_page_size,
 *	                                    code_page_size, deferred (chains), calls (branches that
 *	                                    are the call stack), user (the kernel is excluded),
 *	                                    snapshots (they are the samples),
 *	                                    copies (of stacks with frame pointers, which contain
 *	                                    the addresses of the chain); or
 *	                                    deep or deepest (chains of up to 1000 or 8000 frames);
 *	                                    each (period 1);
 *	                                    counters, the values of all events that have it; before
 *	                                    all else
 *	rename NAME                         the last event
 *	hostname NAME, osrelease RELEASE, arch NAME, cmdline WORD...
 *	span FIRST LAST                     times of the first and last sample;
 *	                                    likewise
 *	comm PID TID NAME                   in names, \xHH is a byte
 *	exec PID TID NAME
 *	fork PID PPID TID TIME
 *	exit PID TID CPU TIME
 *	switch PID TID CPU TIME in|out|preempt
 *	mmap PID START SIZE OFFSET PATH [BUILD-ID]
 *	                                    PID -1: the kernel's; 40 hexadecimal digits: MMAP2
 *	sample EVENT PID TID CPU TIME PERIOD IP [CHAIN-IP]...
 *	stacks END [repaired|shortened|guessed]...
 *	                                    how the stacks of the samples that follow ended:
 *	                                    unknown, complete, truncated, no_unwind_info,
 *	                                    bad_memory, depth_limit, skipped or switched; in a chain,
 *	                                    "..." stands where frames were left out
 *	with [FIELD VALUE]...               these fields of the samples that follow, until the
 *	                                    next such line; branch FROM TO FLAGS is one of them,
 *	                                    any number of times, and so is count VALUE, one for each
 *	                                    event in turn; times ENABLED RUNNING go with those;
 *	                                    woken TID and flags (8 interrupt, 16 softirq) are of
 *	                                    sched:sched_waking
 *	cgroup ID PATH
 *	namespaces PID TID TIME DEV INODE   of all kinds
 *	lost EVENT COUNT [TIME]             LOST_SAMPLES: of all, at the end; with TIME, then
 *	full EVENT COUNT TIME [CPU]         LOST: the ring of the CPU was (default: 0)
 *	deferred PID TID TIME NUMBER IP...  what a task called in the program: in chains of samples,
 *	                                    @NUMBER stands for it
 *	note TIME WORD...                   the recorder's
 *	command PID TIME WORD...            a command line; words that begin with * are files
 *	throttle EVENT TIME, unthrottle EVENT TIME
 *	bytes HEX                           the bytes as they are: damage
 *
 * Numbers are decimal or 0x; the time is in ns. Addresses from 1 << 63 are the
 * kernel's. A line that begins with # is not read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sprof/sprof.h>
#include "file/tracing_data.h"
#include "record/command_line.h"
#include "record/encode.h"
#include "record/note.h"
#include "record/types.h"
#include "tests/cli/wakeups.h"
#include "writer/writer.h"

#define MAX_WORDS 9000
#define MAX_EVENTS 8
#define MAX_BRANCHES 32
#define MAX_COPIED 512 /* frames */
#define CGROUP_NAMESPACE 6

/* Flag of the attr that only newer headers define. */
#define DEFER_CALLCHAIN (UINT64_C(1) << 38)
#define DEFER_OUTPUT (UINT64_C(1) << 39)
#define KERNEL (UINT64_C(1) << 63)

/* Stack copies of x86-64. */
#define COPY_REGISTERS (UINT64_C(7) << 6) /* bp, sp, ip */
#define COPY_FRAME 6                      /* words: locals, the caller's bp, the return address */
#define COPY_TOP UINT64_C(0x7ffd00000000)

struct recording {
	const char *path;
	struct sp_ctx *ctx;
	struct writer_info info;
	struct sp_event events[MAX_EVENTS];
	uint64_t ids[MAX_EVENTS];
	size_t event_count;
	char *words_kept[MAX_WORDS + 1]; /* words of cmdline */
	struct writer *writer; /* NULL until the first record */
	struct writer_end end;
	uint16_t stack_misc;
	struct sp_sample with;
	struct sp_branch branches[MAX_BRANCHES];
	struct sp_counter counters[MAX_EVENTS];
	uint32_t woken, flags;
	size_t line;
};

static void die(const struct recording *recording, const char *why)
{
	fprintf(stderr, "recording: line %zu: %s\n", recording->line, why);
	exit(1);
}

static void check(const struct recording *recording, struct sp_error *error)
{
	if (error)
		die(recording, sp_error_message(error));
}

static uint64_t number(const struct recording *recording, const char *word)
{
	char *end;
	if (!word)
		die(recording, "a number is missing");
	uint64_t value = strtoull(word, &end, 0);
	if (*end || end == word)
		die(recording, "not a number");
	return value;
}

/* In place: \xHH becomes the byte. */
static char *unescape(char *text)
{
	char *to = text;
	for (char *at = text; *at;) {
		unsigned int byte;
		if (sscanf(at, "\\x%2x", &byte) == 1) {
			*to++ = (char)byte;
			at += 4;
		} else {
			*to++ = *at++;
		}
	}
	*to = '\0';
	return text;
}

/* Fields that an event may have. */
static const struct field {
	const char *name;
	uint64_t bit;
	size_t offset; /* in struct sp_sample; 0: it is no number */
} fields[] = {
	{"chain", PERF_SAMPLE_CALLCHAIN, 0},
	{"branches", PERF_SAMPLE_BRANCH_STACK, 0},
	{"counters", PERF_SAMPLE_READ, 0},
	{"deferred", 0, 0},
	{"user", 0, 0},
	{"snapshots", 0, 0},
	{"deep", 0, 0}, {"deepest", 0, 0}, {"each", 0, 0},
	{"copies", PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER, 0},
	{"calls", PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_CALLCHAIN, 0},
	{"addr", PERF_SAMPLE_ADDR, offsetof(struct sp_sample, addr)},
	{"weight", PERF_SAMPLE_WEIGHT, offsetof(struct sp_sample, weight)},
	{"weights", PERF_SAMPLE_WEIGHT_STRUCT, offsetof(struct sp_sample, weight)},
	{"data_src", PERF_SAMPLE_DATA_SRC, offsetof(struct sp_sample, data_src)},
	{"transaction", PERF_SAMPLE_TRANSACTION, offsetof(struct sp_sample, transaction)},
	{"phys_addr", PERF_SAMPLE_PHYS_ADDR, offsetof(struct sp_sample, phys_addr)},
	{"cgroup", PERF_SAMPLE_CGROUP, offsetof(struct sp_sample, cgroup)},
	{"data_page_size", PERF_SAMPLE_DATA_PAGE_SIZE, offsetof(struct sp_sample, data_page_size)},
	{"code_page_size", PERF_SAMPLE_CODE_PAGE_SIZE, offsetof(struct sp_sample, code_page_size)},
};

static const struct field *field_of(const struct recording *recording, const char *name)
{
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if (!strcmp(fields[i].name, name))
			return &fields[i];
	die(recording, "no such field");
	return NULL;
}

/* Returns an event's name without its PMU, and the PMU's number, which the attr has in config. */
static const char *split_pmu(const char *name, uint64_t *pmu_ret)
{
	static char event[64];
	char pmu[16];
	*pmu_ret = 0;
	if (!name || sscanf(name, "%15[^/]/%63[^/]/", pmu, event) != 2)
		return name;
	*pmu_ret = !strcmp(pmu, "cpu_core") ? 4 : 10;
	return event;
}

static void add_event(struct recording *recording, char **words)
{
	static const struct {
		const char *name;
		uint32_t type;
		uint64_t config;
	} known[] = {
		{"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
		{"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
		{"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
		{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
		{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
		{"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
		{"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
		{"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
		{"offcpu-time", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
		{"sched:sched_waking", PERF_TYPE_TRACEPOINT, 375},
	};
	size_t index = recording->event_count++;
	struct sp_event *event = &recording->events[index];
	uint64_t pmu;
	const char *name = split_pmu(words[1], &pmu);
	if (index == MAX_EVENTS)
		die(recording, "too many events");
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (name && !strcmp(name, known[i].name)) {
			event->name = pmu ? strdup(words[1]) : known[i].name;
			event->attr.type = known[i].type;
			event->attr.config = pmu << 32 | known[i].config;
		}
	}
	if (!event->name)
		die(recording, "no such event");
	recording->ids[index] = 101 + index;
	event->ids = &recording->ids[index];
	event->id_count = 1;
	event->attr.size = sizeof(event->attr);
	event->attr.freq = 1;
	event->attr.sample_freq = 997;
	bool switches = event->attr.type == PERF_TYPE_SOFTWARE &&
			event->attr.config == PERF_COUNT_SW_CONTEXT_SWITCHES;
	if (event->attr.type == PERF_TYPE_TRACEPOINT || switches) {
		event->attr.freq = 0;
		event->attr.sample_period = 1;
	}
	event->attr.sample_id_all = 1;
	event->attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				  PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_IDENTIFIER;
	if (event->attr.type == PERF_TYPE_TRACEPOINT)
		event->attr.sample_type |= PERF_SAMPLE_RAW;
	for (char **word = words + 2; words[1] && *word; word++) {
		event->attr.sample_type |= field_of(recording, *word)->bit;
		if (!strcmp(*word, "calls"))
			event->attr.branch_sample_type = PERF_SAMPLE_BRANCH_USER |
							 PERF_SAMPLE_BRANCH_CALL_STACK;
		if (!strcmp(*word, "user"))
			event->attr.exclude_kernel = 1;
		if (!strncmp(*word, "deep", 4))
			event->attr.sample_max_stack = strcmp(*word, "deep") ? 8000 : 1000;
		if (!strcmp(*word, "each")) {
			event->attr.freq = 0;
			event->attr.sample_period = 1;
		}
		if (!strcmp(*word, "snapshots"))
			event->attr.config = PERF_COUNT_SW_DUMMY;
		if (!strcmp(*word, "deferred"))
			((uint64_t *)&event->attr)[5] |= DEFER_CALLCHAIN | DEFER_OUTPUT;
	}
	if (event->attr.sample_type & PERF_SAMPLE_STACK_USER) {
		event->attr.sample_regs_user = COPY_REGISTERS;
		event->attr.sample_stack_user = 8 * COPY_FRAME * MAX_COPIED;
	}
	if (event->attr.sample_type & PERF_SAMPLE_BRANCH_STACK && !event->attr.branch_sample_type)
		event->attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
	if (event->attr.sample_type & PERF_SAMPLE_READ)
		event->attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID |
					  PERF_FORMAT_TOTAL_TIME_ENABLED |
					  PERF_FORMAT_TOTAL_TIME_RUNNING;
}

static const struct sp_event *event_of(const struct recording *recording, const char *word)
{
	uint64_t index = number(recording, word);
	if (index >= recording->event_count)
		die(recording, "no event of that number");
	return &recording->events[index];
}

static void write_bytes(struct recording *recording, void *bytes, size_t size)
{
	struct iovec span = {bytes, size};
	check(recording, writer_write(recording->writer, &span, 1));
}

static void write_record(struct recording *recording, struct sp_record *record,
			 const struct sp_event *event)
{
	struct record_buffer buffer = {0};
	if (!record->id.id)
		record->id.id = *event->ids;
	check(recording, record_encode(&buffer, record, &event->attr));
	write_bytes(recording, buffer.items, buffer.count);
	vec_deinit(&buffer);
}

/* Bit by bit, as the words say. */
static void read_stacks(struct recording *recording, char **words)
{
	static const char *const ends[] = {"unknown", "complete", "truncated", "no_unwind_info",
					   "bad_memory", "depth_limit", "skipped", "switched",
					   NULL};
	static const char *const mends[] = {"repaired", "shortened", "guessed", NULL};
	unsigned int end = 0, misc = 0;
	while (ends[end] && words[1] && strcmp(ends[end], words[1]) != 0)
		end++;
	if (!words[1] || !ends[end])
		die(recording, "no such end of stacks");
	for (char **word = words + 2; *word; word++)
		for (unsigned int i = 0; mends[i]; i++)
			if (!strcmp(mends[i], *word))
				misc |= (unsigned int)SP_MISC_REPAIRED << i;
	recording->stack_misc = (uint16_t)(misc | end << SP_MISC_END_SHIFT);
}

/* Sets sample fields that the samples' own lines lack. */
static void read_with(struct recording *recording, char **words)
{
	recording->with = (struct sp_sample){.branches = recording->branches};
	recording->woken = recording->flags = 0;
	struct sp_counters *counters = &recording->with.counters;
	counters->values = recording->counters;
	for (char **word = words + 1; *word; word += 2) {
		if (!strcmp(*word, "count")) {
			if (counters->count == recording->event_count)
				die(recording, "too many counters");
			recording->counters[counters->count] = (struct sp_counter){
				number(recording, word[1]), recording->ids[counters->count], 0};
			counters->count++;
			continue;
		}
		if (!strcmp(*word, "times")) {
			counters->time_enabled_ns = number(recording, word[1]);
			counters->time_running_ns = number(recording, word[2]);
			word++;
			continue;
		}
		if (!strcmp(*word, "woken") || !strcmp(*word, "flags")) {
			*(**word == 'w' ? &recording->woken : &recording->flags) =
				(uint32_t)number(recording, word[1]);
			continue;
		}
		if (strcmp(*word, "branch") != 0) {
			size_t offset = field_of(recording, *word)->offset;
			*(uint64_t *)((char *)&recording->with + offset) = number(recording, word[1]);
			continue;
		}
		if (recording->with.branch_count == MAX_BRANCHES)
			die(recording, "too many branches");
		struct sp_branch *branch = &recording->branches[recording->with.branch_count++];
		branch->from = number(recording, word[1]);
		branch->to = number(recording, word[2]);
		branch->flags = number(recording, word[3]);
		word += 2;
	}
}

static void write_cgroup(struct recording *recording, char **words)
{
	struct sp_record record = {.type = PERF_RECORD_CGROUP};
	record.cgroup.id = number(recording, words[1]);
	record.cgroup.path = words[2] ? unescape(words[2]) : "";
	write_record(recording, &record, &recording->events[0]);
}

static void write_namespaces(struct recording *recording, char **words)
{
	struct sp_namespace all[CGROUP_NAMESPACE + 1];
	struct sp_record record = {.type = PERF_RECORD_NAMESPACES};
	record.namespaces.pid = record.id.pid = (uint32_t)number(recording, words[1]);
	record.namespaces.tid = record.id.tid = (uint32_t)number(recording, words[2]);
	record.id.time_ns = number(recording, words[3]);
	for (size_t i = 0; i <= CGROUP_NAMESPACE; i++)
		all[i] = (struct sp_namespace){number(recording, words[4]),
					       number(recording, words[5])};
	record.namespaces.namespaces = all;
	record.namespaces.count = CGROUP_NAMESPACE + 1;
	write_record(recording, &record, &recording->events[0]);
}

/* Replaces the chain by registers and a stack with frames that return to the chain's addresses. */
static void copy_stack(const struct recording *recording, struct sp_sample *sample)
{
	static uint64_t stack[COPY_FRAME * MAX_COPIED], registers[3];
	size_t frames = 0;
	for (size_t i = 0; i < sample->ip_count; i++) {
		if (sample->ips[i] >= PERF_CONTEXT_MAX)
			continue;
		if (frames == MAX_COPIED)
			die(recording, "too many frames");
		if (frames)
			stack[COPY_FRAME * frames - 1] = sample->ips[i];
		frames++;
	}
	uint64_t size = 8 * COPY_FRAME * frames, sp = COPY_TOP - size;
	for (size_t i = 1; i <= frames; i++)
		stack[COPY_FRAME * i - 2] = i < frames ? sp + 8 * (COPY_FRAME * (i + 1) - 2) : 0;
	if (frames)
		stack[COPY_FRAME * frames - 1] = 0;
	registers[0] = sp + 8 * (COPY_FRAME - 2);
	registers[1] = sp;
	registers[2] = sample->ip;
	sample->user_registers =
		(struct sp_registers){PERF_SAMPLE_REGS_ABI_64, COPY_REGISTERS, registers, 3};
	sample->stack = (struct sp_bytes){(const uint8_t *)stack, size};
	sample->stack_dyn_size = size;
}

static void write_sample(struct recording *recording, char **words)
{
	static uint64_t ips[2 * MAX_WORDS];
	const struct sp_event *event = event_of(recording, words[1]);
	uint64_t numbers[6], level = 0;
	for (size_t i = 0; i < 6; i++)
		numbers[i] = number(recording, words[2 + i]);
	struct sp_record record = {
		.type = PERF_RECORD_SAMPLE,
		.misc = numbers[5] & KERNEL ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER,
		.sample = recording->with,
	};
	struct sp_sample *sample = &record.sample;
	sample->pid = (uint32_t)numbers[0];
	sample->tid = (uint32_t)numbers[1];
	sample->cpu = (uint32_t)numbers[2];
	sample->time_ns = numbers[3];
	sample->period = numbers[4];
	sample->ip = numbers[5];
	sample->id = *event->ids;
	sample->ips = ips;
	record.misc |= recording->stack_misc;
	for (char **word = &words[8]; *word; word++) {
		if (!strcmp(*word, "...")) {
			ips[record.sample.ip_count++] = level;
			ips[record.sample.ip_count++] = level;
			continue;
		}
		if (**word == '@') {
			ips[record.sample.ip_count++] = (uint64_t)-640; /* _USER_DEFERRED */
			ips[record.sample.ip_count++] = number(recording, *word + 1);
			continue;
		}
		uint64_t ip = number(recording, *word);
		uint64_t mark = ip & KERNEL ? PERF_CONTEXT_KERNEL : PERF_CONTEXT_USER;
		if (mark != level)
			ips[record.sample.ip_count++] = level = mark;
		ips[record.sample.ip_count++] = ip;
	}
	if (event->attr.sample_type & PERF_SAMPLE_STACK_USER)
		copy_stack(recording, sample);
	uint8_t raw[SCHED_WAKING_SIZE];
	wakeup_raw(recording->woken, (uint8_t)recording->flags, raw);
	if (event->attr.sample_type & PERF_SAMPLE_RAW)
		sample->raw = (struct sp_bytes){raw, sizeof(raw)};
	if (!recording->end.first_sample_ns)
		recording->end.first_sample_ns = numbers[3];
	recording->end.last_sample_ns = numbers[3];
	write_record(recording, &record, event);
}

static void write_deferred(struct recording *recording, char **words)
{
	static uint64_t ips[MAX_WORDS];
	struct sp_record record = {.type = RECORD_CALLCHAIN_DEFERRED,
				   .misc = PERF_RECORD_MISC_USER};
	record.id.pid = (uint32_t)number(recording, words[1]);
	record.id.tid = (uint32_t)number(recording, words[2]);
	record.id.time_ns = number(recording, words[3]);
	record.deferred.cookie = number(recording, words[4]);
	record.deferred.ips = ips;
	ips[record.deferred.count++] = (uint64_t)PERF_CONTEXT_USER;
	for (char **word = words + 5; *word; word++)
		ips[record.deferred.count++] = number(recording, *word);
	write_record(recording, &record, &recording->events[0]);
}

static void write_task(struct recording *recording, char **words)
{
	struct sp_record record = {0};
	if (!strcmp(words[0], "fork")) {
		record.type = PERF_RECORD_FORK;
		record.task.pid = (uint32_t)number(recording, words[1]);
		record.task.ppid = record.task.ptid = (uint32_t)number(recording, words[2]);
		record.task.tid = (uint32_t)number(recording, words[3]);
		record.task.time_ns = record.id.time_ns = number(recording, words[4]);
	} else {
		record.type = PERF_RECORD_COMM;
		record.misc = strcmp(words[0], "exec") ? 0 : PERF_RECORD_MISC_COMM_EXEC;
		record.comm.pid = record.id.pid = (uint32_t)number(recording, words[1]);
		record.comm.tid = record.id.tid = (uint32_t)number(recording, words[2]);
		record.comm.comm = words[3] ? unescape(words[3]) : "";
	}
	write_record(recording, &record, &recording->events[0]);
}

/* Writes an EXIT or SWITCH record. */
static void write_switch(struct recording *recording, char **words)
{
	bool ends = !strcmp(words[0], "exit");
	struct sp_record record = {.type = ends ? PERF_RECORD_EXIT : PERF_RECORD_SWITCH};
	record.id.pid = record.task.pid = record.task.ppid = (uint32_t)number(recording, words[1]);
	record.id.tid = record.task.tid = record.task.ptid = (uint32_t)number(recording, words[2]);
	record.id.cpu = (uint32_t)number(recording, words[3]);
	record.id.time_ns = number(recording, words[4]);
	if (ends)
		record.task.time_ns = record.id.time_ns;
	else if (strcmp(words[5], "in") != 0)
		record.misc = PERF_RECORD_MISC_SWITCH_OUT;
	if (!ends && !strcmp(words[5], "preempt"))
		record.misc |= PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
	write_record(recording, &record, &recording->events[0]);
}

static void write_mmap(struct recording *recording, char **words)
{
	bool kernel = words[1] && !strcmp(words[1], "-1");
	struct sp_record record = {
		.type = PERF_RECORD_MMAP,
		.misc = kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER,
	};
	record.mmap.pid = kernel ? UINT32_MAX : (uint32_t)number(recording, words[1]);
	record.mmap.tid = kernel ? 0 : record.mmap.pid;
	record.mmap.start = number(recording, words[2]);
	record.mmap.size = number(recording, words[3]);
	record.mmap.file_offset = number(recording, words[4]);
	record.mmap.filename = words[5] ? unescape(words[5]) : "";
	const char *id = words[5] ? words[6] : NULL;
	for (size_t i = 0; id && i < sizeof(record.mmap.build_id); i++) {
		const char byte[] = {id[0], id[1], '\0'};
		record.type = PERF_RECORD_MMAP2;
		record.mmap.build_id_size = (uint8_t)(i + 1);
		record.mmap.build_id[i] = (uint8_t)strtoul(byte, NULL, 16);
		id = *id && id[1] ? id + 2 : NULL;
	}
	write_record(recording, &record, &recording->events[0]);
}

static void write_loss(struct recording *recording, char **words)
{
	const struct sp_event *event = event_of(recording, words[1]);
	struct sp_record record = {.type = PERF_RECORD_LOST_SAMPLES};
	if (!strcmp(words[0], "lost") || !strcmp(words[0], "full")) {
		record.type = words[0][0] == 'l' ? PERF_RECORD_LOST_SAMPLES : PERF_RECORD_LOST;
		record.lost.id = *event->ids;
		record.lost.lost = number(recording, words[2]);
		record.id.time_ns = words[3] ? number(recording, words[3]) : 0;
		record.id.cpu = words[3] && words[4] ? (uint32_t)number(recording, words[4]) : 0;
	} else {
		record.type = words[0][0] == 't' ? PERF_RECORD_THROTTLE : PERF_RECORD_UNTHROTTLE;
		record.throttle.time_ns = record.id.time_ns = number(recording, words[2]);
		record.throttle.id = record.throttle.stream_id = *event->ids;
	}
	write_record(recording, &record, event);
}

static void write_note(struct recording *recording, char **words)
{
	struct record_buffer buffer = {0};
	struct sp_note note = {.time_ns = number(recording, words[1])};
	char text[4096] = "";
	size_t i = 2;
	if (words[i] && words[i][0] == '#') {
		char *rest = words[i++] + 1;
		note.kind = (uint32_t)strtoul(rest, &rest, 0);
		while (*rest == ':' && note.value_count < SP_NOTE_VALUES)
			note.values[note.value_count++] = strtoull(rest + 1, &rest, 0);
	}
	for (size_t first = i; words[i]; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i > first ? " " : "",
			 unescape(words[i]));
	note.text = text;
	note.size = strlen(text);
	check(recording, record_encode_note(&buffer, &note));
	write_bytes(recording, buffer.items, buffer.count);
	vec_deinit(&buffer);
}

static void write_command(struct recording *recording, char **words)
{
	struct record_buffer list = {0}, buffer = {0};
	struct command_line line = {.pid = (uint32_t)number(recording, words[1]),
				    .time_ns = number(recording, words[2])};
	for (char **word = words + 3; *word; word++, line.count++)
		if (!command_line_put(&list, unescape(*word + (**word == '*')), **word == '*'))
			die(recording, "out of memory");
	check(recording, record_encode_command_line(&buffer, &line, &list));
	write_bytes(recording, buffer.items, buffer.count);
	vec_deinit(&buffer);
	vec_deinit(&list);
}

static void write_raw(struct recording *recording, const char *hex)
{
	uint8_t bytes[4096];
	size_t size = 0;
	unsigned int byte;
	for (; hex && size < sizeof(bytes) && sscanf(hex, "%2x", &byte) == 1; hex += 2)
		bytes[size++] = (uint8_t)byte;
	write_bytes(recording, bytes, size);
}

static void keep_cmdline(struct recording *recording, char **words)
{
	for (size_t i = 0; words[i + 1]; i++)
		recording->words_kept[i] = strdup(unescape(words[i + 1]));
	recording->info.cmdline = (const char *const *)recording->words_kept;
}

static void keep_span(struct recording *recording, char **words)
{
	recording->end.first_sample_ns = number(recording, words[1]);
	recording->end.last_sample_ns = number(recording, words[2]);
}

/* Parses a line before the first record. Returns true if it is one. */
static bool read_head(struct recording *recording, char **words)
{
	const char *value = words[1] ? words[1] : "";
	if (!strcmp(words[0], "event"))
		add_event(recording, words);
	else if (!strcmp(words[0], "rename") && recording->event_count && words[1])
		recording->events[recording->event_count - 1].name = strdup(unescape(words[1]));
	else if (!strcmp(words[0], "hostname"))
		recording->info.hostname = strdup(words[1] ? unescape(words[1]) : "");
	else if (!strcmp(words[0], "osrelease"))
		recording->info.osrelease = strdup(value);
	else if (!strcmp(words[0], "arch"))
		recording->info.arch = strdup(value);
	else if (!strcmp(words[0], "cmdline"))
		keep_cmdline(recording, words);
	else if (!strcmp(words[0], "span"))
		keep_span(recording, words);
	else
		return false;
	return true;
}

static void open_writer(struct recording *recording)
{
	if (recording->writer)
		return;
	if (!recording->event_count)
		die(recording, "there is no event");
	struct record_buffer formats = {0};
	wakeup_formats(&formats);
	const struct writer_feature traces = {TRACE_FEATURE, {formats.items, formats.count}};
	for (size_t i = 0; i < recording->event_count; i++)
		recording->info.feature_count |= recording->events[i].attr.type == PERF_TYPE_TRACEPOINT;
	recording->info.features = &traces;
	check(recording, writer_open(recording->path, recording->events,
				     recording->event_count, &recording->info, &recording->writer));
	vec_deinit(&formats);
}

static void read_record(struct recording *recording, char **words)
{
	if (!strcmp(words[0], "sample"))
		write_sample(recording, words);
	else if (!strcmp(words[0], "comm") || !strcmp(words[0], "exec") ||
		 !strcmp(words[0], "fork"))
		write_task(recording, words);
	else if (!strcmp(words[0], "exit") || !strcmp(words[0], "switch"))
		write_switch(recording, words);
	else if (!strcmp(words[0], "stacks"))
		read_stacks(recording, words);
	else if (!strcmp(words[0], "with"))
		read_with(recording, words);
	else if (!strcmp(words[0], "deferred"))
		write_deferred(recording, words);
	else if (!strcmp(words[0], "cgroup"))
		write_cgroup(recording, words);
	else if (!strcmp(words[0], "namespaces"))
		write_namespaces(recording, words);
	else if (!strcmp(words[0], "mmap"))
		write_mmap(recording, words);
	else if (!strcmp(words[0], "lost") || !strcmp(words[0], "full") ||
		 !strcmp(words[0], "throttle") || !strcmp(words[0], "unthrottle"))
		write_loss(recording, words);
	else if (!strcmp(words[0], "note"))
		write_note(recording, words);
	else if (!strcmp(words[0], "command"))
		write_command(recording, words);
	else if (!strcmp(words[0], "bytes"))
		write_raw(recording, words[1]);
	else
		die(recording, "no such line");
}

int main(int argc, char **argv)
{
	static struct recording recording;
	static char line[1 << 18];
	if (argc != 2)
		return 2;
	recording.path = argv[1];
	check(&recording, sp_ctx_new(&recording.ctx));
	while (fgets(line, sizeof(line), stdin)) {
		char *words[MAX_WORDS + 1], *rest = line, *word;
		size_t count = 0;
		recording.line++;
		while (count < MAX_WORDS && (word = strsep(&rest, " \t\n")))
			if (*word)
				words[count++] = word;
		words[count] = NULL;
		if (!count || *words[0] == '#')
			continue;
		if (!recording.writer && read_head(&recording, words))
			continue;
		open_writer(&recording);
		read_record(&recording, words);
	}
	open_writer(&recording);
	check(&recording, writer_close(recording.writer, &recording.end));
	sp_ctx_free(recording.ctx);
	return 0;
}
