/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The recorded tasks over a made-up /proc, with metadata rings of plain memory. */
#ifndef UNIT_MADE_TASKS_H
#define UNIT_MADE_TASKS_H

#include <unistd.h>
#include "capture/tasks/tasks.h"
#include "rings.h"
#include "root.h"

enum { MADE_CPUS = 2, MADE_ID = 4711 };

struct made_tasks {
	struct root root;
	struct event_kernel kernel; /* the test sets it */
	struct event_planned sample;
	struct event_plan plan;
	struct capture_config config;
	struct rewrite rewrite;
	struct notes notes;
	struct record_buffer synthesised, encoded;
	struct memory_ring memories[MADE_CPUS];
	struct ring rings[MADE_CPUS];
	struct recorded_tasks tasks;
};

static const struct perf_event_attr made_attr = {
	.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY, .size = sizeof(made_attr),
	.sample_type = RECORD_FIELDS_NEEDED, .sample_id_all = 1, .exclude_kernel = 1, .exclude_user = 1,
};

/* The caller may change the configuration before tasks_connect(). Times are those of the records. */
static inline void made_tasks_init(struct made_tasks *made, enum capture_target target)
{
	*made = (struct made_tasks){0};
	root_init(&made->root);
	made->sample = (struct event_planned){.name = "dummy", .attr = made_attr};
	made->plan = (struct event_plan){
		.samples = &made->sample, .sample_count = 1,
		.sideband = {.name = "dummy", .attr = made_attr},
		.cpu_wide = true, .clock_id = EVENT_CLOCK_KERNEL,
	};
	made->config = (struct capture_config){.target = target, .inherit = true, .plan = &made->plan};
	for (uint32_t i = 0; i < MADE_CPUS; i++) {
		made->rings[i] = memory_ring_init(&made->memories[i], 4096, 0);
		uint32_t *cpu = vec_push(&made->config.cpus);
		ck_assert_ptr_nonnull(cpu);
		*cpu = i;
	}
	const struct tasks_parts parts = {
		.ctx = made->root.ctx, .kernel = &made->kernel, .config = &made->config,
		.rewrite = &made->rewrite, .notes = &made->notes, .synthesised = &made->synthesised,
	};
	tasks_init(&made->tasks, &parts);
	ck_assert(record_fields_make(made_attr.sample_type, &made->tasks.tracker.fields));
}

static inline void made_tasks_deinit(struct made_tasks *made)
{
	tasks_deinit(&made->tasks);
	for (size_t i = 0; i < MADE_CPUS; i++)
		memory_ring_deinit(&made->memories[i]);
	vec_deinit(&made->config.cpus);
	vec_deinit(&made->synthesised);
	vec_deinit(&made->encoded);
	notes_deinit(&made->notes);
	rewrite_deinit(&made->rewrite);
	root_deinit(&made->root);
}

#define MADE_TASKS CLEANUP(made_tasks_deinit) struct made_tasks

/* A task in /proc. */
struct made_stat {
	uint32_t pid, tid, parent; /* tid 0: pid */
	char state;                /* 0: 'S' */
	uint64_t start_ticks, cpu_ticks;
	int32_t last_cpu;
};

static inline void made_tasks_stat(struct made_tasks *made, struct made_stat stat)
{
	char path[64], text[256];
	uint32_t tid = stat.tid ?: stat.pid;
	snprintf(text, sizeof(text),
		 "%u (task%u) %c %u 1 1 0 -1 0 1 2 3 4 %llu 0 7 8 20 0 1 0 %llu 0 0 0 1 2 3 4 5 0 0 0 0 1 0 "
		 "0 17 %d\n", tid, tid, stat.state ?: 'S', stat.parent, (unsigned long long)stat.cpu_ticks,
		 (unsigned long long)stat.start_ticks, (int)stat.last_cpu);
	snprintf(path, sizeof(path), "/proc/%u/task/%u/stat", stat.pid, tid);
	root_put(&made->root, path, text);
	if (tid != stat.pid)
		return;
	snprintf(path, sizeof(path), "/proc/%u/stat", stat.pid);
	root_put(&made->root, path, text);
}

static inline void made_tasks_remove(struct made_tasks *made, uint32_t pid)
{
	char path[128];
	snprintf(path, sizeof(path), "%s/proc/%u", made->root.path, pid);
	nftw(path, root_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* A record in a CPU's ring. */
static inline void made_tasks_put(struct made_tasks *made, size_t cpu, uint64_t time_ns,
				  struct sp_record record)
{
	record.id.time_ns = time_ns;
	if (record.type == PERF_RECORD_FORK || record.type == PERF_RECORD_EXIT)
		record.task.time_ns = time_ns;
	made->encoded.count = 0;
	ok_or_fail(record_encode(&made->encoded, &record, &made_attr));
	ck_assert(memory_ring_put(&made->memories[cpu], made->encoded.items, made->encoded.count));
}

static inline struct sp_record made_fork(uint32_t parent_pid, uint32_t parent_tid, uint32_t pid,
					 uint32_t tid)
{
	return (struct sp_record){.type = PERF_RECORD_FORK,
				  .task = {.pid = pid, .ppid = parent_pid, .tid = tid,
					   .ptid = parent_tid}};
}

static inline struct sp_record made_exit(uint32_t pid, uint32_t tid)
{
	return (struct sp_record){.type = PERF_RECORD_EXIT,
				  .task = {.pid = pid, .ppid = 1, .tid = tid, .ptid = 1}};
}

static inline struct sp_record made_comm(uint32_t pid, bool exec)
{
	return (struct sp_record){.type = PERF_RECORD_COMM,
				  .misc = exec ? PERF_RECORD_MISC_COMM_EXEC : 0,
				  .comm = {.pid = pid, .tid = pid, .comm = "program"}};
}

static inline struct sp_record made_lost(uint64_t count)
{
	return (struct sp_record){.type = PERF_RECORD_LOST, .lost = {.lost = count}};
}

static inline void made_tasks_drain(struct made_tasks *made)
{
	ok_or_fail(tasks_drain(&made->tasks, made->rings));
}

/* Number of synthesised COMM records of a task; each must have that time. */
static inline size_t made_tasks_described(const struct made_tasks *made, uint32_t tid, uint64_t time_ns)
{
	size_t count = 0;
	struct perf_event_header header;
	for (size_t at = 0; at < made->synthesised.count; at += header.size) {
		const uint8_t *record = made->synthesised.items + at;
		uint32_t ids[2];
		uint64_t time;
		memcpy(&header, record, sizeof(header));
		memcpy(ids, record + sizeof(header), sizeof(ids));
		if (header.type != PERF_RECORD_COMM || ids[1] != tid)
			continue;
		memcpy(&time, record + header.size - made->tasks.tracker.fields.trailer_time, sizeof(time));
		ck_assert_uint_eq(time, time_ns);
		count++;
	}
	return count;
}

/* Whether there is exactly one note of a kind; *text_ret, if not NULL, is its line. */
static inline bool made_tasks_noted(const struct made_tasks *made, uint32_t kind, const char **text_ret)
{
	size_t count = 0;
	for (size_t i = 0; i < made->notes.count; i++) {
		if (made->notes.items[i].note.kind != kind)
			continue;
		count++;
		if (text_ret)
			*text_ret = made->notes.items[i].line;
	}
	return count == 1;
}

#endif
