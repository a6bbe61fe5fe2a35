/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Real events of this process: opened, directed to their holders' rings, counted. */
#include "event/set.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/clock.h"
#include "proc/sysfs.h"
#include "ring/ring.h"
#include "tap.h"

#define CPU_LIMIT 64
#define RING_SIZE ((size_t)64 << 10)

struct recording {
	struct event_plan *plan;
	struct event_set *set;
	struct cpu_list cpus;
	struct ring rings[CPU_LIMIT][EVENT_ROLE_COUNT];
	struct event_place places[CPU_LIMIT];
};

DEFINE_CLEANUP(struct sp_ctx *, sp_ctx_free)

static void recording_init(struct recording *recording, const char *events, enum event_start start,
			   enum event_scope scope)
{
	CLEANUP(cleanup_sp_ctx_free) struct sp_ctx *ctx = NULL;
	CLEANUP(event_specs_deinit) struct event_specs specs = {0};
	struct rights rights;
	*recording = (struct recording){0};
	tap_need(sp_ctx_new(&ctx));
	tap_need(rights_read(ctx, &rights));
	tap_need(sysfs_cpus_online(ctx, &recording->cpus));
	if (recording->cpus.count > CPU_LIMIT)
		recording->cpus.count = CPU_LIMIT;
	tap_need(event_specs_parse(&specs, ctx, events));
	struct event_request request = {
		.specs = &specs,
		.scope = scope,
		.start = start,
		.freq_hz = 2000,
		.inherit = true,
		.clock_id = CLOCK_MONOTONIC,
	};
	tap_need(event_plan_make(event_kernel_real(), &rights, &request, &recording->plan));
	tap_need(event_set_new(event_kernel_real(), recording->plan, recording->cpus.items,
			       recording->cpus.count, &recording->set));
	for (size_t i = 0; i < recording->cpus.count; i++)
		for (enum event_role role = 0; role < EVENT_ROLE_COUNT; role++)
			tap_need(ring_map(&recording->rings[i][role],
					  event_set_ring_fd(recording->set, i, role), RING_SIZE));
}

static void recording_deinit(struct recording *recording)
{
	for (size_t i = 0; i < recording->cpus.count; i++)
		for (enum event_role role = 0; role < EVENT_ROLE_COUNT; role++)
			ring_deinit(&recording->rings[i][role]);
	event_set_free(recording->set);
	event_plan_free(recording->plan);
	vec_deinit(&recording->cpus);
}

#define RECORDING CLEANUP(recording_deinit) struct recording

static void open_task(struct recording *recording, enum event_role role, int32_t tid)
{
	for (size_t i = 0; i < recording->cpus.count; i++)
		recording->places[i] =
			(struct event_place){.tid = tid, .cpu_index = (uint32_t)i, .last_cpu = -1};
	tap_need(event_set_open(recording->set, role, recording->places, recording->cpus.count));
}

static uint64_t cpu_time_ns(void)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* In user mode, but for asking the time now and then. */
static void work(uint64_t ns)
{
	uint64_t end = cpu_time_ns() + ns;
	while (cpu_time_ns() < end)
		for (volatile int i = 0; i < 100000; i++)
			;
}

/* Records in the rings of a role, and those of thread `tid`. */
struct seen {
	uint32_t tid;
	size_t samples, samples_of_tid, forks, foreign_ids;
};

/* SAMPLEs begin {id, ip, pid, tid}: all events of a plan have one layout. */
static void see(struct recording *recording, enum event_role role, struct seen *seen)
{
	const struct sp_event *events;
	size_t count;
	tap_need(event_set_events(recording->set, &events, &count));
	*seen = (struct seen){.tid = seen->tid};
	for (size_t i = 0; i < recording->cpus.count; i++) {
		struct ring *ring = &recording->rings[i][role];
		uint64_t head = ring_head(ring), at = ring->tail;
		struct perf_event_header header;
		for (; at < head && ring_record(ring, at, head, &header); at += header.size) {
			seen->forks += header.type == PERF_RECORD_FORK;
			if (header.type != PERF_RECORD_SAMPLE)
				continue;
			bool ours = false;
			for (size_t j = 0; j < events[0].id_count; j++)
				ours |= events[0].ids[j] == ring_u64(ring, at + 8);
			seen->samples++;
			seen->foreign_ids += !ours;
			seen->samples_of_tid +=
				(uint32_t)(ring_u64(ring, at + 24) >> 32) == seen->tid;
		}
		ring_release(ring, at);
	}
}

