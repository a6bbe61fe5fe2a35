/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "record/task_change.h"

#include "base/bytes.h"
#include "record/types.h"

/* Layout of the records, as perf_event_open(2) has them. COMM begins with pid and tid. */
enum {
	PID = 8,
	COMM_TID = 12,
	COMM_TEXT = 16,
	PARENT = 12,
	TID = 16,
	PARENT_TID = 20,
	TIME = 24,
	TASK_END = 32,
};

bool task_change_is_life(uint32_t type)
{
	return type == PERF_RECORD_FORK || type == PERF_RECORD_EXIT;
}

bool task_change_is_in(uint32_t type)
{
	return type == PERF_RECORD_COMM || task_change_is_life(type);
}

/* COMM has no parent. */
static bool make(uint32_t type, uint16_t misc, const struct sp_task *task, struct task_change *ret)
{
	bool forks = type == PERF_RECORD_FORK, is_comm = type == PERF_RECORD_COMM;
	*ret = (struct task_change){
		.pid = task->pid, .tid = task->tid,
		.parent_pid = task->ppid, .parent_tid = task->ptid, .time_ns = task->time_ns,
		.kind = forks ? TASK_FORKED : !is_comm ? TASK_ENDED
			: misc & PERF_RECORD_MISC_COMM_EXEC ? TASK_EXECED : TASK_RENAMED,
		.is_process = forks ? task->pid != task->ppid : task->pid == task->tid,
		.is_synthesised = forks && misc & PERF_RECORD_MISC_FORK_EXEC,
	};
	return true;
}

bool task_change_of(const struct sp_record *record, struct task_change *ret)
{
	struct sp_task task = {.pid = record->comm.pid, .tid = record->comm.tid};
	bool is_life = task_change_is_life(record->type);
	ret->kind = TASK_SAME;
	if (!is_life && record->type != PERF_RECORD_COMM)
		return false;
	if (is_life)
		task = record->task;
	if (!is_life || record->id.present & PERF_SAMPLE_TIME)
		task.time_ns = record->id.time_ns;
	return make(record->type, record->misc, &task, ret);
}

bool task_change_decode(const uint8_t *bytes, size_t size, struct task_change *ret)
{
	struct perf_event_header header;
	struct sp_task task = {0};
	ret->kind = TASK_SAME;
	if (size < COMM_TEXT)
		return false;
	memcpy(&header, bytes, sizeof(header));
	bool is_life = task_change_is_life(header.type) && size >= TASK_END;
	if (!is_life && header.type != PERF_RECORD_COMM)
		return false;
	task.pid = bytes_u32(bytes + PID);
	task.tid = bytes_u32(bytes + (is_life ? TID : COMM_TID));
	if (is_life) {
		task.ppid = bytes_u32(bytes + PARENT);
		task.ptid = bytes_u32(bytes + PARENT_TID);
		task.time_ns = bytes_u64(bytes + TIME);
	}
	return make(header.type, header.misc, &task, ret);
}
