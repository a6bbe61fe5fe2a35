/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * After records of the side-band were lost: which tasks there are and what they
 * have mapped is looked up in /proc, and put into the file as of now.
 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "capture/recorder.h"

/* More generations than that between a task and the one it was followed for: no. */
#define DEPTH_MAX 64

struct sp_error *capture_forget_ended(struct sp_capture *capture)
{
	struct membership *membership = &capture->tasks.membership;
	VEC(uint32_t) ended = {0};
	struct sp_error *error = NULL;
	for (size_t i = 0; i < membership->live.capacity && !error; i++) {
		const struct u64map_entry *entry = &membership->live.entries[i];
		if (!entry->used || !syscall(SYS_tgkill, entry->value, (int)entry->key, 0) ||
		    errno != ESRCH)
			continue;
		uint32_t *slot = vec_push(&ended);
		if (slot)
			*slot = (uint32_t)entry->key;
		else
			error = error_no_memory();
	}
	for (size_t i = 0; i < ended.count; i++)
		membership_exit(membership, ended.items[i]);
	vec_deinit(&ended);
	return error;
}

/* The parent of a process that was made meanwhile; 0 of others, and if it is gone. */
static uint32_t parent_of_new(const struct sp_capture *capture, uint32_t pid)
{
	struct task_stat stat;
	struct sp_error *error = tasks_stat(capture->ctx, pid, pid, &stat);
	if (!error)
		return stat.start_ticks >= capture->tasks.begin_ticks ? stat.ppid : 0;
	sp_error_free(error);
	return 0;
}

/* Children that were there before are not followed, as they are not where nothing is lost. */
static bool descends(const struct sp_capture *capture, uint32_t pid, uint64_t now_ns)
{
	for (int depth = 0; depth < DEPTH_MAX && pid > 1; depth++) {
		if (membership_has(&capture->tasks.membership, pid, pid, now_ns))
			return true;
		pid = parent_of_new(capture, pid);
	}
	return false;
}

/* Follows all threads of a process, from a moment on. */
static struct sp_error *follow_process(struct sp_capture *capture, uint32_t pid, uint64_t from_ns)
{
	struct task_list threads = {0};
	struct sp_error *error = tasks_list(capture->ctx, pid, &threads);
	for (size_t i = 0; i < threads.count && !error; i++) {
		bool good = membership_add(&capture->tasks.membership, pid, threads.items[i], from_ns);
		if (good && capture->tasks.tracker.spaces == &capture->tasks.spaces)
			good = membership_add(&capture->tasks.spaces, pid, threads.items[i], from_ns);
		if (!good)
			error = error_no_memory();
	}
	if (!error)
		error = synth_threads(capture->synth, pid, &threads);
	bool complete;
	if (!error)
		error = synth_mappings(capture->synth, pid, &complete);
	vec_deinit(&threads);
	if (error && sp_error_code(error) == SP_ERROR_NOT_FOUND)
		sp_error_free(take_ptr(error)); /* it has ended meanwhile */
	return error;
}

/* What was synthesised holds from a moment on, not from the beginning. */
static void set_times(struct sp_capture *capture, uint64_t time_ns)
{
	uint8_t *bytes = capture->out.synthesised.items;
	uint32_t trailer = capture->samples.filter.fields.trailer_time;
	for (size_t at = 0; at < capture->out.synthesised.count;) {
		struct perf_event_header header;
		memcpy(&header, bytes + at, sizeof(header));
		if (header.type < 64)
			memcpy(bytes + at + header.size - trailer, &time_ns, sizeof(time_ns));
		at += header.size;
	}
}

struct sp_error *capture_rescan(struct sp_capture *capture)
{
	bool again = capture->tasks.sideband_lost_seen;
	uint64_t now_ns = capture_record_time_ns(capture);
	struct task_list processes = {0};
	capture->tasks.sideband_lost_seen = capture->tasks.tracker.counts.lost;
	struct sp_error *error = capture_forget_ended(capture);
	if (!error)
		error = tasks_list_processes(capture->ctx, &processes);
	for (size_t i = 0; i < processes.count && !error; i++) {
		uint32_t pid = processes.items[i];
		if (capture->config.target == CAPTURE_EVERYONE || descends(capture, pid, now_ns))
			error = follow_process(capture, pid, capture->round_ns);
	}
	if (!error && capture->samples.unwinding)
		error = unwinding_retain(capture->samples.unwinding, processes.items,
					 processes.count, now_ns);
	if (!error && capture->out.switching.tracks)
		error = roster_retain(&capture->out.switching.roster, processes.items, processes.count,
				      capture->round_ns);
	vec_deinit(&processes);
	set_times(capture, capture->round_ns);
	if (error || again || !capture->tasks.sideband_lost_seen)
		return error;
	return notes_add(&capture->out.notes, NOTE_REREAD, NULL);
}