/* 300 ms at 2,000 Hz are 600 samples; the machine may be busy with others. */
static void samples_reach_the_ring(void)
{
	RECORDING recording;
	recording_init(&recording, "cpu-clock:u", EVENT_START_NOW, EVENT_SCOPE_TASKS);
	uint64_t before = cpu_time_ns(), began_ns = clock_ns(CLOCK_MONOTONIC);
	open_task(&recording, EVENT_ROLE_SAMPLES, (int32_t)getpid());
	work(300000000);
	struct event_total total;
	tap_need(event_set_read(recording.set, 0, &total));
	uint64_t used = cpu_time_ns() - before, elapsed = clock_ns(CLOCK_MONOTONIC) - began_ns;
	struct seen seen, sideband;
	see(&recording, EVENT_ROLE_SAMPLES, &seen);
	see(&recording, EVENT_ROLE_SIDEBAND, &sideband);
	tap_result(seen.samples > 100 && seen.samples < 1000, "samples reach the holder's ring (%zu)",
		   seen.samples);
	tap_result(!seen.foreign_ids, "samples have the ids of the set");
	tap_result(!sideband.samples, "no samples reach the side-band's ring");
	/* The process does not see what was taken from its virtual CPU; the event does. */
	tap_result(total.value > used / 2 && total.value < elapsed * 101 / 100,
		   "the count is the CPU time (%llu of %llu ns)", (unsigned long long)total.value,
		   (unsigned long long)used);
	tap_result(total.lost == 0, "nothing is lost");
}

/* The kernel gives the whole group, whichever member is read. */
static void members_of_groups_are_read(void)
{
	RECORDING recording;
	recording_init(&recording, "{cpu-clock:u,task-clock:u,page-faults:u}:S", EVENT_START_NOW,
		       EVENT_SCOPE_TASKS);
	open_task(&recording, EVENT_ROLE_SAMPLES, (int32_t)getpid());
	work(50000000);
	struct event_total leader, member, last;
	tap_need(event_set_read(recording.set, 0, &leader));
	tap_need(event_set_read(recording.set, 1, &member));
	tap_need(event_set_read(recording.set, 2, &last));
	tap_result(member.value > leader.value / 2 && member.value < leader.value * 2 &&
		   leader.value > 1000000 && last.value < 100000,
		   "members of groups have counts of their own (%llu, %llu, %llu)",
		   (unsigned long long)leader.value, (unsigned long long)member.value,
		   (unsigned long long)last.value);
}

static void *work_in_thread(void *tid)
{
	*(uint32_t *)tid = (uint32_t)syscall(SYS_gettid);
	work(50000000);
	return NULL;
}

static void threads_are_followed(void)
{
	RECORDING recording;
	recording_init(&recording, "cpu-clock:u", EVENT_START_NOW, EVENT_SCOPE_TASKS);
	open_task(&recording, EVENT_ROLE_SIDEBAND, (int32_t)getpid());
	open_task(&recording, EVENT_ROLE_SAMPLES, (int32_t)getpid());
	uint32_t tid = 0;
	pthread_t thread;
	struct seen seen = {0};
	see(&recording, EVENT_ROLE_SAMPLES, &seen);
	pthread_create(&thread, NULL, work_in_thread, &tid);
	pthread_join(thread, NULL);
	seen.tid = tid;
	see(&recording, EVENT_ROLE_SAMPLES, &seen);
	tap_result(seen.samples_of_tid > 10, "a new thread is sampled (%zu of %zu)",
		   seen.samples_of_tid, seen.samples);
	tap_result(!seen.foreign_ids, "its samples have the ids of the set");
	see(&recording, EVENT_ROLE_SIDEBAND, &seen);
	tap_result(seen.forks == 1, "the side-band tells of it (%zu)", seen.forks);
}

static void nothing_before_the_start(void)
{
	RECORDING recording;
	recording_init(&recording, "cpu-clock:u", EVENT_START_LATER, EVENT_SCOPE_TASKS);
	open_task(&recording, EVENT_ROLE_SAMPLES, (int32_t)getpid());
	struct seen seen = {0};
	work(20000000);
	see(&recording, EVENT_ROLE_SAMPLES, &seen);
	tap_result(!seen.samples, "events that start later are silent");
	tap_need(event_set_switch_event(recording.set, 0, true));
	work(50000000);
	see(&recording, EVENT_ROLE_SAMPLES, &seen);
	tap_result(seen.samples > 10, "until they are enabled (%zu)", seen.samples);
	tap_need(event_set_disable(recording.set, EVENT_ROLE_SAMPLES));
	see(&recording, EVENT_ROLE_SAMPLES, &seen);
	work(20000000);
	see(&recording, EVENT_ROLE_SAMPLES, &seen);
	tap_result(!seen.samples, "and silent when disabled again");
}

/* Events of CPUs go into the rings of holders that are this thread's. */
static void whole_cpus(void)
{
	RECORDING recording;
	recording_init(&recording, "cpu-clock", EVENT_START_NOW, EVENT_SCOPE_CPUS_IF_ALLOWED);
	if (!recording.plan->cpu_wide) {
		tap_skip("whole CPUs", "not allowed");
		return;
	}
	open_task(&recording, EVENT_ROLE_SIDEBAND, -1);
	open_task(&recording, EVENT_ROLE_SAMPLES, -1);
	struct seen seen = {0};
	pid_t child = fork();
	if (!child) {
		work(100000000);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	see(&recording, EVENT_ROLE_SAMPLES, &seen);
	tap_result(seen.samples > 100 && !seen.foreign_ids, "whole CPUs are sampled (%zu)",
		   seen.samples);
	see(&recording, EVENT_ROLE_SIDEBAND, &seen);
	tap_result(seen.forks >= 1, "and their side-band tells of processes (%zu)", seen.forks);
}

/* Reopens the events of all CPUs; returns the number of new ids that map to a listed one. */
static size_t reopen_all(struct recording *recording, uint64_t listed)
{
	struct event_renamed_list renamed = {0};
	size_t good = 0;
	bool offline = false;
	for (size_t i = 0; i < recording->cpus.count; i++) {
		tap_need(event_set_reopen(recording->set, i, &renamed, &offline));
		good -= offline;
	}
	for (size_t i = 0; i < renamed.count; i++)
		good += renamed.items[i].id > listed && renamed.items[i].listed <= listed;
	vec_deinit(&renamed);
	return good;
}

/* Hotplug: reopened events have the same rings, are enabled or disabled as before, and continue. */
static void whole_cpus_again(void)
{
	RECORDING recording;
	recording_init(&recording, "cpu-clock,task-clock", EVENT_START_LATER,
		       EVENT_SCOPE_CPUS_IF_ALLOWED);
	if (!recording.plan->cpu_wide) {
		tap_skip("whole CPUs again", "not allowed");
		return;
	}
	open_task(&recording, EVENT_ROLE_SIDEBAND, -1);
	open_task(&recording, EVENT_ROLE_SAMPLES, -1);
	const struct sp_event *events;
	struct event_total before, after, stopped, still;
	struct seen seen = {0};
	size_t count, cpus = recording.cpus.count;
	uint64_t on_ns = 0, again_ns = 0, listed = 0;
	for (size_t i = 0; i < recording.plan->sample_count; i++)
		tap_need(event_set_switch_event(recording.set, i, true));
	work(50000000);
	tap_need(event_set_switch_event(recording.set, 1, false));
	bool known = event_set_enabled_time(recording.set, 0, &on_ns);
	tap_result(known && on_ns >= 40000000,
		   "the side-band says how long it has been on (%llu ns)", (unsigned long long)on_ns);
	see(&recording, EVENT_ROLE_SAMPLES, &seen);
	tap_need(event_set_read(recording.set, 0, &before));
	tap_need(event_set_read(recording.set, 1, &stopped));
	tap_need(event_set_events(recording.set, &events, &count));
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < events[i].id_count; j++)
			listed = events[i].ids[j] > listed ? events[i].ids[j] : listed;
	size_t good = reopen_all(&recording, listed);
	tap_result(good == 3 * cpus, "all events are opened again (%zu of %zu)", good, 3 * cpus);
	good = reopen_all(&recording, listed);
	tap_result(good == 3 * cpus, "and again, for those of the beginning (%zu)", good);
	known = event_set_enabled_time(recording.set, 0, &again_ns);
	tap_result(known && again_ns < on_ns,
		   "theirs is a time of their own (%llu ns)", (unsigned long long)again_ns);
	see(&recording, EVENT_ROLE_SAMPLES, &seen);
	work(50000000);
	see(&recording, EVENT_ROLE_SAMPLES, &seen);
	tap_result(seen.samples > 20 && seen.foreign_ids == seen.samples,
		   "their samples come to the same rings (%zu)", seen.samples);
	tap_need(event_set_read(recording.set, 0, &after));
	tap_need(event_set_read(recording.set, 1, &still));
	tap_result(after.value >= before.value + 40000000, "counts go on (%llu, %llu)",
		   (unsigned long long)before.value, (unsigned long long)after.value);
	tap_result(still.value == stopped.value && still.value, "what was off is off (%llu, %llu)",
		   (unsigned long long)stopped.value, (unsigned long long)still.value);
	tap_need(event_set_events(recording.set, &events, &count));
	good = 0;
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < events[i].id_count; j++)
			good += events[i].ids[j] <= listed;
	tap_result(good == 3 * cpus, "the file's ids stay (%zu)", good);
}

static void places_of_tasks_that_are_gone(void)
{
	RECORDING recording;
	struct event_place places[20];
	recording_init(&recording, "cpu-clock:u", EVENT_START_NOW, EVENT_SCOPE_TASKS);
	cpu_set_t before, after;
	sched_getaffinity(0, sizeof(before), &before);
	for (size_t i = 0; i < 20; i++)
		places[i] = (struct event_place){
			.tid = i % 2 ? (int32_t)getpid() : 0x3fffffff,
			.cpu_index = (uint32_t)(i % recording.cpus.count),
			.last_cpu = (int32_t)recording.cpus.items[i * 7 % recording.cpus.count],
			.status = i == 3 ? EVENT_PLACE_GONE : EVENT_PLACE_NEW,
		};
	tap_need(event_set_open(recording.set, EVENT_ROLE_SAMPLES, places, 20));
	bool right = true;
	for (size_t i = 0; i < 20; i++)
		right &=
			places[i].status == (i % 2 && i != 3 ? EVENT_PLACE_OPEN : EVENT_PLACE_GONE);
	tap_result(right, "tasks that have ended are identified");
	sched_getaffinity(0, sizeof(after), &after);
	tap_result(CPU_EQUAL(&before, &after), "the thread's affinity is restored");
	const struct sp_event *events;
	size_t count;
	tap_need(event_set_events(recording.set, &events, &count));
	tap_result(count == 2 && events[0].id_count == 9 && events[1].id_count == 0,
		   "ids of what is open alone");
}

int main(void)
{
	struct event_support support;
	int errnum = event_support_probe(event_kernel_real(), &support);
	if (errnum)
		return tap_skip_all("perf_event_open is refused", errnum);
	setvbuf(stdout, NULL, _IOLBF, 0);
	samples_reach_the_ring();
	members_of_groups_are_read();
	threads_are_followed();
	nothing_before_the_start();
	whole_cpus();
	whole_cpus_again();
	places_of_tasks_that_are_gone();
	return tap_end();
}
